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

// A buffer's life: it is empty, somebody fills it, all who need it read it, and the last one gives it back.
//
//     BlockPool ──take()──► EmptyBlock ──fill()──► Block ──share()──► Block …
//         ▲                      │                   │                  │
//         └──────── dropped ◄────┴──── last release ◄┴──────────────────┘
//
// While a device works on a buffer there is no object for it: nothing can touch it or queue it twice. The memory
// lives as long as the last EmptyBlock or Block, whatever becomes of its pool, pipeline or Reader. Nothing is
// allocated on the way, and nothing here blocks.

namespace iio_stream {

/// Of numbers: it is not known, or there is no limit.
inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// Of a device's blocks CLOCK_MONOTONIC, of a recording's UTC.
enum class Clock { monotonic, realtime };

/// When the last sample of a block was complete.
struct Time {
    Clock clock = Clock::monotonic;
    std::int64_t ns = 0; ///< nanoseconds of that clock
    std::optional<std::uint64_t> uncertainty_ns; ///< unknown where empty (interrupt latency)
};

/// What a gap was concluded from, strongest first.
enum class Evidence : std::uint8_t {
    counter,      ///< one in the data: place and number are known, but for its own turns
    overflow_bit, ///< the converter's register: some are lost for certain
    dma_error,    ///< a block that failed
    starvation    ///< the device had no block to fill; its FIFO may have bridged that
};
/// "counter", "overflow-bit", "dma-error", "starvation".
IIO_STREAM_API const char* name_of(Evidence evidence) noexcept;

/// A place in the stream where samples are, or may be, missing. Offsets count the samples that were
/// delivered since the stream's start: the loss lies between samples offset-1 and offset, for an
/// offset in [offset_min, offset_max].
struct Gap {
    std::uint64_t offset_min = 0, offset_max = 0; ///< samples
    std::uint64_t lost_min = 0, lost_max = 0; ///< samples; lost_max may be kUnknown
    Evidence evidence = Evidence::counter;

    /// At least one sample is lost.
    bool certain() const noexcept { return lost_min > 0; }
    /// Place and number are known.
    bool exact() const noexcept { return lost_min == lost_max && offset_min == offset_max; }
};

/// What a radio was set to, as far as it says anything; empty too where its channels differ.
struct Settings {
    std::optional<double> frequency; ///< Hz
    std::optional<double> gain;      ///< dB; empty while a control of its own changes it
    std::optional<double> bandwidth; ///< Hz
    std::optional<double> rate;      ///< samples per second

    bool operator==(const Settings&) const = default;
};

/// The radio was retuned. Samples before position `begin` have the previous settings, those from
/// `end` on have these; one between may have either. Positions count as a Gap's offsets do.
struct Retuning {
    std::uint64_t count = 0; ///< retunings since the stream's start, with this one
    /// The interval of positions in which the new settings took effect.
    std::uint64_t begin = 0, end = 0;
    Settings settings; ///< from `end` on
};

/// What is known of a block's transfer. Failed and cancelled blocks are never delivered, only counted.
enum class BlockState : std::uint8_t {
    complete,  ///< the kernel said that it was filled
    unverified ///< the kernel kept no status of it
};

/// Gaps that one block carries; what else there is in it is merged with the last.
inline constexpr std::size_t kMaxGaps = 4;

/// All that is known of a full block besides its bytes. Zeros that stand for lost samples
/// (`OnGap::zero_fill`) come in blocks without a sequence (kUnknown): their index is that of what
/// was lost, their position that of the sample after them.
struct BlockInfo {
    std::size_t bytes = 0;          ///< of samples, from the buffer's start
    std::uint64_t sequence = 0;     ///< blocks since the stream's start, failed ones included
    std::uint64_t position = 0;     ///< samples delivered before it
    std::uint64_t sample_index = 0; ///< samples before it since the start, lost ones included
    bool index_exact = true;        ///< else that is the least that it can be
    BlockState state = BlockState::complete;
    /// What was lost before that position has been reported, with this block at the latest; later
    /// in the stream it may be reported late. kUnknown: nothing is reported late.
    std::uint64_t settled = kUnknown;
    /// The latest retuning that is known, in this block or before it; count 0: none yet.
    Retuning retuning;
    /// Retunings before that position have been reported; kUnknown: the source cannot be retuned.
    std::uint64_t tuned = kUnknown;
    Time time;                      ///< when its last sample was complete
    std::uint8_t gap_count = 0;     ///< of those that follow
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

/// The right to fill one buffer of a pool; its destructor gives the buffer back.
/// Thread: one at a time. A block in flight is the kernel's: no EmptyBlock exists for it.
class IIO_STREAM_API EmptyBlock {
public:
    /// The moved-from one holds nothing; all but its destructor and assignment are errors.
    EmptyBlock(EmptyBlock&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    EmptyBlock& operator=(EmptyBlock&& other) noexcept;
    ~EmptyBlock();

    std::size_t index() const noexcept;    ///< number of the buffer in its pool
    std::size_t capacity() const noexcept; ///< bytes
    std::size_t samples() const noexcept;  ///< for which it has room; 0 where format() is not known
    /// Of the Writer that gave it; without channels where another pool did.
    const Format& format() const noexcept;
    /// Its memory, to be filled with values of type T in place; see samples.hpp. Throws a usage Error where the
    /// format's values are of another type.
    template <typename T>
    Samples<T, CpuWrite> as() const;
    /// The buffer's DMABUF, borrowed; -1 where it is plain pages. Hand it to another device or
    /// process (dup, SCM_RIGHTS) to export it.
    int dmabuf() const noexcept;

    /// Ends the right to write: from here the data is read-only and counted.
    Block fill(const BlockInfo& info) &&;

private:
    friend class detail::Pool;
    friend class detail::WriterSource;
    friend class CpuRead;
    friend class CpuWrite;
    explicit EmptyBlock(detail::Slot* slot) noexcept : slot_(slot) {}
    detail::Slot* slot_;
};

/// A counted, read-only lease of a full buffer (or a slice of one). The last release, from any
/// thread, gives the buffer back; the memory lives as long as the last lease, pool and pipeline
/// gone or not. Nothing is allocated.
class IIO_STREAM_API Block {
public:
    /// The moved-from one holds nothing; all but its destructor and assignment are errors.
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;
    ~Block();

    /// One more lease of the same.
    Block share() const noexcept;
    /// The samples [first, first + count) of this lease; gaps stay with the slice that starts it.
    Block slice(std::uint64_t first, std::uint64_t count, std::size_t sample_bytes) const noexcept;

    std::size_t index() const noexcept; ///< number of the buffer in its pool
    int dmabuf() const noexcept;        ///< borrowed; -1 where the buffer is plain pages
    std::size_t offset() const noexcept { return offset_; } ///< bytes into the buffer
    std::size_t bytes() const noexcept { return bytes_; } ///< of samples
    std::size_t samples() const noexcept; ///< in it; 0 where format() is not known
    /// Of the Reader that gave it; without channels where another pool did.
    const Format& format() const noexcept;
    /// Its samples as values of type T, in place; see samples.hpp. Throws a usage Error where they are of
    /// another type.
    template <typename T>
    Samples<const T, CpuRead> as() const;
    /// Blocks since the stream's start, failed ones included.
    std::uint64_t sequence() const noexcept { return whole().sequence; }
    /// Samples delivered before it.
    std::uint64_t position() const noexcept { return whole().position + skipped_; }
    /// Samples before it since the start, lost ones included; also those lost within the buffer,
    /// before the slice.
    std::uint64_t sample_index() const noexcept;
    /// False where sample_index() is the least that it can be.
    bool index_exact() const noexcept { return whole().index_exact; }
    BlockState state() const noexcept { return whole().state; }
    std::uint64_t settled() const noexcept { return whole().settled; }
    /// The latest known retuning of the radio, in this block or before it.
    const Retuning& retuning() const noexcept { return whole().retuning; }
    std::uint64_t tuned() const noexcept { return whole().tuned; }
    const Time& time() const noexcept { return whole().time; }
    /// Losses before or inside it; some that were found late lie before its first sample.
    std::span<const Gap> gaps() const noexcept;
    BlockInfo info() const noexcept; ///< all of it at once

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

/// Brackets the CPU's reading of a block: DMA_BUF_IOCTL_SYNC START(READ) … END on a DMABUF, nothing
/// on plain pages. A Block exists only after its fence has signalled, hence START cannot hang.
class IIO_STREAM_API CpuRead {
public:
    explicit CpuRead(const Block& filled);
    explicit CpuRead(const EmptyBlock& block); ///< one that a device has filled
    CpuRead(const CpuRead&) = delete;
    ~CpuRead();
    /// Its samples; good as long as this.
    std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    int dmabuf_;
    std::span<const std::byte> bytes_;
};

/// Brackets the CPU's writing of an empty block.
class IIO_STREAM_API CpuWrite {
public:
    explicit CpuWrite(const EmptyBlock& block);
    CpuWrite(const CpuWrite&) = delete;
    ~CpuWrite();
    /// All of the buffer; good as long as this.
    std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    int dmabuf_;
    std::span<std::byte> bytes_;
};

/// Whether a pool's buffers are mapped for the CPU.
enum class CpuUse { none, mapped };

/// A fixed number of equal buffers.
/// Owns: their memory, together with every EmptyBlock and Block that came from it.
/// Thread: take(), arm() and disarm() from one thread at a time; buffers come back from any.
class IIO_STREAM_API BlockPool {
public:
    /// Makes and pre-faults the buffers. Throws where the memory cannot be had.
    BlockPool(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use);
    BlockPool(BlockPool&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
    BlockPool& operator=(BlockPool&& other) noexcept;
    ~BlockPool();

    /// A buffer that nobody holds; none where all are out.
    std::optional<EmptyBlock> take() noexcept;
    /// Before a wait: from now on a buffer that comes back makes fd() readable. False, and not
    /// armed, where one is back already.
    bool arm() noexcept;
    /// After the wait; `readable` is what it said of fd().
    void disarm(bool readable) noexcept;
    int fd() const noexcept;

    std::size_t count() const noexcept;      ///< buffers
    std::size_t block_size() const noexcept; ///< bytes of each
    std::size_t available() const noexcept;  ///< buffers that nobody holds, at this moment
    const MemoryTraits& traits() const noexcept;  ///< of what they are made of
    int dmabuf(std::size_t index) const noexcept; ///< of that buffer, borrowed; -1 where it is plain pages
    /// The buffer's CPU mapping, for registering it (io_uring) or filling it; empty if not mapped.
    std::span<std::byte> mapping(std::size_t index) const noexcept;

private:
    friend class detail::ReaderSink;
    friend class detail::WriterSource;
    detail::Pool* pool_;
};

} // namespace iio_stream
