// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/option.hpp"
#include "iio_stream/tuning.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

/// The options that one endpoint was given, "key=value" each. The endpoint takes those of its table and
/// then calls finish(): what is left over is a usage Error.
/// Throws: a usage Error where an option was given twice, or a choice is none of its values.
class IIO_STREAM_API Options {
public:
    void set(std::string key, std::string value); ///< throws where the key is set already
    /// The value given, which is gone then; nullopt where none was.
    std::optional<std::string> take(const Option& option);
    /// The same, or the table's default.
    std::string take_or_standard(const Option& option);
    /// All keys that start with the option's ("attr."), without that prefix, in order.
    std::vector<std::pair<std::string, std::string>> take_prefixed(const Option& option);
    /// The value given, which stays, or the table's default.
    std::string get(const Option& option) const;
    std::string get(const std::string& key, std::string_view otherwise) const;
    bool has(const Option& option) const;
    void finish(const std::string& endpoint) const;
    const std::map<std::string, std::string>& values() const noexcept { return values_; }

private:
    std::map<std::string, std::string>::const_iterator find(const Option& option) const;

    std::map<std::string, std::string> values_;
    std::vector<std::string> known_;
};

/// An endpoint's address, "scheme:rest?key=value&key=value"; values are percent-decoded.
/// A word without a known scheme is the literal path of a file.
struct IIO_STREAM_API Uri {
    std::string scheme, rest;
    Options options;

    static Uri parse(std::string_view text);
    std::string text() const; ///< scheme:rest and the options, encoded
};

/// A device's address as `play` feeds it: at the rate of the recording where it names none.
IIO_STREAM_API std::string play_sink(const std::string& device);

/// One step of the samples' way, as the summary shows it.
struct Hop {
    std::string from, to;
    std::string mechanism;      ///< "dmabuf", "fileio", "buffered", "io_uring-direct" …
    std::string memory;         ///< of the blocks; empty where it is not this hop's matter
    std::size_t page_bytes = 0;
    std::optional<std::size_t> segments; ///< per block; unknown where nullopt
    unsigned copies = 0;        ///< by a CPU, per sample
    std::string reason;         ///< why not fewer copies, or why this way
    bool cpu = false;           ///< this end reads or writes the blocks with the CPU: map them
    bool attached = false;      ///< this end gives the DMABUFs to a device
    bool holds_off = false;     ///< and while it has one, the kernel lets nobody read it
};

/// What a source wants of its blocks, whatever they are made of.
struct BlockNeeds {
    std::size_t align = 1;      ///< block bytes are a multiple of it (besides the sample's bytes)
    std::size_t max_bytes = SIZE_MAX;
    std::optional<Memory> preferred; ///< what `doctor --probe` found best for this device
    std::string reason;         ///< why `preferred`
};

/// What to wait for before the next call: poll() events of a file descriptor (-1: none), a time, or
/// nothing at all.
struct Wait {
    int fd = -1;
    short events = 0;
    std::int64_t until_ns = 0; ///< CLOCK_MONOTONIC; 0 = no such time
    bool ready = false;        ///< there is nothing to wait for
};

/// What Source::take() found.
struct Taken {
    std::optional<Block> filled; ///< the next block, in the order of the samples
    bool ended = false;           ///< no more will come
};

/// Counts that a source keeps besides its blocks; read when the stream has ended.
struct SourceStats {
    std::uint64_t error_blocks = 0, cancelled_blocks = 0, unverified_blocks = 0;
    std::vector<Evidence> evidence; ///< what this source can tell losses by
    std::vector<Gap> trailing;      ///< gaps that no block was left to carry
    Retuning retuning = {};         ///< the last one; a block may have reported it already
};

/// Makes full blocks of empty ones.
/// Life: plan() for each memory in question, prepare(), start(), { submit(), take() }, stop(); again
/// from prepare() on. Throws: Error from all but stop().
/// Thread: submit(), take(), wait() and settle() are the source thread's; check() the control
/// thread's; all else the owner's, while neither runs.
class IIO_STREAM_API Source {
public:
    virtual ~Source() = default;

    virtual Fault fault() const noexcept = 0; ///< whom its failures are blamed on
    virtual const Format& format() const noexcept = 0;
    /// Its samples come at their own time: where a sink keeps all blocks, some are lost.
    virtual bool live() const noexcept { return false; }
    virtual BlockNeeds needs() const { return {}; }
    /// How samples would get into such blocks; nullopt where they cannot, with the reason in `why`.
    virtual std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const = 0;

    /// All that can fail or take time. The planned way may turn out to be refused by the device:
    /// false, with the reason in `why`, and the next best plan is tried. With true `why` tells what
    /// of it is not as good as it could be, for the route.
    virtual bool prepare(BlockPool& pool, std::string& why) = 0;
    /// From any thread or signal handler, as the stream is to stop: a prepare() or take() that waits
    /// for somebody gives up. Forgotten by the next stop().
    virtual void cancel() noexcept {}
    virtual void start() = 0; ///< enables; the blocks submitted before are filled first
    virtual void stop() noexcept = 0; ///< nothing is filled any more; blocks are back in the pool

    /// `bytes` of the block are wanted: less than its capacity only at the end of a counted stream.
    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    /// Called once wait() is satisfied, and then again until it finds nothing.
    virtual Taken take() = 0;
    virtual Wait wait() = 0;
    /// How many blocks are being filled.
    virtual std::size_t pending() const noexcept = 0;
    /// Blocks that it wants in hand besides those that are wanted of it, at the stream's end, to find
    /// out whether it has lost any samples of these. Known once it is prepared.
    virtual std::size_t beyond() const noexcept { return 0; }
    /// The deadline is past and nothing came: false where another try was made of it, else throws
    /// or returns true for a plain time-out.
    virtual bool settle() { return true; }
    /// Slow checks (hardware registers); the first right after start(), before the source thread
    /// runs. Returns when it wants to be called again.
    virtual std::chrono::nanoseconds check() { return std::chrono::hours(1); }
    /// Readable when check() is wanted at once; -1: never.
    virtual int check_fd() const noexcept { return -1; }
    virtual SourceStats stats() const { return {}; }
    virtual Tuning tuning() const { return {}; }
};

/// Sets a radio, while it streams or not, by options of "iio:DEVICE": frequency, gain, agc,
/// bandwidth, rate, antenna, attr.… (phy, channels and uri are the endpoint's); tells what it reads back.
/// Throws Error; no other endpoint can be tuned.
IIO_STREAM_API Tuning tune(const std::string& endpoint, const Options& changes);

/// What a sink learns of the stream before it starts.
struct StreamInfo {
    std::string source; ///< its URI
    Format format;
    Tuning tuning;
    std::size_t block_size = 0;
    std::uint64_t total_bytes = 0; ///< how much will come; 0 = not known
    std::int64_t timeout_ns = 0; ///< longest wait for a device to be done with a block
    bool live = false;           ///< Source::live()
    bool drops = false;          ///< what the sink has no room for is dropped (on-full=)
    bool cut = false;            ///< blocks may come in parts, with zeros between them
};

/// Who repeats what a device with cyclic=on was given.
enum class Repeating { no, software, hardware };
IIO_STREAM_API std::string name_of(Repeating repeating); ///< "" where nobody does

/// What a device that plays samples tells of it.
struct PlaybackStats {
    std::uint64_t underflows = 0; ///< times that its queue ran empty, and more was played later
    /// Times that cyclic=on has played all of it once more. Hardware does not count them: there it
    /// is what the time and the rate make, and 0 where the device tells no rate.
    std::uint64_t repeats = 0;
    std::uint64_t unverified_blocks = 0; ///< the kernel kept no status for them
    std::optional<double> rate;   ///< samples per second; unknown where it does not say
    Repeating repeating = Repeating::no;
};

enum class Stop { drain, abort };

/// Takes full blocks.
/// Life: plan(), prepare(), start(), { submit(), service() }, stop(); again from prepare() on.
/// Thread: submit(), service() and wait() belong to one thread: the source thread, or where
/// may_block() a worker of its own; the rest to the owner.
class IIO_STREAM_API Sink {
public:
    virtual ~Sink() = default;

    virtual Fault fault() const noexcept = 0;
    /// Whether submit() or service() may wait; asked once it is prepared.
    virtual bool may_block() const noexcept = 0;
    /// How it would move samples out of such blocks; nullopt where it cannot, with the reason.
    virtual std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const = 0;

    /// As Source's. `cancel` becomes readable when a blocked submit() must give up.
    virtual bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) = 0;
    virtual void start() {}
    /// False while nobody is there to take what would come: the source is not started before.
    /// Called by the source thread until it is true, whichever thread drives the sink meanwhile.
    virtual bool attended() { return true; }
    virtual bool ready() const noexcept { return true; } ///< submit() would be accepted now
    virtual void submit(Block filled) = 0;
    /// Completes what is complete; called once wait() is satisfied, and now and then.
    virtual void service() {}
    virtual Wait wait() { return {}; }
    virtual std::size_t pending() const noexcept { return 0; } ///< leases it holds
    /// No block follows those that were submitted; they end without one. May be called repeatedly.
    virtual void flush() {}
    /// Moves while stop() does something that takes its time (from any thread): it is no stall.
    virtual std::uint64_t progress() const noexcept { return 0; }
    /// Losses that became known when no block was left to carry them; before stop(), once at most.
    virtual void trailing(std::span<const Gap>) {}
    /// The last retuning, which blocks may have reported already; before stop(), once at most.
    virtual void retuned(const Retuning&) {}
    /// So many samples behind its last block it had no room for; before stop(), once at most.
    virtual void dropped(std::uint64_t) {}
    /// The stream ends by an error that is not this sink's; before stop(), once at most.
    virtual void broken_by(const Error&) {}
    /// Bytes that it can still take before its place is full; kUnknown = nobody knows. Any thread.
    virtual std::uint64_t room() const noexcept { return kUnknown; }
    /// Drain: all submitted samples reach their place first, until `cancel`. Then closes.
    virtual void stop(Stop how) = 0;
    /// Whether it goes on with what it was given until stop(), from the first flush() on.
    virtual bool repeats() const noexcept { return false; }
    /// From any thread, at any time once it is prepared; nothing where it does not play.
    virtual std::optional<PlaybackStats> playback() const noexcept { return std::nullopt; }
    /// Whether blocks that it has no room for are dropped, where the user does not say (on-full=).
    virtual bool drops_when_full() const noexcept { return false; }
    /// Samples that it was given and that went nowhere, so far: they are dropped ones, not delivered.
    virtual std::uint64_t missed() const noexcept { return 0; }
    /// What of its way became known while it was gone, for the route. Once it is stopped.
    virtual std::string remark() const { return ""; }
    /// Results beyond the counts, as a JSON object; "" where there are none.
    virtual std::string report() const { return ""; }
    /// Once it is stopped: bytes that are in their place, whatever became of those behind them.
    /// nullopt: all that it was given and let go.
    virtual std::optional<std::uint64_t> stored() const noexcept { return std::nullopt; }
};

/// Who can be asked for an endpoint. Registered once, at program start.
struct Scheme {
    std::string name;
    std::function<std::unique_ptr<Source>(Uri&)> source; ///< empty where it cannot be one
    std::function<std::unique_ptr<Sink>(Uri&)> sink;
    std::string rest = {};            ///< what stands after the colon: "DEVICE"; empty where nothing does
    std::string summary = {};         ///< one sentence, without a full stop
    std::string example = {};         ///< a command line that uses it
    std::vector<Option> options = {}; ///< all that its factories take, without common_options()
};
IIO_STREAM_API void register_scheme(Scheme scheme);
IIO_STREAM_API const std::vector<Scheme>& schemes();
/// What an endpoint of this scheme takes on that side (both: on either), common_options() included.
IIO_STREAM_API std::vector<Option> options_of(const Scheme& scheme,
                                              OptionSide side = OptionSide::both);

} // namespace iio_stream
