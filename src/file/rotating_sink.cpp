// SPDX-License-Identifier: MIT
#include "file/rotating_sink.hpp"

#include "file/journal.hpp"
#include "file/room.hpp"
#include "sys/direct_io.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"
#include "sys/whole_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kMostBehind = 4; ///< parts that wait for their last writes, or to be closed
constexpr std::size_t kMostClosed = 4096; ///< parts whose metadata a late loss can still get into

} // namespace

RotatingSink::RotatingSink(std::unique_ptr<Part> first, std::vector<std::string> series,
                           const Rotation& rotation, bool overwrite)
    : series_(std::move(series)), rotation_(rotation), overwrite_(overwrite)
{
    current_.part = std::move(first);
    first_ = current_.part;
    place_ = current_.part->files().front();
    group_.add(news_.fd(), POLLIN);
}

bool RotatingSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    meter_ = PartMeter(rotation_, stream);
    if (!open_ && !overwrite_)
        refuse_existing();
    if (!open_ && overwrite_)
        refuse_live();
    open_ = true;
    stream_ = stream;
    pool_ = &pool;
    cancel_ = cancel;
    number_ = 0;
    stored_ = 0;
    settled_ = kUnknown;
    heard_ = {};
    held_.reset();
    asked_ = next_made_ = broken_ = false;
    for (TaskThread* tasks : {&opener_, &closer_, &sealer_})
        tasks->forget();
    closed_parts_.clear();
    names_ = {current_.part->files().front()};
    const bool accepted = current_.part->prepare(info_of_next(), pool, cancel, why);
    if (overwrite_)
        remove_stale();
    check_room(place_, stream.total_bytes);
    return accepted;
}

void RotatingSink::refuse_existing() const
{
    for (const std::string& path : series_)
        if (const auto found = existing_parts(path); !found.empty())
            throw Error(Fault::storage, EEXIST, "open", found.front(), {},
                        "overwrite=on replaces it, and all other parts of " + path);
}

// Of a recording in parts that is under way the last ones are locked, but not those that are
// closed.
void RotatingSink::refuse_live() const
{
    const std::string& data = series_.back();
    for (std::size_t number = own_parts(series_); number-- > 0;) {
        const std::string part = part_path(data, number);
        if (!sys::path_exists(part))
            continue;
        const sys::UniqueFd fd = sys::open_file(part, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
        if (!sys::lock_soon(fd.get(), sys::Lock::shared))
            throw Error(Fault::storage, EBUSY, "open", part,
                        "it is being recorded, here or by another process",
                        "record to another name, or when that has ended");
    }
}

// What a longer recording of that name has left would seem to go on behind this one.
void RotatingSink::remove_stale() noexcept
try {
    removed_.clear();
    for (std::size_t number = 1, count = own_parts(series_); number < count; ++number)
        for (const std::string& path : series_) {
            const std::string stale = part_path(path, number);
            if (!sys::path_exists(stale))
                continue;
            sys::remove_file(stale);
            sys::remove_file(journal_path(stale));
            sys::release_publish(stale);
            removed_.push_back(stale);
        }
} catch (const std::exception&) {
    // What is still there is replaced when its number comes.
}

// How much will come, as far as a part is concerned.
StreamInfo RotatingSink::info_of_next() const
{
    StreamInfo info = stream_;
    std::uint64_t most = meter_.most_bytes();
    if (const std::uint64_t total = stream_.total_bytes; total != 0)
        most = std::min(most, total - std::min(total - 1, meter_.total_bytes()));
    info.total_bytes = most == kUnknown ? 0 : most;
    return info;
}

bool RotatingSink::next_ready() const noexcept
{
    return next_made_.load(std::memory_order_acquire) || opener_.failed();
}

// Where a block may come that needs the next part it waits for that, and nothing else does.
bool RotatingSink::ready() const noexcept
{
    return !held_ && current_.part->ready() && (!asked_ || meter_.fits_any() || may_rotate());
}

bool RotatingSink::may_rotate() const noexcept
{
    return next_ready() && draining_.size() + closer_.left() < kMostBehind;
}

// Where much was lost before a block it may need the next part long before it was requested.
void RotatingSink::submit(Block filled)
{
    if (meter_.fits(filled))
        return put(std::move(filled));
    if (!asked_)
        ask_for_next();
    held_ = std::move(filled);
    put_held();
}

void RotatingSink::put_held()
{
    if (!held_ || !may_rotate())
        return;
    rotate();
    put(*std::exchange(held_, std::nullopt));
}

void RotatingSink::put(Block filled)
{
    const bool first = meter_.empty();
    meter_.add(filled);
    ++current_.given;
    if (filled.sequence() != kUnknown) {
        for (const Gap& gap : filled.gaps())
            tell_late(gap, gap.offset_min);
        if (const auto news = heard_.news(filled))
            tell_late(*news, news->retuning.begin);
        current_.end = filled.position() + filled.bytes() / stream_.format.sample_bytes;
        settled_ = std::min(filled.settled(), filled.tuned());
    }
    current_.part->submit(std::move(filled));
    if (first && number_ != 0)
        closer_.add([part = current_.part] { part->announce(); });
    if (!asked_ && meter_.half_full())
        ask_for_next();
}

// What becomes known later about a loss, or a retuning, may concern parts that have their
// last block already. It begins at that position of the stream.
void RotatingSink::tell_late(const Part::Late& late, std::uint64_t begin)
{
    if (begin >= current_.begin)
        return;
    for (Open& open : draining_)
        open.part->tell_late(late);
    for (const Closed& closed : closed_parts_)
        if (begin < closed.end) // behind its closing and its sealing
            closer_.add(
                [this, tell = closed.tell, late] { sealer_.add([tell, late] { tell(late); }); });
}

void RotatingSink::retuned(const Retuning& last)
{
    if (const auto news = heard_.news(last))
        tell_late(*news, news->retuning.begin);
    current_.part->retuned(last);
}

// The last part tells them; and those before it what concerns them.
void RotatingSink::trailing(std::span<const Gap> gaps)
{
    for (const Gap& gap : gaps)
        tell_late(gap, gap.offset_min);
    current_.part->trailing(gaps);
}

void RotatingSink::ask_for_next()
{
    asked_ = true;
    const std::shared_ptr<Part> part = current_.part->sibling(number_ + 1);
    opener_.add([this, part, info = info_of_next()] {
        try {
            std::string why;
            if (!part->prepare(info, *pool_, cancel_, why))
                throw Error(Fault::storage, ENOTSUP, "open", part->files().front(), why);
            part->start();
        } catch (...) { // what it has made so far is none of the recording
            const std::exception_ptr failure = std::current_exception();
            try {
                part->close(Stop::abort);
            } catch (const std::exception&) {
            }
            std::rethrow_exception(failure);
        }
        next_ = part;
        next_made_.store(true, std::memory_order_release);
    });
}

void RotatingSink::rotate()
{
    opener_.check();
    const std::shared_ptr<Part> next = std::exchange(next_, nullptr);
    next_made_.store(false, std::memory_order_relaxed);
    next->follow(*current_.part);
    const std::uint64_t seam = current_.end;
    draining_.push_back(std::exchange(current_, {next}));
    current_.begin = current_.end = seam;
    ++number_;
    names_.push_back(next->files().front());
    meter_.next_part();
    asked_ = false;
    hand_over();
}

// The parts whose last writes are done, in their order.
void RotatingSink::hand_over()
{
    while (!draining_.empty() && draining_.front().part->pending() == 0) {
        // Until then its journal says what it may not know; but there are not two that wait for it.
        if (settled_ < draining_.front().end && draining_.size() == 1)
            return;
        unwatch(draining_.front());
        if (Part::LateTeller tell = draining_.front().part->late_teller()) {
            closed_parts_.push_back({draining_.front().end, std::move(tell)});
            if (closed_parts_.size() > kMostClosed)
                closed_parts_.pop_front();
        }
        closer_.add([this, part = draining_.front().part] {
            // Also where it throws: parts behind one that lacks samples are none of the recording.
            const auto look = [&] {
                broken_ = broken_ || !part->whole();
                stored_ += part->stored().value_or(0);
            };
            try {
                part->close(Stop::drain);
            } catch (...) {
                look();
                throw;
            }
            look();
            closed_.fetch_add(1, std::memory_order_relaxed);
            sealer_.add([part] { part->seal(); });
        });
        draining_.pop_front();
    }
}

void RotatingSink::service()
{
    news_.clear();
    for (Open& open : draining_)
        open.part->service();
    current_.part->service();
    hand_over();
    put_held();
    closer_.check();
    sealer_.check();
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

// Blocks are done with in the order of the stream: none is, as long as one before it is not.
std::size_t RotatingSink::pending() const noexcept
{
    std::size_t pending = held_ ? 1 : 0;
    bool behind = false; // one that is not done with
    const auto add = [&](const Open& open) {
        const std::size_t own = open.part->pending();
        pending += behind ? open.given : own;
        behind = behind || own != 0;
    };
    for (const Open& open : draining_)
        add(open);
    add(current_);
    return pending;
}

std::uint64_t RotatingSink::progress() const noexcept
{
    return closed_.load(std::memory_order_relaxed) + first_->progress();
}

// No part gets larger than the limit of a process' files, if it is not that small.
std::uint64_t RotatingSink::room() const noexcept
{
    return sys::free_space(place_);
}

void RotatingSink::discard(Part& part) noexcept
{
    try {
        part.close(Stop::abort);
    } catch (const std::exception&) {
        // It is not wanted.
    }
    for (const std::string& file : part.files()) {
        sys::remove_file(file);
        sys::remove_file(journal_path(file));
    }
}

void RotatingSink::stop(Stop how)
{
    if (!std::exchange(open_, false))
        return;
    std::exception_ptr failure;
    held_.reset();
    opener_.finish();
    if (next_)
        discard(*std::exchange(next_, nullptr));
    closer_.finish();
    draining_.push_back(current_);
    for (Open& open : draining_) {
        unwatch(open);
        if (broken_) { // one before it lacks samples
            discard(*open.part);
            names_.pop_back();
            continue;
        }
        try {
            open.part->close(how);
        } catch (...) {
            failure = std::current_exception();
        }
        broken_ = !open.part->whole();
        stored_ += open.part->stored().value_or(0);
        if (how == Stop::drain && failure == nullptr)
            sealer_.add([part = open.part] { part->seal(); });
    }
    draining_.clear();
    // What could not be made, or got nothing, has removed itself.
    if ((broken_ || stored_ == 0) && !names_.empty() && !sys::path_exists(names_.back()))
        names_.pop_back();
    sealer_.finish();
    current_ = {current_.part->sibling(0)}; // of another stream
    if (failure != nullptr)
        std::rethrow_exception(failure);
    closer_.check();
    sealer_.check();
}

std::string RotatingSink::report() const
{
    nlohmann::json report{{"files", names_}};
    if (!removed_.empty())
        report["removed"] = removed_;
    return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace iio_stream::file
