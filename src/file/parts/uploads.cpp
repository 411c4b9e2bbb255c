// SPDX-License-Identifier: MIT
#include "file/parts/uploads.hpp"

#include "archive/push/push_queue.hpp"
#include "file/options.hpp"
#include "file/parts/part_series.hpp"
#include "file/sigmf/file_pair.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/named_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

namespace iio_stream::file {

namespace {

constexpr std::int64_t kFirstPauseNs = 1'000'000'000, kLongestPauseNs = 60'000'000'000;
constexpr std::int64_t kTickNs = 100'000'000; ///< how often finish() reports progress
constexpr std::int64_t kCutNs = 300'000'000;  ///< how long to wait for the thread to end
constexpr auto kRetry =
    std::chrono::seconds(2); ///< limit for one request; then the part is queued again

std::uint64_t samples_size(const std::string& metadata)
{
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(
        std::filesystem::path(metadata).replace_extension(".sigmf-data"), error);
    return error ? 0 : size;
}

} // namespace

std::optional<UploadSettings> UploadSettings::from(Options& options, const std::string& recording)
{
    const auto archive = options.take(kSigmfOptions["archive"]);
    if (!archive && options.has(kSigmfOptions["archive_wait"]))
        fail_usage("archive_wait=" + options.get(kSigmfOptions["archive_wait"]) +
                       ": there is no archive=",
                   "archive=s3://BUCKET/PREFIX uploads the parts");
    if (!archive)
        return std::nullopt;
    const std::string keep = options.take_or_standard(kSinkOptions["keep"]);
    UploadSettings settings;
    settings.push.archive = *archive;
    settings.push.folder = std::filesystem::path(recording).parent_path().string();
    if (settings.push.folder.empty())
        settings.push.folder = ".";
    settings.push.keep = keep;
    settings.push.retry = kRetry;
    settings.wait_ns = options.take_duration_or_standard(kSigmfOptions["archive_wait"]).count();
    settings.left = detail::check_push(settings.push, pair_of(part_path(recording, 0)).meta);
    return settings;
}

std::uint64_t UploadSettings::most_on_disk(std::uint64_t part_bytes) const noexcept
{
    return file::most_on_disk(left, part_bytes);
}

std::int64_t upload_pause(unsigned failures) noexcept
{
    return std::min(kLongestPauseNs, kFirstPauseNs << std::min(failures - 1, 6U));
}

/// The state that the stream's threads and the uploading thread share.
class Uploads::Queue final : public detail::PushQueue {
public:
    Queue(std::shared_ptr<UploadCounters> counters, ReportEvent report_event)
        : counters_(std::move(counters)), report_event_(std::move(report_event))
    {
        count();
    }

    void add(const std::string& metadata, bool again)
    {
        const std::lock_guard lock(mutex_);
        now_.parts += again ? 0 : 1;
        if (std::ranges::find(waiting_, metadata) == waiting_.end())
            waiting_.push_back(metadata);
        if (const auto [at, added] = behind_.try_emplace(metadata, samples_size(metadata)); added)
            now_.behind_bytes += at->second;
        count();
        changed_.notify_all();
    }
    std::optional<std::string> next() override
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (cut_ || (ending_ && waiting_.empty()))
                return std::nullopt;
            const std::int64_t pause = not_before_ns_ - sys::monotonic_ns();
            if (!waiting_.empty() && pause <= 0)
                break;
            if (waiting_.empty())
                changed_.wait(lock);
            else
                changed_.wait_for(lock, std::chrono::nanoseconds(pause));
        }
        std::string next = std::move(waiting_.front());
        waiting_.pop_front();
        return next;
    }
    void pushed(const std::string& metadata, const std::string& why_not) override
    {
        const std::lock_guard lock(mutex_);
        const bool waits =
            std::ranges::find(waiting_, metadata) != waiting_.end(); // its metadata have changed
        const auto at = behind_.find(metadata);
        add_event(metadata, at == behind_.end() ? 0 : at->second, why_not);
        if (why_not.empty()) {
            failures_ = 0;
            if (at != behind_.end() && !waits) {
                now_.behind_bytes -= at->second;
                behind_.erase(at);
            }
        } else {
            if (!waits)
                waiting_.push_back(metadata);
            last_error_ = why_not;
            not_before_ns_ = sys::after(upload_pause(++failures_));
            ++now_.retries;
        }
        count();
    }
    void fail(const char* why)
    {
        const std::lock_guard lock(mutex_);
        last_error_ = why;
    }
    bool may_go_on() const
    {
        const std::lock_guard lock(mutex_);
        return !cut_;
    }
    void end(bool at_once)
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        cut_ = cut_ || at_once;
        changed_.notify_all();
    }
    std::vector<std::string> left() const
    {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> left;
        for (const auto& [metadata, bytes] : behind_)
            left.push_back(metadata);
        return left;
    }
    nlohmann::json report() const
    {
        const std::lock_guard lock(mutex_);
        return {{"parts", now_.parts},
                {"stored", now_.stored},
                {"retries", now_.retries},
                {"behind", {{"parts", behind_.size()}, {"bytes", now_.behind_bytes}}},
                {"last_error",
                 last_error_.empty() ? nlohmann::json(nullptr) : nlohmann::json(last_error_)}};
    }

    sys::Event done; ///< the thread has ended

private:
    void count()
    {
        now_.stored = now_.parts - std::min<std::uint64_t>(now_.parts, behind_.size());
        if (!cut_) // otherwise the counters may belong to another stream
            counters_->set(now_);
    }

    void add_event(const std::string& metadata, std::uint64_t bytes, const std::string& why_not)
    {
        if (cut_)
            return;
        if (why_not.empty()) // keep= may have removed the file
            report_event_({.kind = EventKind::stored, .count = bytes, .file = metadata});
        else
            report_event_({.kind = EventKind::not_stored, .file = metadata, .error = why_not});
    }

    const std::shared_ptr<UploadCounters> counters_;
    const ReportEvent report_event_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> waiting_;
    std::map<std::string, std::uint64_t> behind_; ///< parts not stored yet, and their sizes
    std::string last_error_;
    bool ending_ = false, cut_ = false;
    unsigned failures_ = 0; ///< failures in a row
    std::int64_t not_before_ns_ = 0;
    UploadStats now_;
};

void UploadCounters::set(const UploadStats& now) noexcept
{
    parts = now.parts;
    stored = now.stored;
    behind_bytes = now.behind_bytes;
    retries = now.retries;
}

Uploads::Uploads(const UploadSettings& settings, std::atomic<std::uint64_t>& progress,
                 std::shared_ptr<UploadCounters> counters, ReportEvent report_event)
    : settings_(settings),
      queue_(std::make_shared<Queue>(std::move(counters), std::move(report_event))),
      progress_(progress)
{
    std::thread([queue = queue_, config = settings.push] {
        const sys::NamedThread name("iios-upload");
        try {
            detail::push_each(config, *queue,
                              [&](const PushReport&) { return queue->may_go_on(); });
        } catch (const std::exception& failure) { // out of memory, or missing credentials
            queue->fail(failure.what());
        }
        queue->done.set();
    }).detach();
}

Uploads::~Uploads()
{
    cut();
}

void Uploads::cut() noexcept
{
    queue_->end(true);
    (void)sys::wait_for(queue_->done.fd(), POLLIN, sys::after(kCutNs));
}

void Uploads::add(const std::string& metadata, bool again)
{
    queue_->add(metadata, again);
}

void Uploads::finish(int cancel)
{
    queue_->end(false);
    const std::int64_t deadline = sys::after(settings_.wait_ns);
    while (!queue_->done.is_set() && sys::monotonic_ns() < deadline) {
        pollfd fds[] = {{queue_->done.fd(), POLLIN, 0}, {cancel, POLLIN, 0}};
        (void)sys::wait_for(fds, std::min(deadline, sys::after(kTickNs)));
        progress_.fetch_add(1, std::memory_order_relaxed);
        if (fds[1].revents != 0)
            break;
    }
    cut();
    const std::vector<std::string> left = queue_->left();
    if (left.empty())
        return;
    const nlohmann::json report = queue_->report();
    const std::string parts =
        std::to_string(left.size()) + (left.size() == 1 ? " part is" : " parts are");
    const std::string why =
        report["last_error"].is_string() ? ": " + report["last_error"].get<std::string>() : "";
    throw Error(Fault::storage, ETIMEDOUT, "upload to", settings_.push.archive,
                parts + " recorded completely, but not stored" + why,
                "iio-stream archive push " + settings_.push.folder + " " + settings_.push.archive);
}

nlohmann::json Uploads::report() const
{
    return queue_->report();
}

} // namespace iio_stream::file
