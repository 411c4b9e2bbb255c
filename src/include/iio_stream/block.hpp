// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

// The life of a buffer: it is empty, someone fills it, everyone who needs it reads it, and the last
// one returns it.
//
//     BlockPool ──take()──► EmptyBlock ──fill()──► Block ──share()──► Block …
//         ▲                      │                   │                  │
//         └──────── dropped ◄────┴──── last release ◄┴──────────────────┘
//
// While a device works on a buffer no object exists for it, so nothing can touch it or queue it
// twice. The memory lives as long as the last EmptyBlock or Block, even after its pool, pipeline or
// Reader is gone. Passing blocks on allocates nothing, and nothing here blocks.

namespace iio_stream {

/// Represents a count that is not known, or for "no limit".
inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// CLOCK_MONOTONIC for blocks from a device, UTC for blocks from a recording.
enum class Clock { monotonic, realtime };

/// When the last sample of a block was complete. For a recording that is the time of its captures
/// plus the samples since then by their rate, never the moment of reading it.
struct Time {
    Clock clock = Clock::monotonic;
    std::int64_t ns = 0;                         ///< nanoseconds of that clock; 0: unknown
    std::optional<std::uint64_t> uncertainty_ns; ///< interrupt latency; empty: unknown
};

/// What a gap was concluded from, strongest first.
enum class Evidence : std::uint8_t {
    counter, ///< a counter in the data: place and number are known, except for full turns of the
             ///< counter
    overflow_bit, ///< the converter's overflow register: some samples are certainly lost
    dma_error,    ///< a block whose transfer failed
    starvation    ///< the device had no block to fill; its FIFO may have bridged the time
};
/// "counter", "overflow-bit", "dma-error", "starvation".
IIO_STREAM_API const char* name_of(Evidence evidence) noexcept;

/// A place in the stream where samples are, or may be, missing. Offsets count the samples delivered
/// since the stream started: the loss is between samples offset-1 and offset, for some offset in
/// [offset_min, offset_max].
struct Gap {
    std::uint64_t offset_min = 0, offset_max = 0; ///< samples
    std::uint64_t lost_min = 0, lost_max = 0;     ///< samples; lost_max may be kUnknown
    Evidence evidence = Evidence::counter;

    /// At least one sample is lost.
    bool certain() const noexcept { return lost_min > 0; }
    /// Both place and number are known.
    bool exact() const noexcept { return lost_min == lost_max && offset_min == offset_max; }
};

/// Settings of a radio, as far as it reports them. A value is also empty if the channels differ.
struct Settings {
    std::optional<double> frequency; ///< Hz
    std::optional<double> gain;      ///< dB; empty while automatic gain control changes it
    std::optional<double> bandwidth; ///< Hz
    std::optional<double> rate;      ///< samples per second

    bool operator==(const Settings&) const = default;
};

/// The radio was retuned. Samples before position `begin` have the previous settings, samples from
/// `end` on have these; those between may have either. Positions count like a Gap's offsets.
struct Retuning {
    std::uint64_t count = 0; ///< retunings since the stream started, including this one
    /// The interval of positions in which the new settings took effect.
    std::uint64_t begin = 0, end = 0;
    Settings settings; ///< in effect from `end` on
};

/// What is known about a block's transfer. Failed and cancelled blocks are counted, never
/// delivered.
enum class BlockState : std::uint8_t {
    complete,  ///< the kernel reported it filled
    unverified ///< the kernel kept no status for it
};

/// Gaps one block can carry; further ones are merged into the last.
inline constexpr std::size_t kMaxGaps = 4;

/// Everything known about a full block except its bytes. Zeros in place of lost samples
/// (`OnGap::zero_fill`) come in blocks without a sequence number (kUnknown): their index is that of
/// the lost samples, their position that of the sample after them.
struct BlockInfo {
    std::size_t bytes = 0;      ///< of samples, from the start of the buffer
    std::uint64_t sequence = 0; ///< blocks since the stream started, failed ones included
    std::uint64_t position = 0; ///< samples delivered before it
    std::uint64_t sample_index =
        0;                   ///< samples before it since the stream started, lost ones included
    bool index_exact = true; ///< false: sample_index is a lower bound
    BlockState state = BlockState::complete;
    /// Every loss before this position has been reported, in this block at the latest; losses after
    /// it may be reported late. kUnknown: this source never reports late.
    std::uint64_t losses_final_before = kUnknown;
    /// The latest known retuning, in this block or before it; count 0: none yet.
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
/// Thread: one at a time. While a block is in flight it belongs to the kernel: no EmptyBlock exists
/// for it.
class IIO_STREAM_API EmptyBlock {
public:
    /// A moved-from block holds nothing; only its destructor and assignment may be used.
    EmptyBlock(EmptyBlock&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    EmptyBlock& operator=(EmptyBlock&& other) noexcept;
    ~EmptyBlock();

    std::size_t index() const noexcept;    ///< number of the buffer in its pool
    std::size_t capacity() const noexcept; ///< bytes
    std::size_t samples() const noexcept;  ///< room in samples; 0 if format() is not known
    /// The format of the Writer it came from; no channels if it came from another pool.
    const Format& format() const noexcept;
    /// Its memory as values of type T, to be filled in place; see samples.hpp. Throws a usage Error
    /// if the format has values of another type.
    template <typename T>
    Samples<T, CpuWrite> as() const;
    /// The buffer's DMABUF, borrowed; -1 if it is plain pages. To export the buffer, pass this to
    /// another device or process (dup, SCM_RIGHTS).
    int dmabuf() const noexcept;

    /// Gives up the right to write: from here on the data is read-only and reference-counted.
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
/// thread, returns the buffer; the memory lives as long as the last lease, even after pool and
/// pipeline are gone. Allocates nothing.
class IIO_STREAM_API Block {
public:
    /// A moved-from block holds nothing; only its destructor and assignment may be used.
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;
    ~Block();

    /// One more lease of the same block.
    Block share() const noexcept;
    /// Samples [first, first + count) of this lease. Gaps stay with the slice that starts it.
    Block slice(std::uint64_t first, std::uint64_t count, std::size_t sample_bytes) const noexcept;

    std::size_t index() const noexcept; ///< number of the buffer in its pool
    int dmabuf() const noexcept;        ///< borrowed; -1 if the buffer is plain pages
    std::size_t offset() const noexcept { return offset_; } ///< bytes into the buffer
    std::size_t bytes() const noexcept { return bytes_; }   ///< of samples
    std::size_t samples() const noexcept; ///< number of samples; 0 if format() is not known
    /// The format of the Reader it came from; no channels if it came from another pool.
    const Format& format() const noexcept;
    /// Its samples as values of type T, in place; see samples.hpp. Throws a usage Error if they are
    /// of another type.
    template <typename T>
    Samples<const T, CpuRead> as() const;
    /// Blocks since the stream started, failed ones included.
    std::uint64_t sequence() const noexcept { return whole().sequence; }
    /// Samples delivered before it.
    std::uint64_t position() const noexcept { return whole().position + skipped_; }
    /// Samples before it since the stream started, lost ones included, even those lost within this
    /// buffer before the slice.
    std::uint64_t sample_index() const noexcept;
    /// False: sample_index() is a lower bound.
    bool index_exact() const noexcept { return whole().index_exact; }
    BlockState state() const noexcept { return whole().state; }
    std::uint64_t losses_final_before() const noexcept { return whole().losses_final_before; }
    /// The latest known retuning of the radio, in this block or before it.
    const Retuning& retuning() const noexcept { return whole().retuning; }
    std::uint64_t retunings_final_before() const noexcept { return whole().retunings_final_before; }
    /// When its last sample was complete. Of a slice that ends before its buffer does, this is
    /// counted back by the sample rate, over the samples that are known to be lost in between; it
    /// is unknown without a rate.
    Time time() const noexcept;
    /// When the last sample of the whole buffer was complete.
    const Time& buffer_time() const noexcept { return whole().time; }
    /// Losses before or inside the block; one found late may be before its first sample.
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
/// plain pages. A Block exists only after its fence has signalled, so START cannot hang.
class IIO_STREAM_API CpuRead {
public:
    explicit CpuRead(const Block& filled);
    explicit CpuRead(const EmptyBlock& block); ///< one that a device has filled
    CpuRead(const CpuRead&) = delete;
    ~CpuRead();
    /// The samples; valid as long as this object.
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
    /// The whole buffer; valid as long as this object.
    std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    int dmabuf_;
    std::span<std::byte> bytes_;
};

/// Whether a pool's buffers are mapped for the CPU.
enum class CpuUse { none, mapped };

/// A fixed number of equal buffers.
/// Owns: their memory, shared with every EmptyBlock and Block taken from the pool.
/// Thread: take(), arm() and disarm() on one thread at a time; buffers come back on any.
class IIO_STREAM_API BlockPool {
public:
    /// Allocates and pre-faults the buffers. Throws Error if the memory cannot be had.
    BlockPool(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use);
    BlockPool(BlockPool&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
    BlockPool& operator=(BlockPool&& other) noexcept;
    ~BlockPool();

    /// A free buffer; nullopt if all are in use.
    std::optional<EmptyBlock> take() noexcept;
    /// Call before waiting: from now on a returning buffer makes fd() readable. False, and not
    /// armed, if one is free already.
    bool arm() noexcept;
    /// Call after waiting; `readable` is what poll() reported for fd().
    void disarm(bool readable) noexcept;
    int fd() const noexcept;

    std::size_t count() const noexcept;          ///< buffers
    std::size_t block_size() const noexcept;     ///< bytes of each
    std::size_t available() const noexcept;      ///< buffers free at this moment
    const MemoryTraits& traits() const noexcept; ///< of the memory they are made of
    int dmabuf(std::size_t index)
        const noexcept; ///< that buffer's DMABUF, borrowed; -1 if it is plain pages
    /// The buffer's CPU mapping, to register it (io_uring) or to fill it; empty if not mapped.
    std::span<std::byte> mapping(std::size_t index) const noexcept;

    /// For Block::time() of a slice: the bytes of a sample, and the samples per second (0 =
    /// unknown) as long as no retuning of the blocks states another rate. Before the first take().
    void set_sample_timing(std::size_t sample_bytes, double sample_rate) noexcept;

    /// For a source that fills fewer buffers than it was given: only the first `count` are used
    /// from now on. Before the first take().
    void limit(std::size_t count) noexcept;
    /// For a source whose own memory the buffers are (MemoryKind::kernel), when its stream has
    /// ended: ordinary pages with the same content take the place of each buffer that is still
    /// leased, at the same address; the rest of the source's memory is unmapped. False if there was
    /// no memory for all of them: these buffers stay mapped.
    bool detach_kernel_memory() noexcept;

private:
    friend class detail::ReaderSink;
    friend class detail::WriterSource;
    detail::Pool* pool_;
};

} // namespace iio_stream
