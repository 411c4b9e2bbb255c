// SPDX-License-Identifier: MIT
#include "file/parts/rotating_sink.hpp"

#include "file/io/free_space.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kMostBehind = 4; ///< parts that wait for their last writes, or to be closed

} // namespace

RotatingSink::RotatingSink(std::unique_ptr<Part> first, std::vector<std::string> series,
                           const Rotation& rotation, bool overwrite,
                           std::optional<UploadSettings> upload, std::optional<RetentionRule> keep)
    : series_(std::move(series)),
      rotation_(rotation),
      overwrite_(overwrite),
      upload_(std::move(upload)),
      keep_(std::move(keep))
{
    first_ = current_.part = std::move(first);
    place_ = current_.part->files().front();
    group_.add(task_done_.fd(), POLLIN);
}

bool RotatingSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    meter_ = PartMeter(rotation_, stream);
    refuse_too_small_keep();
    if (!open_)
        lock_series();
    open_ = true;
    stream_ = stream;
    pool_ = &pool;
    cancel_ = cancel;
    number_ = 0;
    final_before_ = kUnknown;
    retunings_ = {};
    held_.reset();
    next_.reset();
    closer_.reset(upload_, keep_, stream);
    names_ = {current_.part->files().front()};
    first_name_ = 0;
    const bool accepted = current_.part->prepare(info_of_next(), pool, cancel, why);
    most_on_disk_ = most_on_disk();
    require_free_space(place_, std::min<std::uint64_t>(stream.total_bytes, most_on_disk_));
    return accepted;
}

// Takes the lock before it searches for older parts. From then on, no other recorder creates or
// replaces parts.
void RotatingSink::lock_series()
{
    SeriesLock lock(series_.data());
    if (overwrite_)
        series_.find_stale(keep_.has_value());
    else
        series_.refuse_existing();
    lock_ = std::move(lock);
}

// Throws if one part is larger than all parts that may stay: it would be removed immediately.
void RotatingSink::refuse_too_small_keep() const
{
    const std::uint64_t part = meter_.most_bytes();
    if (keep_ && keep_->bytes() && part != kUnknown && *keep_->bytes() < part)
        fail_usage("keep=" + keep_->text() + " is less than a part of " + format_size(part),
                   "rotate_bytes= or rotate_time= makes them smaller");
}

std::uint64_t RotatingSink::most_on_disk() const noexcept
{
    const std::uint64_t part = meter_.most_bytes();
    if (upload_)
        return upload_->most_on_disk(part);
    if (!keep_)
        return kUnknown;
    const double rate = stream_.format.sample_rate;
    if (!keep_->bytes() && rate <= 0)
        return kUnknown;
    const double by_time = static_cast<double>(keep_->nanoseconds().value_or(0)) * 1e-9 * rate *
                           static_cast<double>(stream_.format.sample_bytes);
    const double left = std::min(by_time, 0x1p62);
    return file::most_on_disk(keep_->bytes().value_or(static_cast<std::uint64_t>(left)), part);
}

void RotatingSink::start()
{
    current_.part->start();
    if (overwrite_)
        removed_ = series_.remove_stale();
}

// The stream's info for the next part, with total_bytes limited to one part.
StreamInfo RotatingSink::info_of_next() const
{
    StreamInfo info = stream_;
    std::uint64_t most = meter_.most_bytes();
    if (const std::uint64_t total = stream_.total_bytes; total != 0)
        most = std::min(most, total - std::min(total - 1, meter_.total_bytes()));
    info.total_bytes = most == kUnknown ? 0 : most;
    return info;
}

// A block that may need the next part waits for that part. No other block does.
bool RotatingSink::ready() const noexcept
{
    return !held_ && current_.part->ready() &&
           (!next_.asked() || meter_.fits_any() || may_rotate());
}

bool RotatingSink::may_rotate() const noexcept
{
    return next_.made() && draining_.size() + closer_.left() < kMostBehind;
}

void RotatingSink::submit(Block filled)
{
    held_ = std::move(filled);
    put_held();
}

// If many samples were lost before a block, the block may need the next part although that part has
// not been requested yet.
void RotatingSink::put_held()
{
    if (!held_)
        return;
    if (!meter_.fits(*held_)) {
        if (!next_.asked())
            ask_for_next();
        if (!may_rotate())
            return;
        rotate();
    }
    if (!meter_.empty() || announced(*held_))
        put(*std::exchange(held_, std::nullopt));
}

// A part's start must be on the disk before its samples, because nothing else shows it if the
// program is killed. Usually the expected start is right and was announced long before.
bool RotatingSink::announced(const Block& first)
{
    const std::optional<PartStart> start = current_.part->start_with(first);
    return !start || next_.announced(current_.part, *start);
}

void RotatingSink::put(Block filled)
{
    const bool first = meter_.empty();
    meter_.add(filled);
    ++current_.given;
    if (filled.sequence() != kUnknown) {
        for (const Gap& gap : filled.gaps())
            apply_late_report(gap, gap.offset_min);
        if (const auto retuning = retunings_.add(filled))
            apply_late_report(*retuning, retuning->retuning.begin);
        current_.end = filled.position() + filled.bytes() / stream_.format.sample_bytes;
        final_before_ = std::min(filled.losses_final_before(), filled.retunings_final_before());
    }
    current_.part->submit(std::move(filled));
    if (first && number_ != 0)
        closer_.publish_start(current_.part);
    if (!next_.asked() && meter_.half_full())
        ask_for_next();
    else if (const std::optional<PartStart> seam = meter_.seam())
        next_.expect(*seam);
}

// Passes on a late report of a loss or a retuning that begins at the stream position `begin`. It
// may concern parts that already have their last block.
void RotatingSink::apply_late_report(const Part::LateReport& late, std::uint64_t begin)
{
    if (begin >= current_.begin)
        return;
    for (Open& open : draining_)
        open.part->apply_late_report(late);
    closer_.apply_late_report(late, begin);
}

// The last part records everything in `end`. The parts before it record the losses and the retuning
// that concern them.
void RotatingSink::pass_on(const StreamEnd& end)
{
    for (const Gap& gap : end.gaps)
        apply_late_report(gap, gap.offset_min);
    if (end.retuning.count != 0)
        if (const auto retuning = retunings_.add(end.retuning))
            apply_late_report(*retuning, retuning->retuning.begin);
    current_.part->end_with(end);
}

void RotatingSink::ask_for_next()
{
    next_.make(current_.part->sibling(number_ + 1), info_of_next(), *pool_, cancel_, meter_.seam());
}

void RotatingSink::rotate()
{
    const std::shared_ptr<Part> next = next_.take();
    next->follow(*current_.part);
    const std::uint64_t seam = current_.end;
    draining_.push_back(std::exchange(current_, {next}));
    current_.begin = current_.end = seam;
    draining_.back().end_ns = meter_.end_ns();
    ++number_;
    forget_added_names();
    names_.push_back(next->files().front());
    meter_.next_part();
    hand_over();
}

// Closes the parts whose last writes are done, in order.
void RotatingSink::hand_over()
{
    while (!draining_.empty() && draining_.front().part->pending() == 0) {
        // A part stays open until all its losses and retunings are known. Until then, its journal
        // shows for which samples they might be missing. No more than one part waits for that.
        if (final_before_ < draining_.front().end && draining_.size() == 1)
            return;
        unwatch(draining_.front());
        closer_.close(draining_.front().part, draining_.front().end, draining_.front().end_ns);
        draining_.pop_front();
    }
}

void RotatingSink::service()
{
    task_done_.clear();
    for (Open& open : draining_)
        open.part->service();
    current_.part->service();
    hand_over();
    put_held();
    closer_.check();
}

void RotatingSink::watch(Open& open)
{
    const Wait wait = open.part->wait();
    if (wait.fd < 0 || wait.fd == open.watched)
        return;
    unwatch(open);
    group_.add(wait.fd, wait.events);
    open.watched = wait.fd;
}

void RotatingSink::unwatch(Open& open) noexcept
{
    if (const int fd = std::exchange(open.watched, -1); fd >= 0)
        group_.remove(fd);
}

Wait RotatingSink::wait()
{
    for (Open& open : draining_)
        watch(open);
    watch(current_);
    return {group_.fd(), POLLIN};
}

// Blocks complete in order: none counts as finished while an earlier one is pending.
std::size_t RotatingSink::pending() const noexcept
{
    std::size_t pending = held_ ? 1 : 0;
    bool pending_before = false; // blocks of an earlier part are pending
    const auto add = [&](const Open& open) {
        const std::size_t own = open.part->pending();
        pending += pending_before ? open.given : own;
        pending_before = pending_before || own != 0;
    };
    for (const Open& open : draining_)
        add(open);
    add(current_);
    return pending;
}

// Removes the names that PartRetention lists, so that names_ does not grow in an endless recording.
void RotatingSink::forget_added_names()
{
    for (const PartRetention* retention = closer_.retention();
         retention != nullptr && first_name_ < retention->added() && !names_.empty(); ++first_name_)
        names_.pop_front();
}

// The process' file size limit is ignored, because parts stay below it unless it is very small.
// There is no limit while the store keeps pace, or if there is room for everything that the
// retention leaves.
std::uint64_t RotatingSink::free_space_left() const noexcept
{
    if (upload_ && upload_->keeps_pace(closer_.uploads(), meter_.most_bytes()))
        return kUnknown;
    const std::uint64_t free = sys::free_space(place_);
    const std::uint64_t most = most_on_disk_, there = closer_.retained_bytes();
    return keep_ && there <= most && free >= most - there ? kUnknown : free;
}

void RotatingSink::stop(Stop how, const StreamEnd& end)
{
    if (!open_)
        return;
    pass_on(end);
    open_ = false;
    const SeriesLock lock = std::move(lock_); // held until the function returns
    std::exception_ptr failure;
    held_.reset();
    if (const std::shared_ptr<Part> next = next_.abandon())
        closer_.discard(*next);
    closer_.finish_closing();
    if (number_ != 0 && meter_.empty()) { // its first block never arrived
        unwatch(current_);
        closer_.discard(*current_.part);
        names_.pop_back();
    } else {
        current_.end_ns = meter_.end_ns();
        draining_.push_back(current_);
    }
    for (Open& open : draining_) {
        unwatch(open);
        if (closer_.broken()) { // an earlier part lacks samples
            closer_.discard(*open.part);
            names_.pop_back();
            continue;
        }
        try {
            open.part->close(how);
        } catch (...) {
            failure = std::current_exception();
        }
        closer_.count(*open.part);
        if (how == Stop::drain && failure == nullptr)
            closer_.seal(open.part, open.end_ns);
    }
    draining_.clear();
    // A part that could not be created, or got no samples, has removed its files.
    if ((closer_.broken() || closer_.stored() == 0) && !names_.empty() &&
        !sys::path_exists(names_.back()))
        names_.pop_back();
    closer_.finish();
    current_ = {current_.part->sibling(0)}; // for the next stream
    if (failure != nullptr)
        std::rethrow_exception(failure);
    closer_.check();
    closer_.finish_uploads(how, cancel_);
    if (const PartRetention* retention = closer_.retention())
        retention->check();
}

SinkResult RotatingSink::result() const
{
    const PartRetention* const retention = closer_.retention();
    std::vector<std::string> files =
        retention != nullptr ? retention->files() : std::vector<std::string>{};
    const std::size_t added = retention != nullptr ? retention->added() - first_name_ : 0;
    for (std::size_t i = added; i < names_.size(); ++i)
        files.push_back(names_[i]);
    nlohmann::json report{{"files", files}};
    if (!removed_.empty())
        report["removed"] = removed_;
    closer_.report_uploads(report);
    if (retention != nullptr)
        report["keep"] = retention->report();
    return {.remark = current_.part->result().remark,
            .report = report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

} // namespace iio_stream::file
