// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/event.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/tuning.hpp"
#include "iio_stream/uri.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream {

/// One hop on the route of the samples, as the summary shows it.
struct Hop {
    std::string from, to;
    std::string mechanism; ///< "dmabuf", "fileio", "buffered", "io_uring-direct" …
    std::string memory;    ///< memory of the blocks; empty if this hop does not depend on it
    std::size_t page_bytes = 0;
    std::optional<std::size_t> segments; ///< scatter-gather entries per block; nullopt: unknown
    unsigned copies = 0;                 ///< CPU copies of each sample
    std::string reason;                  ///< why not fewer copies, or why this mechanism
    std::string warning = {}; ///< risks of this mechanism and defects of its input, shown before
                              ///< the stream starts; one per line; empty if there are none
    bool cpu = false;         ///< this endpoint accesses the blocks with the CPU, so they must be
                              ///< mapped
    bool attached = false;    ///< this endpoint attaches the DMABUFs to a device
    bool holds_off = false;   ///< while the device has a block, the kernel makes other readers wait
};

/// The requirements of a source for its blocks, whatever their memory.
struct BlockNeeds {
    std::size_t align = 1; ///< block sizes must be a multiple of this and of the sample size
    std::size_t max_bytes = SIZE_MAX;
    /// For how long the source fills blocks after the last requested sample, to detect whether any
    /// requested samples were lost. See SourceInfo::extra_blocks_at_end.
    double extra_seconds = 0;
    std::optional<Memory> preferred; ///< the best memory for this device according to `doctor
                                     ///< --probe`
    std::string reason;              ///< the reason for `preferred`
    std::optional<Memory>
        own; ///< memory that only this source can make blocks of; it fills them without a copy
};

/// The condition to wait for before the next call: poll() events on a file descriptor (-1: none), a
/// point in time, or nothing.
struct Wait {
    int fd = -1;
    short events = 0;
    std::int64_t until_ns = 0; ///< CLOCK_MONOTONIC; 0: no time limit
    bool ready = false;        ///< there is nothing to wait for
};

/// The result of Source::take().
struct Taken {
    std::optional<Block> filled; ///< the next block, in sample order
    bool ended = false;          ///< no more blocks will arrive
};

/// Counters of a source in addition to its blocks. They are read after the stream has ended.
struct SourceStats {
    std::uint64_t error_blocks = 0, cancelled_blocks = 0, unverified_blocks = 0;
    std::vector<Evidence> evidence; ///< how this source can detect losses
    std::vector<Gap> trailing; ///< gaps detected after the last block, which no block could report
    Retuning retuning = {};    ///< the last retuning, which a block might already have reported
};

/// The connection of an endpoint to its board or peer.
struct LinkState {
    bool connected = true;         ///< false while the endpoint waits for its peer to reconnect
    std::uint64_t disconnects = 0; ///< number since the endpoint was created
};

/// Properties of a source besides its format, which are known after prepare().
struct SourceInfo {
    Tuning tuning = {};
    /// The number of blocks that the source needs after the last requested one, at the end of the
    /// stream, to detect whether any requested samples were lost.
    std::size_t extra_blocks_at_end = 0;
    /// Other metadata of the samples, for StreamInfo::metadata. Null: there are none.
    std::shared_ptr<const std::string> metadata = nullptr;
};

/// Slow checks of a source, such as readings of hardware registers, which must not delay the thread
/// that moves blocks. Thread: the control thread, apart from the first check.
class IIO_STREAM_API SlowCheck {
public:
    /// Performs the checks. It is first called directly after Source::start(), before the source
    /// thread runs. Returns the time until the next call.
    virtual std::chrono::nanoseconds check() = 0;
    /// Returns a file descriptor that becomes readable when check() should be called at once; -1:
    /// never.
    virtual int check_fd() const noexcept { return -1; }

protected:
    ~SlowCheck() = default; ///< it belongs to its source
};

/// Turns empty blocks into full ones.
/// Life: plan() for each candidate memory, prepare(), start(), { submit(), take() }, stop(); then
/// again from prepare(). Throws: Error from everything but stop(). Thread: submit(), take(),
/// wait(), on_timeout() and, after start(), ends_at() on the source thread; slow_check() on the
/// control thread; everything else on the owner's thread, while neither of these threads runs.
class IIO_STREAM_API Source {
public:
    virtual ~Source() = default;

    virtual Fault fault() const noexcept = 0; ///< the fault that its failures are attributed to
    virtual const Format& format() const noexcept = 0;
    /// Returns whether samples arrive at their own pace, so that some are lost while the sinks hold
    /// all blocks.
    virtual bool live() const noexcept { return false; }
    virtual BlockNeeds needs() const { return {}; }
    /// Returns how samples would get into blocks with these traits; nullopt if they cannot, with
    /// the reason in `why`.
    virtual std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const = 0;

    /// Does everything that can fail or take time. Returns false, with the reason in `why`, if the
    /// device rejects the planned mechanism; the engine then tries the next best plan. If it
    /// returns true, `why` states any disadvantage of the mechanism, for the route.
    virtual bool prepare(BlockPool& pool, std::string& why) = 0;
    /// Makes prepare() or take() give up if it is waiting for a peer, because the stream is
    /// stopping. It can be called on any thread or in a signal handler. The next stop() resets it.
    virtual void cancel() noexcept {}
    virtual void start() = 0; ///< starts the device, which first fills the blocks that are already
                              ///< submitted
    virtual void stop() noexcept = 0; ///< afterwards no block is filled and all blocks are back in
                                      ///< the pool

    /// Submits a block to be filled with `bytes` bytes. This is less than its capacity only at the
    /// end of a stream of limited length.
    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    /// Returns the next filled block. The engine calls it when the condition of wait() is met, and
    /// repeats the call until it returns no block.
    virtual Taken take() = 0;
    /// Called when the stream ends, possibly because take() has thrown. From then on take() returns
    /// the samples that have arrived, the last ones in a partly filled block. It throws only if
    /// none have arrived. Returns true if take() must be called until it returns no block. Returns
    /// false if the samples are generated or can be read again.
    virtual bool flush() { return live(); }
    virtual Wait wait() = 0;
    /// Number of blocks being filled.
    virtual std::size_t pending() const noexcept = 0;
    /// Limits the stream to the samples before this position (kUnknown: no limit). Called before
    /// start(), and when the limit changes.
    virtual void ends_at([[maybe_unused]] std::uint64_t position) noexcept {}
    /// Returns a remark on its hop that became known while streaming, for the route. Called after
    /// stop().
    virtual std::string remark() const { return ""; }
    /// Called when the deadline has passed without a block. Returns false if the source has made
    /// another attempt and the engine should keep waiting, and true for an ordinary timeout. Throws
    /// if the source knows a more specific cause. `chosen` is the deadline if the user has set it
    /// (--timeout), and empty for the default.
    virtual bool on_timeout([[maybe_unused]] std::optional<std::chrono::nanoseconds> chosen)
    {
        return true;
    }
    /// Returns the checks to run while the source streams; null if there are none.
    virtual SlowCheck* slow_check() noexcept { return nullptr; }
    virtual SourceStats stats() const { return {}; }
    /// Whether its board or peer is connected. Any thread, at any time.
    virtual LinkState link() const noexcept { return {}; }
    virtual SourceInfo info() const { return {}; } ///< known after prepare()
};

/// Tunes a radio, streaming or not, with the options of "iio:DEVICE": frequency, gain, agc,
/// bandwidth, rate, antenna, attr.… (phy, channels and uri belong to the endpoint). Returns the
/// settings read back. Throws Error; other endpoints cannot be tuned.
IIO_STREAM_API Tuning tune(const Uri& endpoint, const Options& changes);

/// Properties of the stream that a sink gets before the stream starts.
struct StreamInfo {
    Uri source;
    Format format;
    Tuning tuning;
    std::size_t block_size = 0;
    std::uint64_t total_bytes = 0; ///< expected length of the stream; 0: unknown
    std::int64_t timeout_ns = 0;   ///< longest wait for a device to finish a block
    bool live = false;             ///< Source::live()
    bool drops = false;            ///< blocks are dropped if the sink has no room for them
                                   ///< (on-full=)
    bool cut = false;              ///< blocks can arrive in parts, with zeros between them
    /// The metadata of the recording that the samples come from: valid SigMF metadata (JSON), in
    /// which core:sample_start is the position of a sample in the stream. Null: there is none.
    std::shared_ptr<const std::string> metadata = nullptr;
    /// File descriptor that becomes readable when prepare() or start() must stop waiting for a
    /// peer; -1: never.
    int cancel_start = -1;
    /// False: the source is live and cannot detect losses, so any number of samples can be lost
    /// anywhere.
    bool detects_losses = true;
    /// Reports an event of the sink to the user. Any thread, even after the stream has ended.
    /// Empty: nobody wants events.
    ReportEvent report_event = nullptr;
};

/// Facts about a stream that became known after its last block.
struct StreamEnd {
    std::vector<Gap> gaps = {}; ///< losses that no block has reported
    Retuning retuning = {};     ///< the last retuning, which a block might already have reported;
                                ///< `count` is 0 if there is none
    std::uint64_t dropped = 0;  ///< samples dropped after the last block, because the sink had no
                                ///< room for them
    std::optional<Error> error = {}; ///< the error of another endpoint that has ended the stream
};

/// How samples are repeated on a device with cyclic=on.
enum class Repeating { no, software, hardware };
IIO_STREAM_API std::string name_of(Repeating repeating); ///< "" for Repeating::no

/// Counters of a device that plays samples.
struct PlaybackStats {
    std::uint64_t underflows = 0; ///< number of times its queue ran empty before more samples were
                                  ///< played
    /// Number of times that cyclic=on has replayed all samples. Hardware does not count
    /// repetitions; for hardware, the number is computed from time and rate, and is 0 if the device
    /// reports no rate.
    std::uint64_t repeats = 0;
    std::uint64_t unverified_blocks = 0; ///< blocks the kernel kept no status for
    std::optional<double> rate; ///< samples per second; empty: the device does not report it
    Repeating repeating = Repeating::no;
};

/// Counters of a sink that uploads its recording.
struct UploadStats {
    std::uint64_t parts = 0;        ///< closed parts
    std::uint64_t stored = 0;       ///< parts that the store has confirmed
    std::uint64_t behind_bytes = 0; ///< bytes of samples in the parts that are not confirmed
    std::uint64_t retries = 0;      ///< failed attempts
};

/// Counters of a sink in addition to its blocks.
struct SinkCounters {
    std::optional<PlaybackStats> playback = {}; ///< empty: the sink does not play samples
    std::optional<UploadStats> uploads = {};    ///< empty: the sink does not upload
};

/// The properties of a sink that decide how it is driven.
struct SinkTraits {
    bool may_block = false; ///< submit() or service() can block; known after prepare()
    /// The sink drops blocks if it has no room for them, unless the user overrides it with
    /// on-full=. Known at once.
    bool drops_when_full = false;
    /// The sink repeats its samples from the first flush() until stop(). Known at once.
    bool repeats = false;
    /// The minimum deadline, in nanoseconds, for the next block and for stop() at the end of a
    /// stream. It applies if the stream's timeout is shorter, because a disk can take a long time
    /// to store its pending blocks. 0: the stream's timeout is long enough. Known after prepare().
    std::int64_t finish_timeout_ns = 0;
};

/// The results of a sink that has stopped.
struct SinkResult {
    std::string remark = {}; ///< for the route: a remark that became known while streaming
    std::string report = {}; ///< results in addition to the counters, as a JSON object; "": none
    Tuning tuning = {};      ///< of the radio that plays the samples; empty if there is none
};

enum class Stop { drain, abort };

/// A conversion that a sink requires.
struct Conversion {
    std::string to;     ///< a format for Converter, "ri16_le"; "" if no conversion is required
    std::string reason; ///< the reason, for the route
};

/// Consumes full blocks.
/// Life: plan(), prepare(), start(), { submit(), service() }, stop(); then again from prepare().
/// Thread: submit(), service() and wait() on one thread: the source thread, or the sink's own
/// worker thread if it may block; everything else on the owner's thread.
class IIO_STREAM_API Sink {
public:
    virtual ~Sink() = default;

    virtual Fault fault() const noexcept = 0;
    virtual SinkTraits traits() const noexcept = 0; ///< read once at first, and after prepare()
    /// Returns the format to which samples of this format must be converted because the sink cannot
    /// store them unchanged. Called before plan() if the user gives no convert=; the blocks passed
    /// to plan() then have the returned format.
    virtual Conversion conversion_of(const Format&) const { return {}; }
    /// Returns how the sink would move samples out of blocks with these traits; nullopt if it
    /// cannot, with the reason in `why`.
    virtual std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const = 0;

    /// Like Source::prepare(). `cancel` becomes readable when a blocked submit() or stop() must
    /// give up.
    virtual bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel,
                         std::string& why) = 0;
    virtual void start() {}
    /// Returns false while no peer is connected to receive the samples; the source starts only when
    /// it returns true. Called on the source thread until it returns true, whichever thread drives
    /// the sink at that time.
    virtual bool has_receiver() { return true; }
    virtual bool ready() const noexcept
    {
        return true;
    } ///< whether submit() would accept a block
      ///< now
    virtual void submit(Block filled) = 0;
    /// Completes finished operations. Called when the condition of wait() is met, and occasionally
    /// at other times.
    virtual void service() {}
    virtual Wait wait() { return {}; }
    virtual std::size_t pending() const noexcept
    {
        return 0;
    } ///< number of blocks that the sink
      ///< holds
    /// Called when no more blocks will be submitted. It can be called repeatedly.
    virtual void flush() {}
    /// Returns a value that changes while stop() does slow work, so that the work is not mistaken
    /// for a stall. Any thread.
    virtual std::uint64_t progress() const noexcept { return 0; }
    /// Returns the bytes that fit before the sink's storage is full; kUnknown: no limit is known.
    /// Any thread.
    virtual std::uint64_t free_space_left() const noexcept { return kUnknown; }
    /// Closes the sink. Stop::drain first moves all submitted samples to their destination, until
    /// `cancel` is readable. `end` is empty if the sink itself failed before the stream ended.
    virtual void stop(Stop how, const StreamEnd& end) = 0;
    /// Any thread, at any time after prepare().
    virtual SinkCounters counters() const noexcept { return {}; }
    /// Whether its board or peer is connected. Any thread, at any time.
    virtual LinkState link() const noexcept { return {}; }
    /// Returns the number of samples so far that the sink received but could not deliver. They
    /// count as dropped.
    virtual std::uint64_t missed() const noexcept { return 0; }
    virtual SinkResult result() const { return {}; } ///< valid after stop()
    /// Returns the number of bytes that reached their destination, even if later ones did not.
    /// nullopt: all bytes that the sink received and released. Valid after stop().
    virtual std::optional<std::uint64_t> stored() const noexcept { return std::nullopt; }
};

/// A feature that this build or this machine lacks.
struct Missing {
    std::string why; ///< "built without ZeroMQ"
    std::string fix; ///< how to add the feature
};

/// A kind of endpoint. It is registered once, when the program starts.
struct Scheme {
    std::string name;
    std::function<std::unique_ptr<Source>(Uri&)> source; ///< empty if it cannot be a source
    std::function<std::unique_ptr<Sink>(Uri&)> sink;
    std::string rest = {};            ///< placeholder of the text after the colon: "DEVICE"; empty
                                      ///< if there is none
    std::string summary = {};         ///< one sentence, without a full stop
    std::string example = {};         ///< a command line that uses it
    std::vector<Option> options = {}; ///< all options of its factories, without common_options()
    /// Its addresses name several kinds of endpoints with different options. Its factories check
    /// the options themselves, with detail::require_options().
    bool has_kinds = false;
    std::optional<Missing> missing = {}; ///< why this build has neither a source nor a sink of this
                                         ///< kind
};
IIO_STREAM_API void register_scheme(Scheme scheme);
IIO_STREAM_API const std::vector<Scheme>& schemes();
/// Returns the options that an endpoint of this scheme accepts on that side (both: on either side),
/// including common_options().
IIO_STREAM_API std::vector<Option> options_of(const Scheme& scheme,
                                              OptionSide side = OptionSide::both);

} // namespace iio_stream
