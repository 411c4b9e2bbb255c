// SPDX-License-Identifier: MIT
#pragma once

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

/// Closes and seals the parts of a recording, in order, when they have all their samples. Passes to
/// them the losses and retunings that become known late. Uploads sealed parts, or removes the
/// oldest ones. All this happens on threads of its own.
/// Thread: one thread calls all functions; any thread may read the counters.
class PartCloser {
public:
    /// `task_done` is set when a task has ended.
    explicit PartCloser(sys::Event& task_done) : sealer_(task_done), closer_(task_done) {}

    /// Prepares for a new recording of `stream`, which receives the events. Its sealed parts go
    /// into an archive, or stay according to `keep`. With neither, all parts stay.
    void reset(const std::optional<UploadSettings>& upload,
               const std::optional<RetentionRule>& keep, const StreamInfo& stream);
    /// The counters of the uploads; any thread.
    UploadStats uploads() const noexcept { return counters_->get(); }
    /// The retention of this recording; nullptr if there is no rule.
    const PartRetention* retention() const noexcept { return retention_.get(); }
    /// Bytes of samples in sealed parts that are still on the disk, if there is a rule; any thread.
    std::uint64_t retained_bytes() const noexcept { return retained_bytes_; }
    void publish_start(std::shared_ptr<Part> part);
    /// `end`: stream position after the part's last sample; `end_ns`: when that sample was taken.
    void close(const std::shared_ptr<Part>& part, std::uint64_t end, std::int64_t end_ns);
    /// Passes the report to the parts that end after `begin`, a position in the stream.
    void apply_late_report(const Part::LateReport& late, std::uint64_t begin);
    void seal(std::shared_ptr<Part> part, std::int64_t end_ns);
    /// Closes the part and deletes its files immediately.
    static void discard(Part& part) noexcept;
    /// Adds the bytes of a closed part to the counters, and notes whether the part lacks samples.
    void count(const Part& part);

    std::size_t left() const noexcept { return closer_.left(); } ///< tasks, including closing
    /// Changes when a part is closed, and while finish_uploads() waits.
    std::uint64_t progress() const noexcept { return progress_.load(std::memory_order_relaxed); }
    std::uint64_t stored() const noexcept { return stored_; } ///< bytes in closed parts
    bool broken() const noexcept { return broken_; }          ///< a closed part lacks samples
    void check() const;                                       ///< throws the first failure
    void finish_closing() noexcept { closer_.finish(); }
    void finish() noexcept { sealer_.finish(); }
    void finish_uploads(Stop how, int cancel); ///< calls Uploads::finish(); call it after finish()
    void report_uploads(nlohmann::json& report) const; ///< adds "archive" if there is one

private:
    /// A part that is closed, is about to be closed, or has been deleted.
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
    ReportEvent report_event_;
    std::unique_ptr<Uploads> uploads_;
    std::unique_ptr<PartRetention> retention_;
    TaskThread sealer_, closer_; ///< declared last: their threads end first
};

} // namespace iio_stream::file
