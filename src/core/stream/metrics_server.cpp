// SPDX-License-Identifier: MIT
#include "core/stream/metrics.hpp"
#include "sys/event.hpp"
#include "sys/named_thread.hpp"
#include "sys/network/tcp.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

namespace iio_stream {

namespace {

constexpr std::int64_t kMostNs = 2'000'000'000; ///< for one request and its answer
constexpr std::int64_t kPauseNs = 500'000'000;  ///< after a connection that could not be accepted
constexpr std::size_t kMostClients = 32;        ///< at one time; others wait to be accepted
constexpr std::size_t kLongestRequest = 8 << 10;
constexpr const char* kMetricsPort = "9101"; // node_exporter uses 9100

std::string answer_to(const std::string& request, const std::string& metrics)
{
    const auto answer = [](const char* status, const char* type, const std::string& body,
                           bool with_body) {
        return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
               "\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\nConnection: close\r\n\r\n" + (with_body ? body : "");
    };
    const std::size_t first = request.find(' '), second = request.find_first_of(" ?\r", first + 1);
    const std::string method = request.substr(0, first);
    const std::string path =
        second == request.npos ? "" : request.substr(first + 1, second - first - 1);
    if (method != "GET" && method != "HEAD")
        return answer("405 Method Not Allowed\r\nAllow: GET, HEAD", "text/plain",
                      "only GET and HEAD\n", true);
    if (path != "/metrics")
        return answer("404 Not Found", "text/plain", "only /metrics exists\n", method == "GET");
    return answer("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", metrics,
                  method == "GET");
}

} // namespace

struct MetricsServer::Impl {
    /// A client that sends a request and receives the answer. No function waits for the client.
    class Client {
    public:
        explicit Client(sys::UniqueFd fd) : fd_(std::move(fd)) {}

        pollfd wait() const noexcept
        {
            return {fd_.get(), static_cast<short>(answer_.empty() ? POLLIN : POLLOUT), 0};
        }
        std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
        /// Reads or sends as much as possible. Returns false when the client is finished.
        bool advance(const std::string& metrics)
        {
            return answer_.empty() ? receive(metrics) : send();
        }

    private:
        bool receive(const std::string& metrics)
        {
            std::array<char, 1024> bytes{};
            const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (got <= 0)
                return got < 0 && (errno == EAGAIN || errno == EINTR);
            request_.append(bytes.data(), static_cast<std::size_t>(got));
            if (request_.find("\r\n\r\n") == request_.npos)
                return request_.size() < kLongestRequest;
            answer_ = answer_to(request_, metrics);
            return send();
        }
        bool send()
        {
            const ssize_t sent = ::send(fd_.get(), answer_.data() + sent_, answer_.size() - sent_,
                                        MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0)
                return errno == EAGAIN || errno == EINTR;
            sent_ += static_cast<std::size_t>(sent);
            if (sent_ < answer_.size())
                return true;
            ::shutdown(fd_.get(), SHUT_WR);
            return false;
        }

        sys::UniqueFd fd_;
        std::string request_, answer_;
        std::size_t sent_ = 0;
        std::int64_t deadline_ns_ = sys::after(kMostNs);
    };

    explicit Impl(const std::string& listen)
        : listener(sys::HostPort::parse("--metrics-listen ", listen, kMetricsPort),
                   "--metrics-listen :PORT takes another port")
    {}

    void run()
    {
        while (step())
            ;
    }

    bool step()
    {
        const std::int64_t now = sys::monotonic_ns();
        std::erase_if(clients, [now](const auto& client) { return client.deadline_ns() <= now; });
        std::vector<pollfd> fds{{stop.fd(), POLLIN, 0}};
        std::int64_t until = INT64_MAX;
        for (const Client& client : clients) {
            fds.push_back(client.wait());
            until = std::min(until, client.deadline_ns());
        }
        const std::size_t known = fds.size();
        if (paused_until_ns > now)
            until = std::min(until, paused_until_ns);
        else if (clients.size() < kMostClients)
            for (const int fd : listener.fds())
                fds.push_back({fd, POLLIN, 0});
        if (!sys::wait_for(fds, until))
            return true;
        if (fds[0].revents != 0)
            return false;
        std::string metrics;
        {
            const std::lock_guard lock(mutex);
            metrics = text;
        }
        for (std::size_t i = clients.size(); i-- > 0;)
            if (fds[i + 1].revents != 0 && !clients[i].advance(metrics))
                clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
        for (std::size_t i = known; i < fds.size(); ++i)
            if (fds[i].revents != 0)
                accept(fds[i].fd);
        return true;
    }

    void accept(int fd)
    {
        if (sys::UniqueFd client = sys::Listener::accept(fd); client.valid())
            clients.emplace_back(std::move(client));
        else // for example, no file descriptor is left: pause before the next attempt
            paused_until_ns = sys::after(kPauseNs);
    }

    sys::Listener listener;
    sys::Event stop;
    std::mutex mutex;
    std::string text = detail::metrics_text({});
    std::vector<Client> clients;      ///< used only by the thread
    std::int64_t paused_until_ns = 0; ///< used only by the thread
    std::thread thread;
};

MetricsServer::MetricsServer(const std::string& listen) : impl_(std::make_unique<Impl>(listen))
{
    impl_->thread = std::thread([impl = impl_.get()] {
        const sys::NamedThread name("iios-metrics");
        impl->run();
    });
}

MetricsServer::~MetricsServer()
{
    impl_->stop.set();
    impl_->thread.join();
}

std::vector<std::string> MetricsServer::addresses() const
{
    return impl_->listener.addresses();
}

void MetricsServer::publish(const std::vector<LabelledStats>& pipelines)
{
    std::string text = detail::metrics_text(pipelines);
    const std::lock_guard lock(impl_->mutex);
    impl_->text = std::move(text);
}

} // namespace iio_stream
