// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

// The life cycle of a buffer: it is empty, one user fills it, any number of users read it, and the
// last release returns it.
//
//     BlockPool ──take()──► EmptyBlock ──fill()──► Block ──share()──► Block …
//         ▲                      │                   │                  │
//         └──────── dropped ◄────┴──── last release ◄┴──────────────────┘
//
// While a device uses a buffer, no object exists for it, so the program cannot access or enqueue it
// twice. The memory exists until the last EmptyBlock or Block is destroyed, even if its pool,
// pipeline or Reader is destroyed earlier. Moving and sharing blocks does not allocate memory, and
// no function here blocks.

namespace iio_stream {

/// Represents an unknown count, or "no limit".
inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// CLOCK_MONOTONIC for blocks from a device, UTC for blocks from a recording.
enum class Clock { monotonic, realtime };

/// The time at which the last sample of a block was complete. For a recording, this is the time of
/// the capture plus the duration of the samples since then at their rate, never the time at which
/// the file is read.
struct Time {
    Clock clock = Clock::monotonic;
    std::int64_t ns = 0;                         ///< nanoseconds of that clock; 0: unknown
    std::optional<std::uint64_t> uncertainty_ns; ///< interrupt latency; empty: unknown
};

/// The evidence for a gap, strongest first.
enum class Evidence : std::uint8_t {
    counter, ///< a counter in the data: position and number are known, except for full wraps of the
             ///< counter
    overflow_bit, ///< the converter's overflow register: some samples are certainly lost
    dma_error,    ///< a block whose transfer failed
    starvation    ///< the device had no block to fill; its FIFO may have bridged the interruption
};
/// Returns "counter", "overflow-bit", "dma-error" or "starvation".
IIO_STREAM_API const char* name_of(Evidence evidence) noexcept;

/// A place in the stream where samples are or may be missing. Offsets count the samples delivered
/// since the stream started. The loss is between the samples offset-1 and offset, for an offset in
/// [offset_min, offset_max].
struct Gap {
    std::uint64_t offset_min = 0, offset_max = 0; ///< samples
    std::uint64_t lost_min = 0, lost_max = 0;     ///< samples; lost_max can be kUnknown
    Evidence evidence = Evidence::counter;

    /// Whether at least one sample is certainly lost.
    bool certain() const noexcept { return lost_min > 0; }
    /// Whether both the position and the number of lost samples are known.
    bool exact() const noexcept { return lost_min == lost_max && offset_min == offset_max; }
};

/// Settings of a radio. A value is empty if the radio does not report it or if the channels differ.
struct Settings {
    std::optional<double> frequency; ///< Hz
    std::optional<double> gain;      ///< dB; empty while automatic gain control changes it
    std::optional<double> bandwidth; ///< Hz
    std::optional<double> rate;      ///< samples per second

    bool operator==(const Settings&) const = default;
};

/// A retuning of the radio. Samples before position `begin` have the previous settings, and samples
/// from `end` on have the new ones; samples in between can have either. Positions count samples as
/// a Gap's offsets do.
struct Retuning {
    std::uint64_t count = 0; ///< retunings since the stream started, including this one
    /// The interval of positions in which the new settings took effect.
    std::uint64_t begin = 0, end = 0;
    Settings settings; ///< in effect from `end` on
};

/// The status of a block's transfer. Failed and cancelled blocks are counted but never delivered.
enum class BlockState : std::uint8_t {
    complete,  ///< the kernel reported that the block is filled
    unverified ///< the kernel kept no status for the block
};

/// Maximum number of gaps that one block can report; any further gaps are merged into the last one.
inline constexpr std::size_t kMaxGaps = 4;

/// Everything known about a full block except its bytes. Zeros that replace lost samples
/// (`OnGap::zero_fill`) arrive in blocks without a sequence number (kUnknown). Their index is the
/// index of the lost samples, and their position is the position of the next sample after them.
struct BlockInfo {
    std::size_t bytes = 0;          ///< bytes of samples, from the start of the buffer
    std::uint64_t sequence = 0;     ///< blocks before this one, including failed ones
    std::uint64_t position = 0;     ///< samples delivered before this block
    std::uint64_t sample_index = 0; ///< samples before this block since the stream started,
                                    ///< including lost ones
    bool index_exact = true;        ///< false: sample_index is a lower bound
    BlockState state = BlockState::complete;
    /// Every loss before this position has been reported, in this block or earlier. Losses after it
    /// can be reported late. kUnknown: this source never reports losses late.
    std::uint64_t losses_final_before = kUnknown;
    /// The latest known retuning, in this block or earlier; count 0: none yet.
    Retuning retuning;
    /// Every retuning before this position has been reported. kUnknown: the source cannot be
    /// retuned.
    std::uint64_t retunings_final_before = kUnknown;
    Time time;                  ///< when its last sample was complete
    std::uint8_t gap_count = 0; ///< number of valid entries in `gaps`
    std::array<Gap, kMaxGaps> gaps{};
};

class Block;
class CpuRead;
class CpuWrite;
template <typename T, typename Guard>
class Samples;
struct Format;
namespace detail {
class Pool;
class ReaderSink;
struct Slot;
class WriterSource;
} // namespace detail

/// The right to fill one buffer of a pool. Its destructor returns the buffer.
/// Thread: one at a time. While a transfer is in flight, the buffer belongs to the kernel and no
/// EmptyBlock exists for it.
class IIO_STREAM_API EmptyBlock {
public:
    /// A moved-from block holds nothing; only its destructor and assignment may be used.
    EmptyBlock(EmptyBlock&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    EmptyBlock& operator=(EmptyBlock&& other) noexcept;
    ~EmptyBlock();

    std::size_t index() const noexcept;    ///< number of the buffer in its pool
    std::size_t capacity() const noexcept; ///< bytes
    std::size_t samples() const noexcept;  ///< capacity in samples; 0 if format() is unknown
    /// Returns the format of the Writer that the block belongs to; it has no channels if the block
    /// is from another pool.
    const Format& format() const noexcept;
    /// Returns the memory of the block as values of type T, to be filled in place; see samples.hpp.
    /// Throws a usage Error if the format has values of another type.
    template <typename T>
    Samples<T, CpuWrite> as() const;
    /// Returns the buffer's DMABUF file descriptor, borrowed; -1 if the buffer consists of plain
    /// pages. To export the buffer, pass the descriptor to another device or process (dup,
    /// SCM_RIGHTS).
    int dmabuf() const noexcept;

    /// Gives up the right to write. Afterwards the data is read-only and reference-counted.
    Block fill(const BlockInfo& info) &&;

private:
    friend class detail::Pool;
    friend class detail::WriterSource;
    friend class CpuRead;
    friend class CpuWrite;
    explicit EmptyBlock(detail::Slot* slot) noexcept : slot_(slot) {}
    detail::Slot* slot_;
};

/// A counted, read-only lease of a full buffer, or of a slice of one. The last release, on any
/// thread, returns the buffer. The memory exists until the last lease is released, even if the pool
/// and the pipeline are destroyed earlier. A Block does not allocate memory.
class IIO_STREAM_API Block {
public:
    /// A moved-from block holds nothing; only its destructor and assignment may be used.
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;
    ~Block();

    /// Returns another lease of the same block.
    Block share() const noexcept;
    /// Returns a lease of the samples [first, first + count) of this lease. Only the slice that
    /// begins at its first sample keeps the gaps.
    Block slice(std::uint64_t first, std::uint64_t count, std::size_t sample_bytes) const noexcept;

    std::size_t index() const noexcept; ///< number of the buffer in its pool
    int dmabuf() const noexcept;        ///< borrowed file descriptor; -1 if the buffer consists of
                                        ///< plain pages
    std::size_t offset() const noexcept { return offset_; } ///< offset in the buffer in bytes
    std::size_t bytes() const noexcept { return bytes_; }   ///< bytes of samples
    std::size_t samples() const noexcept; ///< number of samples; 0 if format() is unknown
    /// Returns the format of the Reader that the block belongs to; it has no channels if the block
    /// is from another pool.
    const Format& format() const noexcept;
    /// Returns the samples of the block as values of type T, in place; see samples.hpp. Throws a
    /// usage Error if the samples have another type.
    template <typename T>
    Samples<const T, CpuRead> as() const;
    /// Number of blocks before this one since the stream started, including failed ones.
    std::uint64_t sequence() const noexcept { return whole().sequence; }
    /// Number of samples delivered before this block or slice.
    std::uint64_t position() const noexcept { return whole().position + skipped_; }
    /// Number of samples before this block or slice since the stream started, including lost
    /// samples, even those lost within this buffer before the slice.
    std::uint64_t sample_index() const noexcept;
    /// False: sample_index() is a lower bound.
    bool index_exact() const noexcept { return whole().index_exact; }
    BlockState state() const noexcept { return whole().state; }
    std::uint64_t losses_final_before() const noexcept { return whole().losses_final_before; }
    /// The latest known retuning of the radio, in this block or earlier.
    const Retuning& retuning() const noexcept { return whole().retuning; }
    std::uint64_t retunings_final_before() const noexcept { return whole().retunings_final_before; }
    /// The time at which the last sample was complete. For a slice that ends before its buffer
    /// does, the time is calculated back from the end of the buffer with the sample rate, including
    /// the samples that are known to be lost in between. It is unknown if the rate is unknown.
    Time time() const noexcept;
    /// The time at which the last sample of the whole buffer was complete.
    const Time& buffer_time() const noexcept { return whole().time; }
    /// Losses before or inside the block. A loss that was detected late can be before its first
    /// sample.
    std::span<const Gap> gaps() const noexcept;
    BlockInfo info() const noexcept; ///< all of the above at once

private:
    friend class EmptyBlock;
    friend class CpuRead;
    Block(detail::Slot* slot, std::size_t bytes) noexcept : slot_(slot), bytes_(bytes) {}
    const BlockInfo& whole() const noexcept;

    detail::Slot* slot_;
    std::size_t offset_ = 0;
    std::size_t bytes_;
    std::uint64_t skipped_ = 0; ///< samples before the slice
};

/// Brackets CPU reads of a block: DMA_BUF_IOCTL_SYNC START(READ) … END on a DMABUF, nothing on
/// plain pages. A Block exists only after its fence has signalled, so START cannot block.
class IIO_STREAM_API CpuRead {
public:
    explicit CpuRead(const Block& filled);
    explicit CpuRead(const EmptyBlock& block); ///< for a block that a device has filled
    CpuRead(const CpuRead&) = delete;
    ~CpuRead();
    /// The samples; valid for the lifetime of this object.
    std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    int dmabuf_;
    std::span<const std::byte> bytes_;
};

/// Brackets CPU writes to an empty block.
class IIO_STREAM_API CpuWrite {
public:
    explicit CpuWrite(const EmptyBlock& block);
    CpuWrite(const CpuWrite&) = delete;
    ~CpuWrite();
    /// The whole buffer; valid for the lifetime of this object.
    std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    int dmabuf_;
    std::span<std::byte> bytes_;
};

/// Whether a pool's buffers are mapped for the CPU.
enum class CpuUse { none, mapped };

/// A fixed number of equal buffers.
/// Owns: the memory of the buffers, shared with every EmptyBlock and Block taken from the pool.
/// Thread: take(), arm() and disarm() on one thread at a time. Buffers can be returned on any
/// thread.
class IIO_STREAM_API BlockPool {
public:
    /// Allocates and pre-faults the buffers. Throws Error if the memory cannot be allocated.
    BlockPool(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use);
    BlockPool(BlockPool&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
    BlockPool& operator=(BlockPool&& other) noexcept;
    ~BlockPool();

    /// Returns a free buffer; nullopt if all are in use.
    std::optional<EmptyBlock> take() noexcept;
    /// Call this before waiting: from now on, a returned buffer makes fd() readable. Returns false,
    /// and does not arm the pool, if a buffer is already free.
    bool arm() noexcept;
    /// Call this after waiting. `readable` states whether poll() reported fd() as readable.
    void disarm(bool readable) noexcept;
    int fd() const noexcept;

    std::size_t count() const noexcept;          ///< number of buffers
    std::size_t block_size() const noexcept;     ///< bytes of one buffer
    std::size_t available() const noexcept;      ///< buffers free at this moment
    const MemoryTraits& traits() const noexcept; ///< properties of the buffers' memory
    int dmabuf(std::size_t index)
        const noexcept; ///< the buffer's DMABUF, borrowed; -1 if it consists of plain pages
    /// Returns an object that keeps the descriptors of dmabuf() open while it exists, even if the
    /// pool is destroyed earlier. A device needs them to detach the DMABUFs.
    std::shared_ptr<const void> keep_dmabufs() const noexcept;
    /// Returns the buffer's CPU mapping, to register (io_uring) or fill the buffer; empty if it is
    /// not mapped.
    std::span<std::byte> mapping(std::size_t index) const noexcept;

    /// Sets the values that Block::time() of a slice needs: the bytes of a sample, and the samples
    /// per second (0 = unknown), which apply until a block's retuning states another rate. Call it
    /// before the first take().
    void set_sample_timing(std::size_t sample_bytes, double sample_rate) noexcept;

    /// Restricts the pool to its first `count` buffers, for a source that fills fewer buffers than
    /// the pool has. Call it before the first take().
    void limit(std::size_t count) noexcept;
    /// Releases buffers that are the source's own memory (MemoryKind::kernel), after its stream has
    /// ended. Ordinary pages with the same content, at the same address, replace each buffer that
    /// is still leased; the rest of the source's memory is unmapped. Returns false if there was not
    /// enough memory to replace all of them; the other buffers then stay mapped.
    bool detach_kernel_memory() noexcept;

private:
    friend class detail::ReaderSink;
    friend class detail::WriterSource;
    detail::Pool* pool_;
};

} // namespace iio_stream
