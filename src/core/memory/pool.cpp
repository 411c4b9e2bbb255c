// SPDX-License-Identifier: MIT
#include "core/memory/pool.hpp"

#include <cassert>
#include <utility>

namespace iio_stream {

namespace detail {

Pool::Pool(Storage storage, std::size_t count)
    : storage_(std::move(storage)),
      count_(count),
      slots_(std::make_unique<Slot[]>(count)),
      mine_(0),
      returned_(end())
{
    for (std::uint32_t i = 0; i < end(); ++i) {
        slots_[i].pool = this;
        slots_[i].index = i;
        slots_[i].next = i + 1;
    }
}

std::optional<EmptyBlock> Pool::take() noexcept
{
    if (mine_ == end()) {
        // Acquire: the last holder is done with the buffer before it is filled again.
        mine_ = returned_.exchange(end(), std::memory_order_acq_rel);
        if (mine_ == end())
            return std::nullopt;
    }
    Slot& slot = slots_[mine_];
    mine_ = slot.next;
    holders_.fetch_add(1, std::memory_order_relaxed);
    return EmptyBlock{&slot};
}

void Pool::limit(std::size_t count) noexcept
{
    assert(count != 0 && count <= count_ && mine_ == 0 && returned_.load() == end());
    count_ = count;
    slots_[count - 1].next = end();
    returned_.store(end());
}

void Pool::put(Slot& slot) noexcept
{
    slot.next = returned_.load(std::memory_order_relaxed);
    // Sequentially consistent, like arm(): either put() sees `armed_`, or arm() sees the buffer.
    while (!returned_.compare_exchange_weak(slot.next, slot.index, std::memory_order_seq_cst))
        ;
    if (armed_.load(std::memory_order_seq_cst) && armed_.exchange(false, std::memory_order_seq_cst))
        event_.set();
    release();
}

void Pool::release() noexcept
{
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete this;
}

bool Pool::arm() noexcept
{
    armed_.store(true, std::memory_order_seq_cst);
    if (mine_ == end() && returned_.load(std::memory_order_seq_cst) == end())
        return true;
    armed_.store(false, std::memory_order_relaxed);
    return false;
}

void Pool::disarm(bool readable) noexcept
{
    armed_.store(false, std::memory_order_relaxed);
    if (readable)
        event_.clear();
}

std::size_t Pool::available() const noexcept
{
    // A buffer is on the list before its last holder is released. If it is taken in between, it
    // counts twice.
    const std::size_t out = holders_.load(std::memory_order_relaxed) - 1;
    return out < count_ ? count_ - out : 0;
}

} // namespace detail

BlockPool::BlockPool(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use)
    : pool_(new detail::Pool(detail::Storage(memory, block_size, count, use), count))
{}

BlockPool& BlockPool::operator=(BlockPool&& other) noexcept
{
    std::swap(pool_, other.pool_);
    return *this;
}

BlockPool::~BlockPool()
{
    if (pool_ != nullptr)
        pool_->release();
}

void BlockPool::set_sample_timing(std::size_t sample_bytes, double sample_rate) noexcept
{
    pool_->set_sample_timing({sample_bytes, sample_rate});
}

std::optional<EmptyBlock> BlockPool::take() noexcept
{
    return pool_->take();
}
bool BlockPool::arm() noexcept
{
    return pool_->arm();
}
void BlockPool::disarm(bool readable) noexcept
{
    pool_->disarm(readable);
}
int BlockPool::fd() const noexcept
{
    return pool_->fd();
}
std::size_t BlockPool::count() const noexcept
{
    return pool_->count();
}
std::size_t BlockPool::available() const noexcept
{
    return pool_->available();
}

std::size_t BlockPool::block_size() const noexcept
{
    return pool_->storage().block_size();
}

const MemoryTraits& BlockPool::traits() const noexcept
{
    return pool_->storage().traits();
}

void BlockPool::limit(std::size_t count) noexcept
{
    pool_->limit(count);
}

// If a lease ends during the call, its buffer is copied needlessly. No new lease can begin.
bool BlockPool::detach_kernel_memory() noexcept
{
    bool all = true;
    for (std::size_t i = 0; i < pool_->count(); ++i)
        all = pool_->storage().detach(i, pool_->leased(i)) && all;
    return all;
}

int BlockPool::dmabuf(std::size_t index) const noexcept
{
    return pool_->storage().dmabuf(index);
}

std::shared_ptr<const void> BlockPool::keep_dmabufs() const noexcept
{
    return pool_->storage().keep_dmabufs();
}

std::span<std::byte> BlockPool::mapping(std::size_t index) const noexcept
{
    return pool_->storage().mapping(index);
}

} // namespace iio_stream
