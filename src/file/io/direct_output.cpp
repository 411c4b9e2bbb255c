// SPDX-License-Identifier: MIT
#include "file/io/direct_output.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <poll.h>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::int64_t kWriteGraceNs = 400'000'000; ///< wait for requests whose data are not needed

Error failed_to(const char* what, const OpenFile& file, int error)
{
    std::string hint;
    if (error == ENOSPC)
        hint = "free some space, or record less: --bytes, --duration";
    if (error == EINVAL)
        hint = "direct=off writes through the page cache";
    return {Fault::storage, error, what, file.path, {}, hint};
}

} // namespace

// A stage takes any whole block, so that each block needs at most one request.
std::size_t write_stage_bytes(std::size_t block_size, std::size_t align)
{
    constexpr std::size_t kSmallest = 1 << 20;
    return detail::round_up(std::max(kSmallest, block_size), std::lcm(align, detail::kPage));
}

DirectOutput::DirectOutput(const OpenFile& file, const DirectSettings& settings,
                           const StreamInfo& stream, BlockPool& pool, int cancel,
                           std::unique_ptr<sys::IoQueue> queue)
    : file_(file),
      settings_(settings),
      depth_(settings.depth),
      registered_(settings.staged ? 0 : pool.count()),
      most_bytes_(stream.block_size),
      timeout_ns_(std::max(stream.timeout_ns, kFinishTimeoutNs)),
      cancel_(cancel),
      // Without staging, two stages are enough for unaligned data.
      stages_(Memory{}, write_stage_bytes(stream.block_size, settings.io.offset_align),
              settings.staged ? settings.depth + 1 : 2, CpuUse::mapped),
      requests_(settings.depth),
      queue_(std::move(queue))
{
    if (queue_ == nullptr)
        queue_ = make_io_queue(settings_.engine, file_.fd, file_.path, depth_, pool, registered_,
                               stages_);
}

// Allocates space for the first samples, before the stream starts.
void DirectOutput::start()
{
    while (may_reserve() && reserved_ == 0) {
        reserving_ = settings_.ahead;
        reserved(-sys::allocate_file(file_.fd, file_.begin, reserving_));
    }
}

bool DirectOutput::may_block() const noexcept
{
    return settings_.staged || queue_->may_block(); // copying takes time too
}

bool DirectOutput::aligned() const noexcept
{
    return stage_used_ == 0 && position_ % settings_.io.offset_align == 0;
}

bool DirectOutput::ready() const noexcept
{
    if (count_ == depth_)
        return false;
    if (settings_.ahead != 0 && position_ + most_bytes_ > reserved_)
        return false; // the file is being extended
    return (!settings_.staged && aligned()) || stages_.available() > 0;
}

void DirectOutput::submit(Block filled)
{
    if (!settings_.staged && aligned() && filled.offset() % settings_.io.memory_align == 0 &&
        filled.bytes() >= settings_.io.offset_align) {
        write_in_place(std::move(filled));
    } else {
        const CpuRead data{filled};
        copy(data.bytes());
    }
    reserve_ahead();
}

void DirectOutput::write_in_place(Block filled)
{
    const std::size_t bytes =
        filled.bytes() / settings_.io.offset_align * settings_.io.offset_align;
    Request& request = next_request();
    ++in_place_;
    request.filled.emplace(std::move(filled));
    request.access.emplace(*request.filled);
    request.data = request.access->bytes().first(bytes);
    request.valid_bytes = bytes;
    request.buffer = request.filled->index();
    request.offset = position_;
    position_ += bytes;
    copy(request.access->bytes().subspan(bytes)); // the tail, if there is one
    put(request);
}

void DirectOutput::copy(std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        if (!stage_)
            stage_ = stages_.take(); // ready() makes sure that there is one
        const CpuWrite out{*stage_};
        const std::size_t part = std::min(bytes.size(), out.bytes().size() - stage_used_);
        std::memcpy(out.bytes().data() + stage_used_, bytes.data(), part);
        stage_used_ += part;
        position_ += part;
        bytes = bytes.subspan(part);
        if (stage_used_ == out.bytes().size())
            flush_stage();
    }
}

void DirectOutput::flush_stage()
{
    Request& request = next_request();
    const CpuWrite out{*stage_};
    const std::size_t padded = detail::round_up(stage_used_, settings_.io.offset_align);
    std::memset(out.bytes().data() + stage_used_, 0, padded - stage_used_);
    request.data = out.bytes().first(padded);
    request.valid_bytes = stage_used_;
    request.buffer = registered_ + stage_->index();
    request.offset = position_ - stage_used_;
    request.stage = std::move(stage_);
    stage_.reset();
    stage_used_ = 0;
    put(request);
}

void DirectOutput::put(Request& request)
{
    queue_->write(request.data.subspan(request.done), file_.begin + request.offset + request.done,
                  request.buffer, static_cast<std::size_t>(&request - requests_.data()));
    ++in_flight_;
}

void DirectOutput::service()
{
    while (const auto completed = queue_->take()) {
        --in_flight_;
        handle(*completed);
    }
    retire();
    reserve_ahead();
    if (settings_.sync_every != 0 && !syncing_ && valid_ - synced_ >= settings_.sync_every) {
        queue_->sync(depth_ + 1);
        ++in_flight_;
        syncing_ = true;
        synced_ = valid_;
    }
}

void DirectOutput::handle(const sys::Completed& completed)
{
    if (completed.tag == depth_)
        return reserved(completed.result);
    if (completed.tag == depth_ + 1) {
        syncing_ = false;
        if (completed.result < 0) // not retried: the data that were not written are lost
            throw failed_to("fdatasync", file_, static_cast<int>(-completed.result));
        return;
    }
    Request& request = requests_[completed.tag];
    if (completed.result >= 0) { // after a short write the rest must start aligned again
        const std::size_t written = request.done + static_cast<std::size_t>(completed.result);
        if (written <= request.written) // no progress
            throw failed_to("write", file_, ENOSPC);
        request.written = written;
        request.done = written / settings_.io.offset_align * settings_.io.offset_align;
    } else if (completed.result != -EINTR && completed.result != -EAGAIN) {
        // A write cut short by the process' file size limit leaves an unaligned rest.
        const bool limited =
            file_.begin + request.offset + request.data.size() > sys::file_size_limit();
        throw failed_to(
            "write", file_,
            completed.result == -EINVAL && limited ? EFBIG : static_cast<int>(-completed.result));
    }
    if (request.done < request.data.size())
        return put(request);
    request.ended = true;
    request.access.reset();
    request.filled.reset(); // the block goes back, even if earlier requests are pending
    request.stage.reset();
}

void DirectOutput::retire()
{
    while (count_ > 0 && requests_[first_].ended) {
        Request& request = requests_[first_];
        valid_ = request.offset + request.valid_bytes;
        if (request.buffer < registered_)
            --in_place_;
        request.ended = false;
        request.done = request.written = 0;
        first_ = (first_ + 1) % depth_;
        --count_;
    }
}

Wait DirectOutput::wait()
{
    return in_flight_ == 0 ? Wait{} : Wait{queue_->fd(), POLLIN};
}

// Beyond the process' file size limit an allocation raises a signal instead of an error.
bool DirectOutput::may_reserve() noexcept
{
    while (settings_.ahead != 0 &&
           file_.begin + reserved_ + settings_.ahead > sys::file_size_limit())
        settings_.ahead = settings_.ahead > 2 * most_bytes_ ? settings_.ahead / 2 : 0;
    return settings_.ahead != 0;
}

void DirectOutput::reserve_ahead()
{
    if (settings_.ahead == 0 || reserving_ != 0)
        return;
    const bool enough = settings_.expected != 0 && reserved_ >= settings_.expected;
    const bool urgent = position_ + most_bytes_ > reserved_;
    if (!urgent && (enough || reserved_ - position_ > settings_.ahead / 2))
        return;
    if (enough) // more data arrived than expected: reserve smaller pieces
        settings_.ahead = std::min<std::uint64_t>(settings_.ahead, 4 * most_bytes_);
    if (!may_reserve())
        return;
    reserving_ = settings_.ahead;
    queue_->allocate(file_.begin + reserved_, reserving_, depth_);
    ++in_flight_;
}

// If there is no space for a large piece, there may be space for a smaller one. Without any space,
// the writes themselves fail.
void DirectOutput::reserved(std::ptrdiff_t result)
{
    const std::uint64_t bytes = std::exchange(reserving_, 0);
    if (result == -EINTR)
        return; // reserve_ahead() tries again
    if (result == 0)
        reserved_ += bytes;
    else if (result == -ENOSPC && settings_.ahead > 2 * most_bytes_)
        settings_.ahead /= 2;
    else
        settings_.ahead = 0;
    if (result != 0 && result != -ENOSPC)
        reserve_error_ = static_cast<int>(-result);
}

std::string DirectOutput::remark() const
{
    std::string text = queue_remark(*queue_);
    if (reserve_error_ != 0)
        detail::add_clause(text, std::string("space is allocated with each write: fallocate: ") +
                                     std::strerror(reserve_error_));
    return text;
}

// Waits until at most `in_flight` requests are left.
void DirectOutput::await(std::size_t in_flight, std::int64_t patience_ns)
{
    std::int64_t deadline = sys::after(patience_ns);
    for (;;) {
        const std::size_t before = in_flight_;
        service();
        if (in_flight_ <= in_flight)
            return;
        if (in_flight_ != before)
            deadline = sys::after(patience_ns);
        const std::int64_t left = deadline - sys::monotonic_ns();
        pollfd fds[] = {{queue_->fd(), POLLIN, 0}, {cancel_, POLLIN, 0}};
        if (left > 0)
            (void)::poll(fds, 2, static_cast<int>(left / 1'000'000 + 1));
        if (left <= 0 || (fds[1].revents != 0 && patience_ns > kWriteGraceNs))
            throw Error(Fault::storage, ETIMEDOUT, "write", file_.path,
                        std::to_string(in_flight_) + " requests have not ended",
                        "iio-stream recover makes a valid recording of what is there");
    }
}

void DirectOutput::finish(Stop how)
{
    if (how == Stop::drain) {
        settings_.ahead = 0;
        if (count_ == depth_)
            await(depth_ - 1, timeout_ns_);
        if (stage_used_ != 0)
            flush_stage();
        await(0, timeout_ns_);
        return;
    }
    // More requests may fail now, as the first one did. It only matters that they end.
    settings_.ahead = settings_.sync_every = 0;
    const std::int64_t deadline = sys::after(kWriteGraceNs);
    while (in_flight_ != 0)
        try {
            await(0, std::max<std::int64_t>(deadline - sys::monotonic_ns(), 0));
        } catch (const Error& error) {
            if (error.code().value() == ETIMEDOUT)
                throw;
        }
    retire();
    if (count_ > 0) // the request that failed may have written some bytes
        valid_ = requests_[first_].offset +
                 std::min(requests_[first_].written, requests_[first_].valid_bytes);
}

} // namespace iio_stream::file
