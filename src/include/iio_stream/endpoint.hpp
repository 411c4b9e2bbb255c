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

/// One step on the way of the samples, as shown in the summary.
struct Hop {
    std::string from, to;
    std::string mechanism; ///< "dmabuf", "fileio", "buffered", "io_uring-direct" …
    std::string memory;    ///< of the blocks; empty if this hop does not depend on it
    std::size_t page_bytes = 0;
    std::optional<std::size_t> segments; ///< per block; nullopt: unknown
    unsigned copies = 0;                 ///< made by the CPU, per sample
    std::string reason;                  ///< why not fewer copies, or why this mechanism
    std::string warning = {}; ///< dangers of this mechanism, and faults of what it reads, to be
                              ///< shown before the stream starts: one a line; empty: none
    bool cpu = false;         ///< this end accesses the blocks with the CPU: map them
    bool attached = false;    ///< this end hands the DMABUFs to a device
    bool holds_off = false;   ///< while the device has one, the kernel lets no one read it
};

/// What a source requires of its blocks, whatever they are made of.
struct BlockNeeds {
    std::size_t align = 1; ///< block sizes are a multiple of it, and of the sample size
    std::size_t max_bytes = SIZE_MAX;
    std::optional<Memory> preferred; ///< what `doctor --probe` found best for this device
    std::string reason;              ///< why `preferred`
    std::optional<Memory>
        own; ///< memory that only this source can make blocks of, and fill without a copy
};

/// What to wait for before the next call: poll() events on a file descriptor (-1: none), a point in
/// time, or nothing.
struct Wait {
    int fd = -1;
    short events = 0;
    std::int64_t until_ns = 0; ///< CLOCK_MONOTONIC; 0: no time limit
    bool ready = false;        ///< there is nothing to wait for
};

/// What Source::take() returns.
struct Taken {
    std::optional<Block> filled; ///< the next block, in sample order
    bool ended = false;          ///< no more blocks will come
};

/// Counters a source keeps besides its blocks; read after the stream has ended.
struct SourceStats {
    std::uint64_t error_blocks = 0, cancelled_blocks = 0, unverified_blocks = 0;
    std::vector<Evidence> evidence; ///< how this source can detect losses
    std::vector<Gap>
        trailing;           ///< gaps found after the last block, which had no block to carry them
    Retuning retuning = {}; ///< the last retuning; a block may have reported it already
};

/// The connection of an endpoint to its board or peer.
struct LinkState {
    bool connected = true;         ///< false while the endpoint waits for its peer to come back
    std::uint64_t disconnects = 0; ///< since the endpoint was made
};

/// Turns empty blocks into full ones.
/// Life: plan() for each kind of memory considered, prepare(), start(), { submit(), take() },
/// stop(); then again from prepare(). Throws: Error from everything but stop(). Thread: submit(),
/// take(), wait(), on_timeout() and, after start(), ends_at() on the source thread; check() on the
/// control thread; everything else on the owner's, while neither runs.
class IIO_STREAM_API Source {
public:
    virtual ~Source() = default;

    virtual Fault fault() const noexcept = 0; ///< whose fault its failures are
    virtual const Format& format() const noexcept = 0;
    /// Samples arrive at their own pace: if sinks hold on to all blocks, some are lost.
    virtual bool live() const noexcept { return false; }
    virtual BlockNeeds needs() const { return {}; }
    /// How samples get into blocks with these traits; nullopt if they cannot, with the reason in
    /// `why`.
    virtual std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const = 0;

    /// Does everything that can fail or take time. If the device refuses the planned way: false,
    /// with the reason in `why`, and the next best plan is tried. If true, `why` says what is worse
    /// than it could be, for the route.
    virtual bool prepare(BlockPool& pool, std::string& why) = 0;
    /// On any thread or in a signal handler, when the stream is to stop: a prepare() or take() that
    /// waits for a peer gives up. Reset by the next stop().
    virtual void cancel() noexcept {}
    virtual void start() = 0; ///< starts the device; it fills the blocks submitted before first
    virtual void stop() noexcept = 0; ///< nothing is filled after this; blocks are back in the pool

    /// Fill `bytes` of the block: less than its capacity only at the end of a stream of limited
    /// length.
    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    /// Called when wait() is satisfied, and repeated until it returns no block.
    virtual Taken take() = 0;
    /// The stream ends, perhaps because take() has thrown. From now on take() returns the samples
    /// that have arrived, the last ones in a block that is not full. It throws only if none have.
    /// Returns true if take() has to be called until it returns no block. Returns false if the
    /// samples are generated or can be read again.
    virtual bool flush() { return live(); }
    virtual Wait wait() = 0;
    /// Number of blocks being filled.
    virtual std::size_t pending() const noexcept = 0;
    /// Blocks it needs after the last requested one, at the end of the stream, to find out whether
    /// any requested samples were lost. Known after prepare().
    virtual std::size_t extra_blocks_at_end() const noexcept { return 0; }
    /// Only samples before that position are wanted (kUnknown: all). Before start(), and when it
    /// changes.
    virtual void ends_at(std::uint64_t) noexcept {}
    /// What became known about its hop while streaming, for the route. After stop().
    virtual std::string remark() const { return ""; }
    /// The deadline has passed without a block. False: it has made another attempt, keep waiting.
    /// True: an ordinary timeout. Throws if it knows better. `chosen`: the deadline, if the user
    /// has set it (--timeout); empty: the default one.
    virtual bool on_timeout([[maybe_unused]] std::optional<std::chrono::nanoseconds> chosen)
    {
        return true;
    }
    /// Slow checks (hardware registers); first called right after start(), before the source thread
    /// runs. Returns when it wants to be called next.
    virtual std::chrono::nanoseconds check() { return std::chrono::hours(1); }
    /// Readable when check() should be called at once; -1: never.
    virtual int check_fd() const noexcept { return -1; }
    virtual SourceStats stats() const { return {}; }
    /// Whether its board or peer is connected. Any thread, at any time.
    virtual LinkState link() const noexcept { return {}; }
    virtual Tuning tuning() const { return {}; }
    /// What it knows about its samples besides their format and tuning, for StreamInfo. Null:
    /// nothing.
    virtual std::shared_ptr<const std::string> metadata() const { return nullptr; }
};

/// Tunes a radio, streaming or not, with the options of "iio:DEVICE": frequency, gain, agc,
/// bandwidth, rate, antenna, attr.… (phy, channels and uri belong to the endpoint). Returns the
/// settings read back. Throws Error; no other endpoint can be tuned.
IIO_STREAM_API Tuning tune(const Uri& endpoint, const Options& changes);

/// What a sink learns about the stream before it starts.
struct StreamInfo {
    Uri source;
    Format format;
    Tuning tuning;
    std::size_t block_size = 0;
    std::uint64_t total_bytes = 0; ///< expected length; 0: unknown
    std::int64_t timeout_ns = 0;   ///< longest wait for a device to finish a block
    bool live = false;             ///< Source::live()
    bool drops = false;            ///< blocks the sink has no room for are dropped (on-full=)
    bool cut = false;              ///< blocks may come in parts, with zeros between them
    /// The metadata of the recording that the samples come from: valid SigMF metadata (JSON), in
    /// which core:sample_start is the position of a sample in the stream. Null: there is none.
    std::shared_ptr<const std::string> metadata = nullptr;
    /// Becomes readable when a prepare() or start() that waits for a peer must give up; -1: never.
    int cancel_start = -1;
    /// False: the source is live and has no evidence, so any number of samples may be lost
    /// anywhere.
    bool detects_losses = true;
};

/// Who repeats the samples given to a device with cyclic=on.
enum class Repeating { no, software, hardware };
IIO_STREAM_API std::string name_of(Repeating repeating); ///< "" for Repeating::no

/// What a device that plays samples reports.
struct PlaybackStats {
    std::uint64_t underflows = 0; ///< times its queue ran empty and more was played later
    /// Times cyclic=on has replayed everything. Hardware does not count them: there it is computed
    /// from time and rate, and 0 if the device reports no rate.
    std::uint64_t repeats = 0;
    std::uint64_t unverified_blocks = 0; ///< blocks the kernel kept no status for
    std::optional<double> rate; ///< samples per second; empty: the device does not report it
    Repeating repeating = Repeating::no;
};

/// What a sink that uploads what it has recorded reports.
struct UploadStats {
    std::uint64_t parts = 0;        ///< closed
    std::uint64_t stored = 0;       ///< of them, confirmed by the store
    std::uint64_t behind_bytes = 0; ///< of samples in the others
    std::uint64_t retries = 0;      ///< tries that failed
};

enum class Stop { drain, abort };

/// A conversion that a sink requires.
struct Conversion {
    std::string to;     ///< a format for Converter, "ri16_le"; "" = none is required
    std::string reason; ///< why, for the route
};

/// Consumes full blocks.
/// Life: plan(), prepare(), start(), { submit(), service() }, stop(); then again from prepare().
/// Thread: submit(), service() and wait() on one thread: the source thread, or a worker of its own
/// if may_block(); the rest on the owner's.
class IIO_STREAM_API Sink {
public:
    virtual ~Sink() = default;

    virtual Fault fault() const noexcept = 0;
    /// Whether submit() or service() may wait; asked after prepare().
    virtual bool may_block() const noexcept = 0;
    /// The format to which samples of this format are converted, because the sink cannot hold them
    /// as they are and the user gives no convert=. It is asked before plan(), whose blocks then
    /// have that format.
    virtual Conversion conversion_of(const Format&) const { return {}; }
    /// How it would move samples out of blocks with these traits; nullopt if it cannot, with the
    /// reason in `why`.
    virtual std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const = 0;

    /// Like Source::prepare(). `cancel` becomes readable when a blocked submit() or stop() must
    /// give up.
    virtual bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel,
                         std::string& why) = 0;
    virtual void start() {}
    /// False while no peer is there to receive: the source is not started until then. Called on the
    /// source thread until it returns true, whichever thread drives the sink meanwhile.
    virtual bool has_receiver() { return true; }
    virtual bool ready() const noexcept { return true; } ///< submit() would accept a block now
    virtual void submit(Block filled) = 0;
    /// Completes whatever is done; called when wait() is satisfied, and now and then.
    virtual void service() {}
    virtual Wait wait() { return {}; }
    virtual std::size_t pending() const noexcept { return 0; } ///< blocks it holds
    /// No more blocks will follow those submitted. May be called repeatedly.
    virtual void flush() {}
    /// Changes while stop() does slow work (read on any thread), so that this is not taken for a
    /// stall.
    virtual std::uint64_t progress() const noexcept { return 0; }
    /// The shortest deadline, in nanoseconds, that the end of a stream sets for the next block and
    /// for stop(), however short the stream's timeout is: a disk may take long to store what it was
    /// given. 0: the stream's timeout is enough. After prepare().
    virtual std::int64_t finish_timeout_ns() const noexcept { return 0; }
    /// Losses that became known after the last block; called before stop(), at most once.
    virtual void add_trailing_gaps(std::span<const Gap>) {}
    /// The last retuning, which blocks may have reported already; called before stop(), at most
    /// once.
    virtual void set_last_retuning(const Retuning&) {}
    /// Samples dropped after its last block, for lack of room; called before stop(), at most once.
    virtual void add_trailing_drops(std::uint64_t) {}
    /// The stream ends with an error of another endpoint; called before stop(), at most once.
    virtual void on_stream_error(const Error&) {}
    /// Bytes it can still take before its storage is full; kUnknown: no limit is known. Any thread.
    virtual std::uint64_t free_space_left() const noexcept { return kUnknown; }
    /// Drain: first gets all submitted samples to their destination, until `cancel`. Then closes.
    virtual void stop(Stop how) = 0;
    /// Whether it repeats what it was given until stop(), from the first flush() on.
    virtual bool repeats() const noexcept { return false; }
    /// On any thread, at any time after prepare(); nullopt if it plays nothing.
    virtual std::optional<PlaybackStats> playback() const noexcept { return std::nullopt; }
    /// On any thread, at any time; nullopt if it uploads nothing.
    virtual std::optional<UploadStats> uploads() const noexcept { return std::nullopt; }
    /// Whether its board or peer is connected. Any thread, at any time.
    virtual LinkState link() const noexcept { return {}; }
    /// What has become of its parts since the last call. Any thread, at any time.
    virtual std::vector<Event> take_events() { return {}; }
    /// Whether to drop blocks it has no room for if the user does not say (on-full=).
    virtual bool drops_when_full() const noexcept { return false; }
    /// Samples it was given but could not deliver, so far: they count as dropped.
    virtual std::uint64_t missed() const noexcept { return 0; }
    /// What became known about its hop while streaming, for the route. After stop().
    virtual std::string remark() const { return ""; }
    /// Results beyond the counters, as a JSON object; "" if there are none.
    virtual std::string report() const { return ""; }
    /// After stop(): bytes that reached their destination, whatever happened to later ones.
    /// nullopt: everything it was given and has released.
    virtual std::optional<std::uint64_t> stored() const noexcept { return std::nullopt; }
};

/// What this build or this machine lacks.
struct Missing {
    std::string why; ///< "built without ZeroMQ"
    std::string fix; ///< the way out
};

/// A kind of endpoint. Registered once, when the program starts.
struct Scheme {
    std::string name;
    std::function<std::unique_ptr<Source>(Uri&)> source; ///< empty if it cannot be a source
    std::function<std::unique_ptr<Sink>(Uri&)> sink;
    std::string rest = {};            ///< what follows the colon: "DEVICE"; empty for nothing
    std::string summary = {};         ///< one sentence, without a full stop
    std::string example = {};         ///< a command line that uses it
    std::vector<Option> options = {}; ///< everything its factories take, without common_options()
    std::optional<Missing> missing = {}; ///< why this build has neither source nor sink of it
};
IIO_STREAM_API void register_scheme(Scheme scheme);
IIO_STREAM_API const std::vector<Scheme>& schemes();
/// The options an endpoint of this scheme takes on that side (both: on either), common_options()
/// included.
IIO_STREAM_API std::vector<Option> options_of(const Scheme& scheme,
                                              OptionSide side = OptionSide::both);

} // namespace iio_stream
