// SPDX-License-Identifier: MIT
#include "file/parts/part_closer.hpp"

#include "file/journal/journal.hpp"
#include "sys/files.hpp"

#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kMostClosed = 4096; ///< parts whose metadata can still get a late loss

} // namespace

void PartCloser::reset(const std::optional<UploadSettings>& upload,
                       const std::optional<RetentionRule>& keep, const StreamInfo& stream)
{
    report_event_ = stream.report_event ? stream.report_event : [](Event) {};
    uploads_.reset();
    retention_.reset();
    if (keep)
        retention_ = std::make_unique<PartRetention>(*keep, stream.format.sample_bytes,
                                                     report_event_, retained_bytes_);
    if (upload)
        uploads_ = std::make_unique<Uploads>(*upload, progress_, counters_, report_event_);
    closer_.forget();
    sealer_.forget();
    parts_.clear();
    broken_ = false;
    stored_ = 0;
}

void PartCloser::publish_start(std::shared_ptr<Part> part)
{
    closer_.add([part = std::move(part)] { part->publish_start(); });
}

// The part is counted even if closing throws: parts after one that lacks samples do not belong to
// the recording.
void PartCloser::close(const std::shared_ptr<Part>& part, std::uint64_t end, std::int64_t end_ns)
{
    if (Part::LateReportHandler apply = part->late_report_handler()) {
        parts_.push_back({end, std::move(apply), part->files().front()});
        if (parts_.size() > kMostClosed)
            parts_.pop_front();
    }
    closer_.add([this, part, end_ns] {
        try {
            part->close(Stop::drain);
        } catch (...) {
            count(*part);
            throw;
        }
        count(*part);
        progress_.fetch_add(1, std::memory_order_relaxed);
        seal(part, end_ns);
    });
}

void PartCloser::discard(Part& part) noexcept
{
    try {
        part.close(Stop::abort);
    } catch (const std::exception&) {
        // The part is deleted anyway.
    }
    for (const std::string& file : part.files()) {
        sys::try_remove_file(file);
        sys::try_remove_file(journal_path(file));
    }
}

void PartCloser::count(const Part& part)
{
    broken_ = broken_ || !part.whole();
    stored_ += part.stored().value_or(0);
}

void PartCloser::seal(std::shared_ptr<Part> part, std::int64_t end_ns)
{
    sealer_.add([this, part = std::move(part), end_ns] {
        part->seal();
        report_event_({.kind = EventKind::part,
                       .count = part->stored().value_or(0),
                       .file = part->files().front()});
        upload(part->files().front(), false);
        // After a failure the stream ends, and everything that it has recorded stays.
        if (retention_ && !closer_.failed() && !sealer_.failed())
            retention_->add(*part, end_ns);
    });
}

void PartCloser::upload(const std::string& file, bool again)
{
    if (uploads_)
        uploads_->add(file, again);
}

void PartCloser::finish_uploads(Stop how, int cancel)
{
    if (uploads_ && how == Stop::drain)
        uploads_->finish(cancel);
}

void PartCloser::report_uploads(nlohmann::json& report) const
{
    if (uploads_)
        report["archive"] = uploads_->report();
}

void PartCloser::apply_late_report(const Part::LateReport& late, std::uint64_t begin)
{
    for (const Closed& part : parts_)
        if (begin < part.end) // after the part has been closed and sealed
            closer_.add([this, part, late] {
                sealer_.add([this, part, late] {
                    part.apply(late);
                    upload(part.file, true); // its metadata may have changed
                });
            });
}

void PartCloser::check() const
{
    closer_.check();
    sealer_.check();
}

} // namespace iio_stream::file
