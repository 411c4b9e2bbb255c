// SPDX-License-Identifier: MIT
#include "cli/event_log.hpp"

#include "cli/command.hpp"
#include "iio_stream/utc.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace iio_stream::cli {

namespace {

constexpr std::size_t kMostWaiting = 4 << 20; ///< bytes: 20,000 events

std::string now()
{
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return format_utc(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// A FIFO is opened for reading, too: that waits for no reader, and writing to it without one is no error.
int open_log(const std::string& file)
{
    if (file.empty())
        return -1;
    if (file == "-")
        return ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    struct stat status{};
    const bool fifo = ::stat(file.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    const int how = fifo ? O_RDWR | O_NONBLOCK : O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;
    return ::open(file.c_str(), how | O_CLOEXEC, 0644);
}

} // namespace

EventLog::EventLog(std::string file, std::vector<std::string> sources)
    : file_(std::move(file)), fd_(open_log(file_)), host_(host_name()), sources_(std::move(sources))
{
    if (fd_ < 0 && !file_.empty())
        throw Error(Fault::storage, errno, "open", file_, "", "--events takes a file, or - for stderr");
}

EventLog::~EventLog()
{
    if (fd_ >= 0)
        ::close(fd_);
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
        const GapTotals& gaps = summary.stats.gaps;
        Json event{{"event", "ended"}, {"time", now()}, {"why", summary.ended}, {"samples", summary.stats.samples}};
        event["lost_min"] = gaps.lost_min;
        event["lost_max"] = gaps.lost_max == kUnknown ? Json(nullptr) : Json(gaps.lost_max);
        event["error"] = summary.error ? Json(summary.error->what()) : Json(nullptr);
        add(event, i, summary.source);
    }
    write();
    const auto left = static_cast<std::uint64_t>(std::count(waiting_.begin(), waiting_.end(), '\n')) + missed_;
    if (left != 0)
        std::fprintf(stderr, "iio-stream: --events %s: %llu events are not in it\n", file_.c_str(),
                     static_cast<unsigned long long>(left));
}

void EventLog::add(const Json& event, std::size_t pipeline, const std::string& source)
{
    Json line{{"event", event["event"]}, {"time", event["time"]}, {"host", host_},
              {"pid", ::getpid()},       {"pipeline", pipeline},  {"source", source}};
    line.update(event);
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (waiting_.size() + text.size() <= kMostWaiting)
        waiting_ += text;
    else
        ++missed_;
}

// As much as the file takes now.
void EventLog::write()
{
    while (fd_ >= 0 && !waiting_.empty()) {
        const ssize_t written = ::write(fd_, waiting_.data(), waiting_.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            if (errno != EAGAIN && !std::exchange(told_, true))
                std::fprintf(stderr, "iio-stream: --events %s: %s\n", file_.c_str(), std::strerror(errno));
            return;
        }
        waiting_.erase(0, static_cast<std::size_t>(written));
    }
}

} // namespace iio_stream::cli
