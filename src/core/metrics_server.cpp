// SPDX-License-Identifier: MIT
#include "core/metrics.hpp"
#include "sys/event.hpp"
#include "sys/tcp.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <sys/socket.h>
#include <thread>

namespace iio_stream {

namespace {

constexpr std::int64_t kMostNs = 2'000'000'000; ///< for one request; the next one waits meanwhile
constexpr std::size_t kLongestRequest = 8 << 10;
constexpr const char* kMetricsPort = "9101"; // node_exporter has 9100

/// Until the client has one of `events`; false after the deadline, and once `stop` is set.
bool wait_for_client(int fd, short events, const sys::Event& stop, std::int64_t deadline)
{
    std::array<pollfd, 2> fds{{{fd, events, 0}, {stop.fd(), POLLIN, 0}}};
    return sys::wait_for(fds, deadline) && fds[1].revents == 0;
}

/// Up to the empty line after its headers; "" if it is too slow, too long or none.
std::string request_at(int fd, const sys::Event& stop, std::int64_t deadline)
{
    std::string text;
    while (text.find("\r\n\r\n") == text.npos && text.size() < kLongestRequest) {
        std::array<char, 1024> bytes{};
        if (!wait_for_client(fd, POLLIN, stop, deadline))
            return "";
        const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return "";
        text.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return text.size() < kLongestRequest ? text : "";
}

void send_to(int fd, std::string_view text, const sys::Event& stop, std::int64_t deadline)
{
    while (!text.empty() && wait_for_client(fd, POLLOUT, stop, deadline)) {
        const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return;
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
}

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
        return answer("404 Not Found", "text/plain", "there is /metrics only\n", method == "GET");
    return answer("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", metrics,
                  method == "GET");
}

} // namespace

struct MetricsServer::Impl {
    explicit Impl(const std::string& listen)
        : listener(sys::Place::parse("--metrics-listen ", listen, kMetricsPort),
                   "--metrics-listen :PORT takes another port")
    {}

    void run()
    {
        std::vector<pollfd> fds{{stop.fd(), POLLIN, 0}};
        for (const int fd : listener.fds())
            fds.push_back({fd, POLLIN, 0});
        while (sys::wait_for(fds, INT64_MAX) && fds[0].revents == 0)
            for (std::size_t i = 1; i < fds.size(); ++i)
                if (fds[i].revents != 0)
                    serve(sys::Listener::accept(fds[i].fd));
    }

    void serve(const sys::UniqueFd& client)
    {
        if (!client.valid())
            return;
        const std::int64_t deadline = sys::after(kMostNs);
        const std::string request = request_at(client.get(), stop, deadline);
        if (request.empty())
            return;
        std::string now;
        {
            const std::lock_guard lock(mutex);
            now = text;
        }
        send_to(client.get(), answer_to(request, now), stop, deadline);
        ::shutdown(client.get(), SHUT_WR);
    }

    sys::Listener listener;
    sys::Event stop;
    std::mutex mutex;
    std::string text = detail::metrics_text({});
    std::thread thread;
};

MetricsServer::MetricsServer(const std::string& listen) : impl_(std::make_unique<Impl>(listen))
{
    impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
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
