// SPDX-License-Identifier: MIT
#include "iio/buffer/dmabuf_queue.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"
#include "sys/memory/dmabuf.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace iio_stream::iio {

namespace {

/// The first and the last pause during which the kernel can find memory for descriptors.
constexpr std::int64_t kFirstPauseNs = 10'000'000, kLastPauseNs = 160'000'000;

// Why ENQUEUE failed, for errnos with misleading texts.
std::string hint_for(int error)
{
    switch (error) {
    case ENOMEM:
        return "the kernel could not allocate a descriptor of that many segments: use smaller "
               "blocks, or "
               "memory=heap:system";
    case EBUSY:
        return "another device still uses the block, or the buffer is in fileio mode";
    default:
        return "";
    }
}

} // namespace

sys::Attach attach(BufferDir& dir, int buffer_fd, int dmabuf_fd, int& error)
{
    sys::Attach result = sys::iio_attach(buffer_fd, dmabuf_fd, error);
    if (result == sys::Attach::busy && !dir.is_enabled()) {
        dir.leave_fileio();
        result = sys::iio_attach(buffer_fd, dmabuf_fd, error);
    }
    return result;
}

DmabufQueue::~DmabufQueue()
{
    detach();
}

bool DmabufQueue::attach(BufferDir& dir, const BlockPool& pool, int& error)
{
    detach();
    queue_.reset(pool.count());
    last_end_ns_ = 0;
    promised_ = 0;
    interval_ns_ = kCoalesceNs;
    kept_ = pool.keep_dmabufs();
    dmabufs_.reserve(pool.count());
    for (std::size_t i = 0; i < pool.count(); ++i) {
        const int dmabuf = pool.dmabuf(i);
        if (iio::attach(dir, buffer_fd_, dmabuf, error) != sys::Attach::done) {
            detach();
            if (error == EBUSY)
                sys::fail(EBUSY, "IIO_BUFFER_DMABUF_ATTACH", "block " + std::to_string(i),
                          "the buffer is in fileio mode: another program streams from it");
            return false;
        }
        dmabufs_.push_back(dmabuf);
    }
    if (!dmabufs_.empty())
        sys::make_stub_fence(dmabufs_.front());
    return true;
}

void DmabufQueue::detach() noexcept
{
    queue_.clear();
    for (const int dmabuf : dmabufs_)
        sys::iio_detach(buffer_fd_, dmabuf);
    dmabufs_.clear();
    kept_.reset();
}

DmabufQueue::Put DmabufQueue::enqueue(std::size_t index, std::size_t bytes, bool cyclic)
{
    const int dmabuf = dmabufs_[index];
    Put put = Put::queued;
    const std::int64_t asked_ns = sys::monotonic_ns();
    int error = sys::iio_enqueue(buffer_fd_, dmabuf, bytes, cyclic);
    if (error == EBUSY) {
        // A failed submit leaves the block active forever; only a new attachment frees it.
        put = Put::stuck;
        sys::iio_detach(buffer_fd_, dmabuf);
        if (sys::iio_attach(buffer_fd_, dmabuf, error) == sys::Attach::done)
            error = sys::iio_enqueue(buffer_fd_, dmabuf, bytes, cyclic);
    }
    if (error != 0)
        sys::fail(error, "IIO_BUFFER_DMABUF_ENQUEUE",
                  "block " + std::to_string(index) + " of " + std::to_string(bytes) + " bytes",
                  hint_for(error));
    sys::UniqueFd fence = sys::dmabuf_export_sync_file(dmabuf);
    queue_.push({index, bytes, std::move(fence), asked_ns, sys::monotonic_ns(), cyclic});
    return put;
}

// Switching on makes the DMA driver allocate its descriptors, without waiting for memory. If the
// device is not coherent, they come from a pool of 128 KiB for each GiB of memory. The pool grows
// by itself only after it has run low, which is too late for the first stream after boot.
unsigned DmabufQueue::switch_on(BufferDir& dir)
{
    on_ns_ = sys::monotonic_ns();
    dir.enable();
    unsigned again = 0;
    for (std::int64_t pause = kFirstPauseNs; pause <= kLastPauseNs && refused(); pause *= 2) {
        dir.disable();
        (void)sys::wait_for(-1, 0, sys::monotonic_ns() + pause);
        renew(true);
        on_ns_ = sys::monotonic_ns();
        dir.enable();
        ++again;
    }
    return again;
}

// A refused block has ended, so running blocks need not be queried. One poll() replaces one query
// per block.
bool DmabufQueue::refused() const
{
    std::vector<pollfd> fds;
    for (std::size_t i = 0; i < queue_.size(); ++i)
        fds.push_back({queue_.at(i).fence.get(), POLLIN, 0});
    if (::poll(fds.data(), fds.size(), 0) <= 0)
        return false;
    return std::any_of(fds.begin(), fds.end(), [](const pollfd& fence) {
        return fence.revents != 0 && sys::sync_file_info(fence.fd).status == -ENOMEM;
    });
}

void DmabufQueue::renew(bool cyclic)
{
    for (const int dmabuf : dmabufs_)
        sys::iio_detach(buffer_fd_, dmabuf);
    // All blocks are attached before the first ENQUEUE, because an ATTACH drops the queued blocks.
    for (const int dmabuf : dmabufs_)
        if (int error = 0; sys::iio_attach(buffer_fd_, dmabuf, error) != sys::Attach::done)
            sys::fail(error, "IIO_BUFFER_DMABUF_ATTACH", "a block again");
    for (std::size_t i = queue_.size(); i != 0; --i) {
        const Flight flight = queue_.pop();
        (void)enqueue(flight.index, flight.bytes, cyclic && flight.cyclic);
    }
}

int DmabufQueue::wait_fd() noexcept
{
    if (queue_.empty())
        return -1;
    const auto together =
        static_cast<std::size_t>(kCoalesceNs / std::max<std::int64_t>(interval_ns_, 1));
    promised_ = std::clamp<std::size_t>(together, 1, (queue_.size() + 1) / 2);
    return queue_.at(promised_ - 1).fence.get();
}

bool DmabufQueue::is_busy()
{
    return !queue_.empty() &&
           sys::sync_file_info(queue_.at(queue_.size() - 1).fence.get()).status == 0;
}

int DmabufQueue::status(std::size_t n) const
{
    return sys::sync_file_info(queue_.at(n).fence.get()).status;
}

int DmabufQueue::last_fd() const noexcept
{
    return queue_.empty() ? -1 : queue_.at(queue_.size() - 1).fence.get();
}

void DmabufQueue::keep_first()
{
    Flight first = queue_.pop();
    while (!queue_.empty())
        (void)queue_.pop();
    queue_.push(std::move(first));
}

std::optional<Completion> DmabufQueue::take()
{
    if (queue_.empty() || promised_ == 0)
        return std::nullopt;
    const sys::FenceInfo fence = sys::sync_file_info(queue_.front().fence.get());
    if (fence.status == 0)
        return std::nullopt;
    --promised_;
    const Flight flight = queue_.pop();
    Completion done{flight.index, Completion::State::complete, 0,
                    fence.ns,     flight.enqueued_ns,          fence.ns};
    if (fence.pruned(flight.asked_ns)) {
        // The fence had signalled before it could be exported, so its status is lost. Blocks end in
        // order, so a block that ended while an older one was still running was not transferred at
        // all.
        done.ns = flight.enqueued_ns;
        done.earliest_ns = flight.asked_ns;
        done.state = Completion::State::unverified;
        if (last_end_ns_ > flight.enqueued_ns) {
            done.state = Completion::State::failed;
            done.error = EIO;
        }
    } else if (fence.status < 0) {
        done.error = -fence.status;
        // IIO ends blocks with EINTR when their buffer is disabled, aborted or unplugged.
        done.state = done.error == EINTR ? Completion::State::cancelled : Completion::State::failed;
    }
    if (last_end_ns_ != 0 && done.ns > last_end_ns_)
        interval_ns_ += (done.ns - last_end_ns_ - interval_ns_) / 8;
    last_end_ns_ = std::max(last_end_ns_, done.ns);
    return done;
}

} // namespace iio_stream::iio
