// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/event_buffer.hpp"
#include "file/parts/part.hpp"
#include "file/parts/part_retention.hpp"
#include "file/parts/task_thread.hpp"
#include "file/parts/uploads.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

namespace iio_stream::file {

/// Closes the parts of a recording that have all their samples, in order, seals them, and passes
/// them losses and retunings that become known late; on threads of its own. Uploads sealed parts,
/// or removes the oldest of them. Thread: one; any for the counters.
class PartCloser {
public:
    /// `task_done` is set when a task has ended.
    explicit PartCloser(sys::Event& task_done) : sealer_(task_done), closer_(task_done) {}

    /// For a new recording. Its sealed parts go into an archive, or stay as long as `keep` says;
    /// with neither, all stay.
    void reset(const std::optional<UploadSettings>& upload,
               const std::optional<RetentionRule>& keep, std::size_t sample_bytes);
    /// What has become of them; any thread.
    UploadStats uploads() const noexcept { return counters_->get(); }
    std::vector<Event> take_events() { return events_->take(); } ///< any thread
    /// nullptr: there is no rule.
    const PartRetention* retention() const noexcept { return retention_.get(); }
    /// Bytes of samples in sealed parts that are still there, if there is a rule; any thread.
    std::uint64_t retained_bytes() const noexcept { return retained_bytes_; }
    void publish_start(std::shared_ptr<Part> part);
    /// `end`: stream position after its last sample; `end_ns`: when that was taken.
    void close(const std::shared_ptr<Part>& part, std::uint64_t end, std::int64_t end_ns);
    /// For the parts that end after `begin`, a stream position.
    void apply_late_report(const Part::LateReport& late, std::uint64_t begin);
    void seal(std::shared_ptr<Part> part, std::int64_t end_ns);
    /// Closes and deletes it, at once.
    static void discard(Part& part) noexcept;
    /// Counts what is in a closed part.
    void count(const Part& part);

    std::size_t left() const noexcept { return closer_.left(); } ///< tasks, closing among them
    /// Changes as parts are closed, and while finish_uploads() waits.
    std::uint64_t progress() const noexcept { return progress_.load(std::memory_order_relaxed); }
    std::uint64_t stored() const noexcept { return stored_; } ///< bytes in closed parts
    bool broken() const noexcept { return broken_; }          ///< a closed part lacks samples
    void check() const;                                       ///< throws the first failure
    void finish_closing() noexcept { closer_.finish(); }
    void finish() noexcept { sealer_.finish(); }
    void finish_uploads(Stop how, int cancel);         ///< as Uploads::finish(), after finish()
    void report_uploads(nlohmann::json& report) const; ///< adds "archive" if there is one

private:
    /// A part that is closed, or about to be, or deleted.
    struct Closed {
        std::uint64_t end;
        Part::LateReportHandler apply;
        std::string file;
    };

    void upload(const std::string& file, bool again);

    std::deque<Closed> parts_; ///< the last kMostClosed
    std::atomic<bool> broken_{false};
    std::atomic<std::uint64_t> progress_{0}, stored_{0}, retained_bytes_{0};
    const std::shared_ptr<UploadCounters> counters_ = std::make_shared<UploadCounters>();
    const std::shared_ptr<detail::EventBuffer> events_ = std::make_shared<detail::EventBuffer>();
    std::unique_ptr<Uploads> uploads_;
    std::unique_ptr<PartRetention> retention_;
    TaskThread sealer_, closer_; ///< their threads end first
};

} // namespace iio_stream::file
