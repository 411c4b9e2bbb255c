// SPDX-License-Identifier: MIT
#include "cli/output/event_log.hpp"

#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/utc.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace iio_stream::cli {

namespace {

constexpr std::size_t kMostWaiting = 4 << 20;  ///< bytes; about 20,000 events
constexpr int kTriesAtEnd = 25, kPauseMs = 20; ///< attempts and pauses of the wait in ended()

std::string now()
{
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return format_utc(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// A killed program or a full disk can leave an incomplete last line.
bool ends_in_midline(const std::string& file)
{
    const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const off_t size = fd < 0 ? -1 : ::lseek(fd, 0, SEEK_END);
    char last = '\n';
    const bool got = size > 0 && ::pread(fd, &last, 1, size - 1) == 1;
    if (fd >= 0)
        ::close(fd);
    return got && last != '\n';
}

} // namespace

EventLog::EventLog(std::string file, std::vector<std::string> sources)
    : file_(std::move(file)), host_(host_name()), sources_(std::move(sources))
{
    if (file_.empty())
        return;
    open();
    if (fd_ < 0)
        throw Error(Fault::storage, errno, "open", file_, "",
                    "--events takes a file, or - for stderr");
    if (kind_ == Kind::file && ends_in_midline(file_))
        waiting_ = "\n";
}

EventLog::~EventLog()
{
    if (fd_ >= 0)
        ::close(fd_);
}

// Opens a FIFO for reading and writing. Opening it then does not wait for a reader, and writing
// without a reader is not an error.
void EventLog::open()
{
    struct stat status {};
    const bool there = ::stat(file_.c_str(), &status) == 0;
    kind_ = file_ == "-"                        ? Kind::standard_error
            : there && S_ISFIFO(status.st_mode) ? Kind::pipe
                                                : Kind::file;
    if (kind_ == Kind::standard_error)
        fd_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    else if (kind_ == Kind::pipe)
        fd_ = ::open(file_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    else
        fd_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644);
}

// If the log was renamed or removed, later events go to a new file of the same name. If that file
// cannot be created, they continue to go to the old one.
void EventLog::follow_name()
{
    struct stat ours {
    }, named{};
    if (kind_ != Kind::file || ::fstat(fd_, &ours) != 0)
        return;
    if (::stat(file_.c_str(), &named) == 0 && named.st_ino == ours.st_ino &&
        named.st_dev == ours.st_dev)
        return;
    const int old = std::exchange(fd_, -1);
    open();
    if (fd_ < 0)
        fd_ = old;
    else
        ::close(old);
}

void EventLog::started(Session& session)
{
    for (std::size_t i = 0; fd_ >= 0 && i < session.size(); ++i) {
        const Format& format = session[i].format();
        Json event{{"event", "started"}, {"time", now()}};
        event["sample_format"] = format.name();
        event["sample_bytes"] = format.sample_bytes;
        event["sample_rate"] = format.sample_rate > 0 ? Json(format.sample_rate) : Json(nullptr);
        add(event, i, sources_[i]);
    }
    write();
}

void EventLog::update(Session& session)
{
    for (std::size_t i = 0; fd_ >= 0 && i < session.size(); ++i)
        for (const Event& event : session[i].take_events())
            add(Json::parse(to_json(event)), i, sources_[i]);
    write();
}

void EventLog::ended(const std::vector<Summary>& summaries)
{
    for (std::size_t i = 0; fd_ >= 0 && i < summaries.size(); ++i) {
        const Summary& summary = summaries[i];
        Json event{{"event", "ended"},
                   {"time", now()},
                   {"why", summary.ended},
                   {"samples", summary.stats.samples}};
        const Json gaps = gaps_json(summary.stats.gaps);
        event["lost_min"] = gaps["lost_min"];
        event["lost_max"] = gaps["lost_max"];
        event["error"] = or_null(summary.error ? std::string(summary.error->what()) : "");
        add(event, i, summary.source);
    }
    write();
    for (int tries = 0;
         tries < kTriesAtEnd && kind_ != Kind::file && (!waiting_.empty() || unread() != 0);
         ++tries) {
        (void)::poll(nullptr, 0, kPauseMs);
        write();
    }
    report_missing();
}

/// Bytes in a FIFO that nobody will read; 0 if the FIFO has a reader.
std::size_t EventLog::unread()
{
    int bytes = 0;
    if (kind_ != Kind::pipe || ::ioctl(fd_, FIONREAD, &bytes) != 0 || bytes == 0)
        return 0;
    const int end = ::open(file_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (end < 0)
        return 0;
    ::close(std::exchange(fd_, end)); // closes our own read end
    pollfd request{fd_, POLLOUT, 0};
    const bool has_reader = ::poll(&request, 1, 0) < 0 || (request.revents & POLLERR) == 0;
    if (!has_reader) // a reader might still open the FIFO
        ::close(std::exchange(fd_, ::open(file_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)));
    return has_reader ? 0 : static_cast<std::size_t>(bytes);
}

void EventLog::report_missing()
{
    if (kind_ == Kind::standard_error) // a report to it would fail, too
        return;
    const auto left =
        static_cast<std::uint64_t>(std::count(waiting_.begin(), waiting_.end(), '\n')) + missed_;
    if (left != 0)
        print_line(stderr, "iio-stream: --events %s: %llu events were not written", file_.c_str(),
                   static_cast<unsigned long long>(left));
    if (const std::size_t bytes = unread(); bytes != 0)
        print_line(stderr, "iio-stream: --events %s: the last %zu bytes were never read",
                   file_.c_str(), bytes);
}

void EventLog::add(const Json& event, std::size_t pipeline, const std::string& source)
{
    Json line{{"event", event["event"]}, {"time", event["time"]}, {"host", host_},
              {"pid", ::getpid()},       {"pipeline", pipeline},  {"source", source}};
    line.update(event);
    const std::string json = json_text(line);
    const std::string text = (kind_ == Kind::standard_error ? safe_json(json) : json) + "\n";
    if (waiting_.size() + text.size() <= kMostWaiting)
        waiting_ += text;
    else
        ++missed_;
}

// Other programs share standard error, so it is not made non-blocking. A write to it might block
// unless poll() reports room.
bool EventLog::may_write() const noexcept
{
    pollfd request{fd_, POLLOUT, 0};
    return kind_ != Kind::standard_error ||
           (::poll(&request, 1, 0) > 0 && (request.revents & POLLOUT) != 0);
}

// Writes as much as the file accepts now.
void EventLog::write()
{
    if (fd_ >= 0 && !waiting_.empty())
        follow_name();
    while (fd_ >= 0 && !waiting_.empty() && may_write()) {
        const std::size_t most = kind_ == Kind::standard_error ? PIPE_BUF : waiting_.size();
        const ssize_t written = ::write(fd_, waiting_.data(), std::min(most, waiting_.size()));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            if (errno != EAGAIN && !std::exchange(told_, true))
                print_line(stderr, "iio-stream: --events %s: %s", file_.c_str(),
                           std::strerror(errno));
            return;
        }
        waiting_.erase(0, static_cast<std::size_t>(written));
    }
}

} // namespace iio_stream::cli
