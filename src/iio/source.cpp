// SPDX-License-Identifier: MIT
#include "iio/source.hpp"

#include "core/base/text.hpp"
#include "iio/open_context.hpp"
#include "iio/options.hpp"
#include "iio/probe/preferred_memory.hpp"
#include "iio/remote/remote.hpp"
#include "sys/device/iio_blocks.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace iio_stream::iio {

std::string why_no_blocks(const BufferFile& file, Path path)
{
    if (path == Path::fileio)
        return kFileioAsked;
    if (path == Path::dmabuf)
        return "path=dmabuf was given, but these are not DMABUFs";
    if (file.blocks() == BufferFile::Blocks::none)
        return "the kernel offers no blocks of its own (IIO_BLOCK_ALLOC_IOCTL)";
    return "";
}

IioSource::IioSource(const Device& device, const BufferSettings& settings, Options& options)
    : device_id_(device.id()),
      name_(settings.name),
      path_(settings.path),
      dir_(device_id_, name_, settings.buffer),
      file_(device_id_, settings.buffer, kInUseWaitNs)
{
    if (dir_.is_output())
        fail_usage(name_ + " is an output (DAC): it can only be streamed to",
                   "as a sink: iio-stream stream SOURCE iio:" + name_);
    const std::string counter = options.take_or_standard(kSourceOptions["counter"]);
    // The settings must not be changed before this process holds the device.
    format_ = dir_.choose(settings.channels, settings.iq);
    Tuner tuner(device, settings.uri, options.take_or_standard(kDeviceOptions["phy"]),
                Direction::receive, format_.channels);
    tuner.take(options);
    tuning_ = tuner.read();
    tuning_differs_ = tuner.differences();
    if (tuning_.rate) {
        format_.sample_rate = *tuning_.rate;
        rate_file_ = tuner.rate_file();
    } else {
        const SampleRate own = sample_rate_of(dir_.device_dir(), false);
        format_.sample_rate = own.value;
        rate_file_ = own.file;
    }
    has_blocks_ = file_.blocks() != BufferFile::Blocks::none;
    if (path_ == Path::automatic || path_ == Path::mmap)
        file_.require_blocks();
    dma_ = dir_.is_dma() || has_blocks_;
    counter_ = Counter::make(counter, format_);
    dmabuf_refusal_ = why_no_dmabufs(file_);
    watch_.emplace(tuner.front());
    for (const std::string& folder : tuner.front().folders())
        rates_.watch(folder);
    check_requests_.add(overflow_detector_.check_fd(), POLLIN);
}

BlockNeeds IioSource::needs() const
{
    BlockNeeds needs;
    needs.align = dir_.alignment();
    if (dma_)
        needs.extra_seconds = kExtraSeconds;
    if (has_blocks_ && (path_ == Path::automatic || path_ == Path::mmap)) {
        needs.max_bytes = sys::kMaxIioBlockBytes;
        needs.own = Memory{.kind = MemoryKind::kernel, .heap = {}, .fds = {}};
    }
    if (path_ != Path::fileio && dmabuf_refusal_.empty())
        if (const auto preferred = load_preferred_memory(name_)) {
            needs.preferred = preferred->memory;
            needs.reason = preferred->reason;
        }
    return needs;
}

std::optional<Path> IioSource::choose_path(const MemoryTraits& traits, std::string& why) const
{
    const bool kernel = traits.memory.kind == MemoryKind::kernel;
    if (traits.attachable && (path_ == Path::automatic || path_ == Path::dmabuf)) {
        why = dmabuf_refusal_.empty() ? refused_.of(traits.memory) : dmabuf_refusal_;
        if (why.empty())
            return Path::dmabuf;
        if (path_ == Path::dmabuf || !has_blocks_)
            return std::nullopt;
    }
    if (has_blocks_ || kernel || path_ == Path::mmap) {
        why = why_no_blocks(file_, path_);
        if (why.empty())
            why = refused_.of(traits.memory);
        if (why.empty())
            return Path::mmap;
        if (kernel || path_ != Path::fileio)
            return std::nullopt;
    }
    if (path_ == Path::dmabuf || (path_ == Path::fileio && traits.attachable)) {
        why = path_ == Path::fileio     ? kFileioAsked
              : dmabuf_refusal_.empty() ? "path=dmabuf was given, but plain pages are not DMABUFs"
                                        : dmabuf_refusal_;
        return std::nullopt;
    }
    return Path::fileio;
}

Hop IioSource::hop_of(Path path, const MemoryTraits& traits) const
{
    Hop hop;
    if (path == Path::dmabuf) {
        hop.cpu = counter_ != nullptr;
        hop.mechanism = "dmabuf";
        hop.attached = true;
        hop.reason = refused_.text();
        return hop;
    }
    hop.cpu = true;
    if (path == Path::mmap) {
        hop.mechanism = "mmap";
        hop.copies = traits.memory.kind == MemoryKind::kernel ? 0 : 1;
        hop.reason = kHasBlocks;
        detail::add_clause(hop.reason, refused_.text());
        return hop;
    }
    hop.mechanism = "fileio";
    hop.copies = 1;
    hop.reason = refused_.why_copied(path_ == Path::fileio ? kFileioAsked : "", dmabuf_refusal_);
    if (has_blocks_)
        hop.warning = kFileioDanger;
    if (evidence().empty())
        hop.reason += "; the kernel's software FIFO reports no losses, and there is no counter=";
    return hop;
}

std::optional<Hop> IioSource::plan(const MemoryTraits& traits, std::string& why) const
{
    const auto chosen = choose_path(traits, why);
    if (!chosen)
        return std::nullopt;
    why.clear();
    Hop hop = hop_of(*chosen, traits);
    detail::add_clause(hop.reason, tuning_differs_);
    return hop;
}

std::unique_ptr<Capture> IioSource::make_capture(Path path, const MemoryTraits& traits)
{
    const CaptureContext context{dir_,    file_,         format_, tracker_, overflow_detector_,
                                 *watch_, counter_.get()};
    if (path == Path::dmabuf)
        return make_dmabuf_capture(context);
    return path == Path::mmap ? make_mmap_capture(context, traits) : make_fileio_capture(context);
}

// Another program may have retuned the radio since the source was opened, or since the last stream.
void IioSource::read_settings()
{
    watch_->reset(format_.sample_rate);
    const Settings& now = watch_->first();
    tuning_.frequency = now.frequency;
    tuning_.gain = now.gain;
    tuning_.bandwidth = now.bandwidth;
    if (now.rate)
        tuning_.rate = format_.sample_rate = *now.rate;
    register_ns_ = 0;
}

bool IioSource::prepare(BlockPool& pool, std::string& why)
{
    capture_.reset();
    const auto chosen = choose_path(pool.traits(), why);
    if (!chosen)
        return false;
    why.clear();
    dir_.disable_leftover();
    dir_.enable_channels(format_);
    read_settings();
    std::string no_register;
    using detail::LossDetection;
    rates_.reset(rate_file_, format_.sample_rate);
    const bool queue_is_evidence = dma_ && (!counter_ || counter_->may_repeat());
    overflow_detector_.reset(queue_is_evidence ? StatusRegister::find(device_id_, no_register)
                                               : std::nullopt,
                             format_.sample_rate, rates_, pool.block_size() / format_.sample_bytes,
                             pool.count(), *chosen != Path::fileio,
                             has_blocks_, // drivers of such kernels clear the bit with each block
                             queue_is_evidence ? counter_.get() : nullptr);
    tracker_.reset(format_.sample_bytes,
                   evidence().empty() ? LossDetection::none : LossDetection::available);
    block_samples_ = *chosen != Path::fileio ? pool.block_size() / format_.sample_bytes : SIZE_MAX;
    if (counter_)
        counter_->reset(
            pool.block_size(), format_.sample_rate,
            *chosen == Path::dmabuf ? Counter::Dated::at_end : Counter::Dated::on_arrival, &rates_);
    capture_ = make_capture(*chosen, pool.traits());
    if (!capture_->prepare(pool, why)) {
        refused_.add(pool.traits().memory, why);
        return false;
    }
    overflow_detector_.clear(); // prepare() may have enabled the device for a moment
    return true;
}

void IioSource::start()
{
    is_watching_ = false;
    const std::int64_t before_ns = sys::monotonic_ns();
    capture_->start();
    overflow_detector_.started(before_ns);
}

void IioSource::stop() noexcept
{
    if (!capture_)
        return;
    read_register_at_end();
    overflow_detector_.finish(tracker_);
    if (counter_)
        counter_->finish(tracker_);
    watch_->finish(tracker_);
    capture_->stop();
}

// The first check() calls this, right after the start.
void IioSource::begin_watching()
{
    rates_.begin_watching();
    watch_->begin_watching();
    for (const int fd : {rates_.written_fd(), watch_->check_fd()})
        if (fd >= 0)
            check_requests_.add(fd, POLLIN);
}

std::chrono::nanoseconds IioSource::check()
{
    if (!std::exchange(is_watching_, true))
        begin_watching();
    const std::int64_t now = sys::monotonic_ns();
    if (now >= register_ns_ || sys::wait_for(overflow_detector_.check_fd(), POLLIN, now))
        register_ns_ = sys::after(overflow_detector_.check().count());
    rates_.read_if_written();
    const std::chrono::nanoseconds next = watch_->check();
    const std::int64_t left_ns =
        register_ns_ - sys::monotonic_ns(); // reading a slow register takes time
    return std::min(std::chrono::nanoseconds(std::max<std::int64_t>(left_ns, 0)), next);
}

void IioSource::read_register_at_end() noexcept
try {
    if (overflow_detector_.has_register())
        capture_->run_meanwhile([this] { overflow_detector_.read_at_end(tracker_); });
} catch (const Error&) {
    // The device was unplugged.
}

SourceInfo IioSource::info() const
{
    SourceInfo info{.tuning = tuning_};
    const std::uint64_t block = std::max<std::uint64_t>(block_samples_, 1);
    if (capture_)
        info.extra_blocks_at_end = static_cast<std::size_t>(
            (overflow_detector_.extra_samples_at_end() + block - 1) / block);
    return info;
}

std::vector<Evidence> IioSource::evidence() const
{
    std::vector<Evidence> evidence;
    if (counter_)
        evidence.push_back(Evidence::counter);
    if (!dma_ || (counter_ && !counter_->may_repeat()))
        return evidence;
    if (overflow_detector_.register_is_evidence() || overflow_detector_.has_found_loss())
        evidence.push_back(Evidence::overflow_bit);
    evidence.push_back(Evidence::starvation);
    return evidence;
}

SourceStats IioSource::stats() const
{
    SourceStats stats = capture_ ? capture_->stats() : SourceStats{};
    stats.evidence = evidence();
    stats.trailing = tracker_.left();
    stats.retuning = tracker_.retuning();
    return stats;
}

std::string IioSource::remark() const
{
    std::string text = capture_ ? capture_->remark() : "";
    if (overflow_detector_.has_register() && overflow_detector_.is_cleared_by_others())
        detail::add_clause(text, overflow_detector_.is_read_before_enqueue()
                                     ? "the kernel's driver clears the overflow register with each "
                                       "block: it is read before each block, but a loss "
                                       "in the microseconds in between is not detected"
                                     : "the kernel's driver clears the overflow register itself, "
                                       "so that a clear register does not prove that "
                                       "nothing was lost");
    return text;
}

std::unique_ptr<Source> make_source(Uri& address)
{
    const BufferSettings settings = BufferSettings::from(address, OptionSide::source);
    const ContextPtr context = open_context(settings.uri);
    const Device device = find_device(context, settings.uri, settings.name);
    if (device.is_local())
        return std::make_unique<IioSource>(device, settings, address.options);
    return make_remote_source(device, settings, address.options);
}

} // namespace iio_stream::iio
