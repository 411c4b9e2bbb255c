// SPDX-License-Identifier: MIT
#include "file/io/direct_input.hpp"

#include "core/base/align.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <poll.h>

namespace iio_stream::file {

namespace {

constexpr std::int64_t kReadGraceNs =
    1'000'000'000;                                  ///< wait for requests whose data are not needed
constexpr std::int64_t kTimeoutNs = 30'000'000'000; ///< for a disk that does not respond

// A stage takes a whole block, whatever its alignment in the file.
std::size_t read_stage_bytes(std::size_t block_size, std::size_t align)
{
    return detail::round_up(block_size + 2 * align, std::lcm(align, detail::kPage));
}

} // namespace

DirectInput::DirectInput(const OpenInput& file, const DirectReading& reading, BlockPool& pool,
                         std::unique_ptr<sys::IoQueue> io)
    : file_(file),
      reading_(reading),
      ranges_(file.ranges.value_or(std::vector<ByteRange>{{0, reading.size}})),
      // Two stages are enough unless everything is staged.
      stages_(Memory{}, read_stage_bytes(pool.block_size(), reading.io.offset_align),
              reading.staged ? reading.depth : 2, CpuUse::mapped),
      registered_(reading.staged ? 0 : pool.count()),
      slots_(pool.count()),
      requests_(reading.depth),
      io_(std::move(io)),
      at_(ranges_.empty() ? 0 : ranges_.front().begin),
      no_more_(ranges_.empty() || reading.size == 0)
{
    queue_.reset(pool.count());
    for (std::size_t i = requests_.size(); i-- > 0;)
        idle_.push_back(i);
    if (io_ == nullptr)
        io_ = make_io_queue(reading_.engine, file_.fd, file_.path, requests_.size(), pool,
                            registered_, stages_);
}

// Requests that are still in flight at the deadline do no harm: the kernel keeps their pages.
DirectInput::~DirectInput()
{
    no_more_ = true;
    started_ = queue_.size();
    const std::int64_t deadline = sys::after(kReadGraceNs);
    try {
        while (idle_.size() < requests_.size() && sys::wait_for(io_->fd(), POLLIN, deadline))
            service();
    } catch (...) {
        // Nothing more can be done for these requests.
    }
}

void DirectInput::submit(EmptyBlock block, std::size_t bytes)
{
    const std::size_t index = block.index();
    slots_[index].order.emplace(detail::FillRequest{std::move(block), bytes});
    queue_.push(index);
    start_reads();
}

void DirectInput::start_reads()
{
    while (started_ < queue_.size() && !no_more_ && !idle_.empty()) {
        const std::size_t index = queue_.at(started_);
        Slot& slot = slots_[index];
        if (!start_piece(slot, index))
            return;
        if (begun_ < slot.order->bytes && !no_more_)
            continue; // the seam of a loop is in this block
        slot.order->bytes = std::exchange(begun_, 0);
        slot.whole = true;
        ++started_;
    }
}

bool DirectInput::in_place(const Slot& slot, std::size_t bytes) const noexcept
{
    const std::size_t align = reading_.io.offset_align;
    if (reading_.staged || at_ % align != 0 || begun_ % reading_.io.memory_align != 0)
        return false;
    // Bytes read beyond the end must fit into the block and overwrite nothing in it.
    const bool at_end = !file_.loop && range_ + 1 == ranges_.size();
    const bool last = begun_ + bytes == slot.order->bytes || at_end;
    return bytes % align == 0 ||
           (last && begun_ + detail::round_up(bytes, align) <= slot.order->block.capacity());
}

// Requests as many bytes as are contiguous in the file; false if no stage is free for them.
bool DirectInput::start_piece(Slot& slot, std::size_t index)
{
    const std::size_t align = reading_.io.offset_align;
    const auto bytes = static_cast<std::size_t>(
        std::min<std::uint64_t>(slot.order->bytes - begun_, ranges_[range_].end - at_));
    Request& request = requests_[idle_.back()];
    if (in_place(slot, bytes)) {
        if (!slot.access)
            slot.access.emplace(slot.order->block);
        request.data = slot.access->bytes().subspan(begun_, detail::round_up(bytes, align));
        request.buffer = index;
        request.skip = 0;
    } else {
        request.stage = stages_.take();
        if (!request.stage)
            return false;
        if (!slot.access)
            slot.access.emplace(slot.order->block);
        request.skip = static_cast<std::size_t>(at_ % align);
        request.buffer = registered_ + request.stage->index();
        request.data = stages_.mapping(request.stage->index())
                           .first(detail::round_up(request.skip + bytes, align));
        request.target = slot.access->bytes().subspan(begun_, bytes);
    }
    request.offset = at_ - request.skip;
    request.wanted = request.skip + bytes;
    request.came = 0;
    request.slot = index;
    ++slot.open;
    if (idle_.size() == requests_.size())
        progress_ns_ = sys::monotonic_ns();
    const std::size_t tag = idle_.back();
    idle_.pop_back();
    begun_ += bytes;
    advance(bytes);
    put(tag);
    return true;
}

// This relies on the fact that no range is empty.
void DirectInput::advance(std::size_t bytes) noexcept
{
    at_ += bytes;
    if (at_ != ranges_[range_].end)
        return;
    no_more_ = range_ + 1 == ranges_.size() && !file_.loop;
    if (no_more_)
        return;
    range_ = (range_ + 1) % ranges_.size();
    at_ = ranges_[range_].begin;
}

// Submits a request. After a short read, submits the rest of it, starting at an aligned place.
void DirectInput::put(std::size_t tag)
{
    const Request& request = requests_[tag];
    const std::size_t done = request.came / reading_.io.offset_align * reading_.io.offset_align;
    io_->read(request.data.subspan(done), request.offset + done, request.buffer, tag);
}

void DirectInput::service()
{
    while (const auto completed = io_->take())
        handle(*completed);
    start_reads();
}

void DirectInput::handle(const sys::Completed& completed)
{
    progress_ns_ = sys::monotonic_ns();
    Request& request = requests_[completed.tag];
    int error = 0;
    if (completed.result >= 0) {
        const std::size_t align = reading_.io.offset_align;
        const std::size_t came =
            request.came / align * align + static_cast<std::size_t>(completed.result);
        if (came <= request.came && came < request.wanted)
            error = ENODATA; // the file ends there now
        request.came = std::max(came, request.came);
    } else if (completed.result != -EINTR && completed.result != -EAGAIN) {
        error = static_cast<int>(-completed.result);
    }
    if (error == 0 && request.came < request.wanted)
        return put(completed.tag);
    close_piece(request, error);
    idle_.push_back(completed.tag);
}

void DirectInput::close_piece(Request& request, int error)
{
    Slot& slot = slots_[request.slot];
    if (error != 0 && slot.error == 0) {
        slot.error = error;
        slot.error_at = request.offset + request.came;
    }
    if (request.stage && error == 0)
        std::memcpy(request.target.data(), request.data.data() + request.skip,
                    request.target.size());
    request.stage.reset();
    if (--slot.open == 0 && slot.whole)
        slot.access.reset();
}

bool DirectInput::front_is_whole() const noexcept
{
    const Slot& slot = slots_[queue_.front()];
    return slot.whole && slot.open == 0;
}

Got DirectInput::take()
{
    service();
    if (no_more_ && started_ == 0)
        return {std::nullopt, true};
    if (queue_.empty() || !front_is_whole())
        return {};
    Slot& slot = slots_[queue_.front()];
    if (slot.error != 0)
        fail(slot);
    Got got{std::move(slot.order), false};
    slot.order.reset();
    slot.whole = false;
    (void)queue_.pop();
    --started_;
    got.ended = no_more_ && started_ == 0;
    return got;
}

Wait DirectInput::wait()
{
    if (queue_.empty())
        return {};
    const bool ready = front_is_whole() || (no_more_ && started_ == 0);
    return {io_->fd(), POLLIN, 0, ready};
}

void DirectInput::on_timeout()
{
    if (idle_.size() < requests_.size() && sys::monotonic_ns() > progress_ns_ + kTimeoutNs)
        throw Error(Fault::storage, ETIMEDOUT, "read", file_.path,
                    "the disk has not answered for " + std::to_string(kTimeoutNs / 1'000'000'000) +
                        " s");
}

void DirectInput::fail(const Slot& slot) const
{
    const std::string place = "at byte " + std::to_string(slot.error_at);
    if (slot.error == ENODATA)
        throw Error(
            Fault::storage, ENODATA, "read", file_.path,
            "it had " + std::to_string(reading_.size) + " bytes when the stream began, and " +
                std::to_string(sys::file_size(file_.fd, file_.path)) + " now: it was truncated",
            "direct=off reads whatever is left");
    throw Error(Fault::storage, slot.error, "read", file_.path,
                std::string(std::strerror(slot.error)) + " " + place,
                slot.error == EINVAL ? "direct=off reads through the page cache" : "");
}

} // namespace iio_stream::file
