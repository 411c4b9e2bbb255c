// SPDX-License-Identifier: MIT
#include "bench/transfer.hpp"

#include "sys/event.hpp"
#include "sys/fail.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace iio_stream::bench {

namespace {

constexpr std::int64_t kDeadlineNs = 60'000'000'000; ///< longest wait for a completion

sys::CpuAccess access_of(Direction direction) noexcept
{
    return direction == Direction::write ? sys::CpuAccess::read : sys::CpuAccess::write;
}

bool is_direct(Method method) noexcept
{
    return method == Method::direct || method >= Method::libaio;
}

} // namespace

const char* name_of(Method method) noexcept
{
    static constexpr const char* kNames[] = {
        "buffered",        "direct", "sendfile", "splice",
        "copy_file_range", "libaio", "io_uring", "io_uring-registered"};
    return kNames[static_cast<std::size_t>(method)];
}

const char* name_of(Direction direction) noexcept
{
    return direction == Direction::write ? "write" : "read";
}

Transfer::Transfer(Method method, Direction direction, const Area& area, const BenchFile& file,
                   std::size_t depth)
    : method_(method),
      direction_(direction),
      area_(area),
      file_(file),
      fd_(is_direct(method) ? file.direct() : file.buffered()),
      flights_(depth)
{
    if (method == Method::splice) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) < 0)
            sys::fail(errno, "pipe2", "for splice()");
        pipe_out_ = sys::UniqueFd{ends[0]};
        pipe_in_ = sys::UniqueFd{ends[1]};
        sys::widen_pipe(pipe_in_.get());
    } else if (method == Method::libaio) {
        queue_ = sys::make_aio_queue(fd_, file.path(), depth);
    } else if (method == Method::io_uring) {
        queue_ = sys::make_uring_queue(fd_, file.path(), depth, {});
    } else if (method == Method::io_uring_registered) {
        queue_ = sys::make_uring_queue(fd_, file.path(), depth, area.blocks());
        if (queue_->register_error() != 0)
            sys::fail(queue_->register_error(), "io_uring_register_buffers", "the blocks");
    }
}

bool Transfer::run(const std::atomic<bool>& stop)
{
    const bool all = queue_ ? in_flight(stop) : in_order(stop);
    if (all && direction_ == Direction::write)
        file_.sync(); // data in the cache is not written yet
    return all;
}

void Transfer::failed(int error) const
{
    const std::string verb = direction_ == Direction::write ? "write" : "read";
    const bool by_name = method_ == Method::sendfile || method_ == Method::splice ||
                         method_ == Method::copy_file_range;
    const std::string operation = by_name  ? name_of(method_)
                                  : queue_ ? std::string(name_of(method_)) + " " + verb
                                           : "p" + verb;
    sys::fail(error, operation.c_str(), file_.path());
}

std::ptrdiff_t Transfer::through_pipe(const FileOffset& from, const FileOffset& to,
                                      std::size_t bytes)
{
    auto from_offset = static_cast<off64_t>(from.offset);
    auto to_offset = static_cast<off64_t>(to.offset);
    const ssize_t in =
        ::splice(from.fd, &from_offset, pipe_in_.get(), nullptr, bytes, SPLICE_F_MOVE);
    for (ssize_t out = 0; out < in;) {
        const ssize_t moved = ::splice(pipe_out_.get(), nullptr, to.fd, &to_offset,
                                       static_cast<std::size_t>(in - out), SPLICE_F_MOVE);
        if (moved < 0 && errno == EINTR)
            continue; // the pipe must be emptied
        if (moved <= 0)
            return moved;
        out += moved;
    }
    return in;
}

std::ptrdiff_t Transfer::step(std::size_t index, std::size_t done)
{
    const std::span<std::byte> data = area_.block(index).subspan(done);
    const FileOffset memory{area_.file_offset(index).fd, area_.file_offset(index).offset + done};
    const FileOffset disk{fd_, area_.offset(index) + done};
    const bool write = direction_ == Direction::write;
    const FileOffset from = write ? memory : disk, to = write ? disk : memory;
    auto from_offset = static_cast<off64_t>(from.offset);
    auto to_offset = static_cast<off64_t>(to.offset);
    switch (method_) {
    case Method::sendfile:
        // sendfile() writes at the file position.
        if (::lseek(to.fd, to_offset, SEEK_SET) < 0)
            return -1;
        return ::sendfile64(to.fd, from.fd, &from_offset, data.size());
    case Method::splice:
        return through_pipe(from, to, data.size());
    case Method::copy_file_range:
        return ::copy_file_range(from.fd, &from_offset, to.fd, &to_offset, data.size(), 0);
    default:
        if (write)
            return ::pwrite(fd_, data.data(), data.size(), to_offset);
        return ::pread(fd_, data.data(), data.size(), from_offset);
    }
}

bool Transfer::in_order(const std::atomic<bool>& stop)
{
    for (std::size_t i = 0; i < area_.count(); ++i) {
        const Use use(area_, i, access_of(direction_));
        for (std::size_t done = 0; done < area_.block(i).size();) {
            if (stop)
                return false;
            const std::ptrdiff_t moved = step(i, done);
            if (moved < 0 && errno == EINTR)
                continue;
            if (moved <= 0)
                failed(moved < 0 ? errno : EIO); // 0: the file is shorter than expected
            done += static_cast<std::size_t>(moved);
        }
    }
    return true;
}

int Transfer::submit(std::size_t tag)
{
    const Flight& flight = flights_[tag];
    const auto data = area_.block(flight.index).subspan(flight.done);
    const std::uint64_t offset = area_.offset(flight.index) + flight.done;
    try {
        if (direction_ == Direction::write)
            queue_->write(data, offset, flight.index, tag);
        else
            queue_->read(data, offset, flight.index, tag);
        return 0;
    } catch (const Error& error) {
        return error.code().value();
    }
}

bool Transfer::in_flight(const std::atomic<bool>& stop)
{
    std::size_t next = 0, in_kernel = 0;
    int error = 0;
    const auto end = [&](std::size_t tag, int with) {
        if (error == 0)
            error = with;
        flights_[tag].use.reset();
        --in_kernel;
    };
    const auto submit_next = [&](std::size_t tag) {
        if (next == area_.count() || stop || error != 0)
            return;
        flights_[tag].use.emplace(area_, next, access_of(direction_));
        flights_[tag].index = next++;
        flights_[tag].done = 0;
        ++in_kernel;
        if (const int refused = submit(tag); refused != 0)
            end(tag, refused);
    };
    for (std::size_t tag = 0; tag < flights_.size(); ++tag)
        submit_next(tag);
    // Wait for all requests even after an error, so that none completes during the next cell.
    while (in_kernel != 0) {
        const auto completed = queue_->take();
        if (!completed) {
            if (!sys::wait_for(queue_->fd(), POLLIN, sys::after(kDeadlineNs)))
                failed(ETIMEDOUT);
            continue;
        }
        Flight& flight = flights_[completed->tag];
        if (completed->result <= 0) {
            end(completed->tag, completed->result < 0 ? static_cast<int>(-completed->result) : EIO);
            continue;
        }
        flight.done += static_cast<std::size_t>(completed->result);
        int refused = 0;
        const bool whole = flight.done == area_.block(flight.index).size();
        if (!whole && (refused = submit(completed->tag)) == 0)
            continue;
        end(completed->tag, refused);
        submit_next(completed->tag);
    }
    if (error != 0)
        failed(error);
    return next == area_.count();
}

} // namespace iio_stream::bench
