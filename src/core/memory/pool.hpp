// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/storage.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::detail {

class Pool;

/// One buffer: its index in the storage, its number of leases, and the information about its data.
struct Slot {
    Pool* pool = nullptr;
    std::uint32_t index = 0;
    std::uint32_t next = 0;               ///< next free buffer, while this one is free
    std::atomic<std::uint32_t> leases{0}; ///< Block objects that hold it
    std::atomic<std::uint32_t> fills{0};  ///< times it was filled
    BlockInfo info; ///< written before the first lease exists, constant afterwards
};

/// The state that BlockPool, EmptyBlock and Block share. It deletes itself when the last of them is
/// destroyed.
/// Thread: take() on one thread at a time, put() and release() on any thread.
class Pool {
public:
    Pool(Storage storage, std::size_t count);

    std::optional<EmptyBlock> take() noexcept;
    void put(Slot& slot) noexcept;
    /// Removes a holder: the BlockPool itself, or a buffer that was returned.
    void release() noexcept;
    bool arm() noexcept;
    void disarm(bool readable) noexcept;

    int fd() const noexcept { return event_.fd(); }
    std::size_t count() const noexcept { return count_; }
    std::size_t available() const noexcept;
    /// Limits the pool to its first `count` buffers. Call before the first take().
    void limit(std::size_t count) noexcept;
    std::uint32_t fills(std::size_t index) const noexcept
    {
        return slots_[index].fills.load(std::memory_order_relaxed);
    }
    /// Whether a Block still holds the data of this fill.
    bool leased(std::size_t index, std::uint32_t fill) const noexcept
    {
        // Acquire: a thread that sees the leases of a later fill also sees the number of that fill.
        return slots_[index].leases.load(std::memory_order_acquire) != 0 && fills(index) == fill;
    }
    bool leased(std::size_t index) const noexcept
    {
        return slots_[index].leases.load(std::memory_order_acquire) != 0;
    }
    const Storage& storage() const noexcept { return storage_; }
    /// The times of slices are computed from these values. Set them before the first take().
    struct SampleTiming {
        std::size_t sample_bytes = 0; ///< 0: unknown
        double sample_rate = 0;       ///< 0: unknown
    };
    const SampleTiming& sample_timing() const noexcept { return timing_; }
    void set_sample_timing(const SampleTiming& timing) noexcept { timing_ = timing; }
    /// The format of the buffers' content; set before the first lease exists.
    const Format& format() const noexcept { return format_; }
    void set_format(const Format& format) { format_ = format; }

private:
    ~Pool() = default;

    // One more than the largest index marks the end of the list of free buffers.
    std::uint32_t end() const noexcept { return static_cast<std::uint32_t>(count_); }

    Storage storage_;
    Format format_;
    SampleTiming timing_;
    std::size_t count_;
    std::unique_ptr<Slot[]> slots_;
    sys::Event event_;
    std::uint32_t mine_; ///< list of buffers taken off the shared list; used only by take()
    std::atomic<std::uint32_t> returned_; ///< the shared list; any thread adds to it
    std::atomic<bool> armed_{false};
    /// Number of holders: the BlockPool and each buffer in use.
    std::atomic<std::size_t> holders_{1};
};

} // namespace iio_stream::detail
