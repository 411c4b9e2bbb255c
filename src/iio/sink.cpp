// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "core/format/format_options.hpp"
#include "core/memory/bounce.hpp"
#include "iio/iio.hpp"
#include "iio/open_context.hpp"
#include "iio/options.hpp"
#include "iio/playback/playback.hpp"
#include "iio/playback/underflow_register_watch.hpp"
#include "iio/remote/remote.hpp"
#include "iio/source.hpp"
#include "iio/tuning/oscillator_power.hpp"
#include "iio_stream/units.hpp"

#include <exception>
#include <optional>

namespace iio_stream::iio {

namespace {

Format choose_outputs(const BufferDir& dir, const BufferSettings& settings)
{
    if (!dir.is_output())
        fail_usage(settings.name + " is an input (ADC): it can only be streamed from");
    return dir.choose(settings.channels, settings.iq);
}

Cyclic parse_cyclic(const std::string& text)
{
    if (text == "hardware")
        return Cyclic::hardware;
    if (text == "software")
        return Cyclic::software;
    return parse_switch("cyclic", text) ? Cyclic::on : Cyclic::off;
}

/// A local device's output buffer, played by DMABUFs, by mapped blocks of the kernel, or by
/// write().
/// Owns: its files and attachments. Members are in order of construction; playback_, which ends the
/// DMA, is destroyed before the files.
class IioSink final : public Sink {
public:
    IioSink(const Device& device, const BufferSettings& settings, Options& options);

    Fault fault() const noexcept override { return Fault::device; }
    SinkTraits traits() const noexcept override
    {
        return {.may_block = playback_ && playback_->may_block(), .repeats = is_cyclic()};
    }
    Conversion conversion_of(const Format& format) const override
    {
        return detail::conversion_to_device(format, format_, name_);
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override { power_.begin(); }
    void submit(Block filled) override { playback_->submit(std::move(filled)); }
    void service() override { playback_->service(); }
    Wait wait() override { return playback_ ? playback_->wait() : Wait{}; }
    std::size_t pending() const noexcept override { return playback_ ? playback_->pending() : 0; }
    void flush() override;
    std::uint64_t progress() const noexcept override { return counts_.moves; }
    void stop(Stop how, const StreamEnd& end) override;
    SinkCounters counters() const noexcept override;
    SinkResult result() const override;

private:
    /// Chooses the path that plays blocks with these traits; nullopt if there is none, with the
    /// reason in `why`.
    std::optional<Path> choose_path(const MemoryTraits& traits, std::string& why) const;
    std::unique_ptr<Playback> make_playback(Path path);
    bool is_cyclic() const noexcept { return cyclic_ != Cyclic::off; }

    std::string device_id_, name_;
    Path path_;
    BufferDir dir_;
    Format format_;
    Tuner tuner_;
    OscillatorPower power_;
    Cyclic cyclic_ = Cyclic::off;
    BufferFile file_;
    std::string dmabuf_refusal_;
    std::string blocks_refusal_; ///< why the kernel's own blocks cannot be used; empty = they can
    detail::MemoryRefusals refused_; ///< memories whose DMABUFs the buffer does not take
    PlaybackCounts counts_;
    std::atomic<double> rate_{0}; ///< samples per second, for playback(); 0 = unknown
    std::unique_ptr<Playback> playback_;
    std::optional<UnderflowRegisterWatch> watch_; ///< null if there is no underflow register
    bool last_read_requested_ = false;            ///< no more blocks come, and watch_ was notified
    std::string power_remark_;                    ///< about the oscillators, after playback
    Tuning tuning_;                               ///< settings at the start of the stream
};

IioSink::IioSink(const Device& device, const BufferSettings& settings, Options& options)
    : device_id_(device.id()),
      name_(settings.name),
      path_(settings.path),
      dir_(device.id(), name_, settings.buffer),
      format_(choose_outputs(dir_, settings)),
      tuner_(device, settings.uri, options.take_or_standard(kDeviceOptions["phy"]),
             Direction::transmit, format_.channels),
      power_(tuner_.front(), name_, options),
      file_(device.id(), settings.buffer, kInUseWaitNs)
{
    cyclic_ = parse_cyclic(options.take_or_standard(kLocalOptions["cyclic"]));
    power_.tune([&] { tuner_.take(options); });
    rate_ = tuner_.rate().value_or(0); // prepare() may set another rate
    dmabuf_refusal_ = why_no_dmabufs(file_);
    if (path_ == Path::automatic || path_ == Path::mmap)
        file_.require_blocks();
    blocks_refusal_ = why_no_blocks(file_, path_);
}

std::optional<Path> IioSink::choose_path(const MemoryTraits& traits, std::string& why) const
{
    if (traits.attachable && (path_ == Path::automatic || path_ == Path::dmabuf) &&
        dmabuf_refusal_.empty() && refused_.of(traits.memory).empty())
        return Path::dmabuf;
    if (path_ == Path::dmabuf) {
        why = dmabuf_refusal_.empty() ? refused_.of(traits.memory) : dmabuf_refusal_;
        if (why.empty())
            why = "path=dmabuf was given, but plain pages are not DMABUFs";
        return std::nullopt;
    }
    if (blocks_refusal_.empty())
        return Path::mmap;
    if (path_ == Path::mmap ||
        (path_ == Path::automatic && file_.blocks() != BufferFile::Blocks::none)) {
        why = blocks_refusal_;
        return std::nullopt;
    }
    if (cyclic_ == Cyclic::hardware) {
        why = "cyclic=hardware was given, but write() cannot repeat in hardware";
        return std::nullopt;
    }
    return Path::fileio;
}

std::optional<Hop> IioSink::plan(const MemoryTraits& traits, std::string& why) const
{
    const auto chosen = choose_path(traits, why);
    if (!chosen)
        return std::nullopt;
    Hop hop;
    if (*chosen == Path::dmabuf) {
        hop.reason = refused_.text();
        hop.mechanism = "dmabuf";
        hop.attached = true;
        hop.cpu = is_cyclic(); // the CPU makes copies if few samples are repeated
        detail::add_clause(hop.reason, tuner_.differences());
        return hop;
    }
    hop.mechanism = *chosen == Path::mmap ? "mmap" : "fileio";
    hop.copies = 1;
    hop.cpu = true;
    if (*chosen == Path::mmap) {
        hop.reason = kHasBlocks;
    } else {
        hop.reason =
            refused_.why_copied(path_ == Path::fileio ? kFileioAsked : "", dmabuf_refusal_);
        if (file_.blocks() != BufferFile::Blocks::none)
            hop.warning = kFileioDanger;
    }
    if (hop.reason.empty())
        hop.reason = "the blocks are not DMABUFs";
    detail::add_clause(hop.reason, tuner_.differences());
    return hop;
}

std::unique_ptr<Playback> IioSink::make_playback(Path path)
{
    const PlaybackContext context{dir_, file_, format_, name_, counts_, cyclic_, rate_};
    if (path == Path::mmap)
        return make_mmap_playback(context);
    if (path == Path::fileio)
        return make_fileio_playback(context);
    return is_cyclic() ? make_dmabuf_cycle(context) : make_dmabuf_playback(context);
}

bool IioSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    detail::require_same_layout(stream.format, format_, name_);
    if (stream.block_size % dir_.alignment() != 0)
        fail_usage("block size " + std::to_string(stream.block_size) + " is not a multiple of " +
                   std::to_string(dir_.alignment()) + ", the DMA alignment of " + name_);
    power_.tune([&] { tuner_.follow(stream.format.sample_rate); });
    tuning_ = tuner_.read();
    rate_ = tuning_.rate.value_or(0);
    dir_.disable_leftover();
    dir_.enable_channels(format_);
    watch_.reset();
    last_read_requested_ = false;
    counts_.underflows = counts_.repeats = counts_.unverified = counts_.moves = counts_.given = 0;
    counts_.begun = false;
    counts_.repeating = Repeating::no;
    counts_.since_ns = counts_.until_ns = 0;
    power_remark_.clear();
    const auto chosen = choose_path(pool.traits(), why);
    if (!chosen)
        return false;
    why.clear();
    if (*chosen == Path::dmabuf && stream.cut) {
        dmabuf_refusal_ =
            "--on-gap zero-fill splits blocks, and a DMABUF is always played as a whole";
        return false;
    }
    playback_ = make_playback(*chosen);
    if (playback_->prepare(stream, pool, cancel, why)) {
        std::string no_register;
        auto overflow_register = *chosen != Path::fileio || dir_.is_dma()
                                     ? StatusRegister::find(device_id_, no_register)
                                     : std::nullopt;
        if (overflow_register)
            watch_.emplace(std::move(*overflow_register), *playback_, counts_);
        return true;
    }
    refused_.add(pool.traits().memory, why);
    return false;
}

void IioSink::flush()
{
    playback_->flush();
    if (watch_ && !std::exchange(last_read_requested_, true))
        watch_->request_read();
}

SinkCounters IioSink::counters() const noexcept
{
    const double rate = rate_.load(std::memory_order_relaxed);
    return {.playback = PlaybackStats{counts_.underflows.load(std::memory_order_relaxed),
                                      counts_.repeats_at(rate),
                                      counts_.unverified.load(std::memory_order_relaxed),
                                      rate > 0 ? std::optional(rate) : std::nullopt,
                                      counts_.repeating.load(std::memory_order_relaxed)}};
}

SinkResult IioSink::result() const
{
    std::string text = playback_ ? playback_->remark() : "";
    detail::add_clause(text, power_remark_);
    return {.remark = text, .tuning = tuning_};
}

void IioSink::stop(Stop how, const StreamEnd&)
{
    watch_.reset();
    std::exception_ptr failure;
    try {
        if (playback_ && how == Stop::drain)
            playback_->drain();
    } catch (...) {
        failure = std::current_exception();
    }
    if (counts_.begun)
        power_remark_ = power_.remark();
    if (playback_)
        playback_->close();
    power_.finish(failure);
}

/// Makes the sink for "iio:DEVICE", an output (DAC), local or remote (uri=).
std::unique_ptr<Sink> make_sink(Uri& address)
{
    const BufferSettings settings = BufferSettings::from(address, OptionSide::sink);
    const ContextPtr context = open_context(settings.uri);
    const Device device = find_device(context, settings.uri, settings.name);
    if (device.is_local())
        return std::make_unique<IioSink>(device, settings, address.options);
    return make_remote_sink(device, settings, address.options);
}

} // namespace

Scheme scheme()
{
    return {"iio",
            [](Uri& uri) { return make_source(uri); },
            [](Uri& uri) { return make_sink(uri); },
            "DEVICE",
            "A Linux IIO device (ADC or DAC), by name, label or iio:deviceN",
            "iio-stream record iio:cf-ad9361-lpc frequency=2.4G capture.sigmf-meta --duration 2s",
            join(kDeviceOptions, kLocalOptions, kSourceOptions, kSinkOptions, kFrontEndOptions,
                 detail::kTuning),
            true};
}

} // namespace iio_stream::iio
