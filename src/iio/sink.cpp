// SPDX-License-Identifier: MIT
#include "iio/sink.hpp"

#include "core/fifo.hpp"
#include "iio/dmabuf_queue.hpp"
#include "iio/fileio_order.hpp"
#include "iio/iio.hpp"
#include "iio/remote.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <span>

namespace iio_stream::iio {

namespace {

constexpr std::size_t kPrefill = 2; ///< blocks in the queue before the DAC is switched on

/// A local device's output buffer, by DMABUF or write().
/// Owns: its files and attachments.
class IioSink final : public Sink {
public:
    IioSink(const Device& device, const BufferSettings& settings, Options& options);

    Fault fault() const noexcept override { return Fault::device; }
    bool may_block() const noexcept override { return !dmabuf_; } // write() copies, hence a worker
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override { return true; }
    void submit(Filled filled) override;
    void service() override;
    Wait wait() override { return {dmabuf_ ? queue_.wait_fd() : -1, POLLIN}; }
    std::size_t pending() const noexcept override { return playing_.size(); }
    void flush() override;
    void stop(Stop how) override;

private:
    void close() noexcept;
    void write(std::span<const std::byte> data);
    void drain_kernel_blocks();
    void enable();
    [[noreturn]] void fail_ended(int error) const;
    [[noreturn]] void fail_late() const;

    std::string name_;
    Path path_;
    BufferDir dir_;
    Format format_;
    BufferFile file_;
    std::string dmabuf_refusal_;
    DmabufQueue queue_;
    detail::Fifo<Filled> playing_; ///< in the device's queue
    bool dmabuf_ = false, enabled_ = false;
    std::size_t kernel_block_ = 0; ///< of fileio, in bytes
    std::size_t in_block_ = 0;     ///< bytes in the kernel block that is being filled
    std::size_t room_ = 0;         ///< of all kernel blocks, when none is in the device's hands
    std::int64_t timeout_ns_ = 0, progress_ns_ = 0;
    int cancel_ = -1;
};

IioSink::IioSink(const Device& device, const BufferSettings& settings, Options& options)
    : name_(settings.name), path_(settings.path), dir_(device.id(), name_, settings.buffer),
      file_(device.id(), settings.buffer), queue_(file_.fd())
{
    if (!dir_.is_output())
        fail_usage(name_ + " is an input (ADC): it can only be streamed from");
    Tuner(device, settings.uri, options.take("phy", "auto"), Direction::transmit).apply(options);
    format_ = dir_.choose(settings.channels);
    dmabuf_refusal_ = dmabuf_refusal_text(file_.dmabuf_refusal());
}

std::optional<Hop> IioSink::plan(const MemoryTraits& traits, std::string& why) const
{
    Hop hop;
    if (traits.attachable && path_ != Path::fileio && dmabuf_refusal_.empty()) {
        hop.mechanism = "dmabuf";
        hop.attached = true;
        return hop;
    }
    if (path_ == Path::dmabuf) {
        why = dmabuf_refusal_.empty() ? "path=dmabuf was asked for, and plain pages are no DMABUFs"
                                      : dmabuf_refusal_;
        return std::nullopt;
    }
    hop.mechanism = "fileio";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = path_ == Path::fileio   ? "path=fileio was asked for"
                 : dmabuf_refusal_.empty() ? "the blocks are no DMABUFs"
                                           : dmabuf_refusal_;
    return hop;
}

bool IioSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    check_same_samples(stream.format, format_, name_);
    if (stream.block_bytes % dir_.alignment() != 0)
        fail_usage("block size " + std::to_string(stream.block_bytes) + " is not a multiple of " +
                   std::to_string(dir_.alignment()) + ", the DMA alignment of " + name_);
    if (dir_.is_enabled())
        dir_.disable(); // a killed program left it so: no living one has it, since its file is ours
    dir_.enable_channels(format_);
    const std::size_t scans = stream.block_bytes / format_.sample_bytes;
    timeout_ns_ = stream.timeout_ns;
    cancel_ = cancel;
    enabled_ = false;
    playing_.reset(pool.count());
    dmabuf_ = pool.traits().attachable && path_ != Path::fileio && dmabuf_refusal_.empty();
    if (!dmabuf_) {
        kernel_block_ = std::min(scans, kMaxKernelBlock / format_.sample_bytes) * format_.sample_bytes;
        in_block_ = 0;
        (void)dir_.set_length(2 * (kernel_block_ / format_.sample_bytes));
        return true;
    }
    (void)dir_.set_length(scans);
    int error = 0;
    if (queue_.attach(pool, error))
        return true;
    why = dmabuf_refusal_ = dmabuf_refusal_text(error) + ", memory " + pool.traits().memory.name();
    return false;
}

void IioSink::enable()
{
    dir_.enable();
    enabled_ = true;
    progress_ns_ = sys::monotonic_ns();
}

void IioSink::submit(Filled filled)
{
    if (!dmabuf_) {
        if (!enabled_) {
            enable();
            room_ = dir_.data_available();
        }
        const CpuRead data{filled};
        return write(data.bytes());
    }
    if (playing_.empty())
        progress_ns_ = sys::monotonic_ns();
    (void)queue_.enqueue(filled.index(), filled.bytes());
    playing_.push(std::move(filled));
    if (!enabled_ && playing_.size() >= kPrefill)
        enable();
}

// Fewer blocks than the prefill: they are played all the same.
void IioSink::flush()
{
    if (dmabuf_ && !enabled_ && !playing_.empty())
        enable();
}

void IioSink::write(std::span<const std::byte> data)
{
    std::size_t done = 0;
    try {
        if (!sys::write_all(file_.fd(), file_.path(), data, cancel_, done))
            throw Error(Fault::device, ECANCELED, "write", file_.path(),
                        "stopped before all was written");
    } catch (const Error& error) {
        if (error.code().value() == ENODEV)
            fail_ended(ENODEV);
        throw;
    }
    in_block_ = (in_block_ + data.size()) % kernel_block_;
}

// The kernel plays whole blocks of its own, and forgets what it has not played when it is disabled:
// zeros fill the last one, and the device is waited for.
void IioSink::drain_kernel_blocks()
{
    static constexpr std::array<std::byte, 4096> kZeros{};
    while (in_block_ != 0)
        write(std::span(kZeros).first(std::min(kernel_block_ - in_block_, kZeros.size())));
    const std::int64_t deadline = sys::after(timeout_ns_);
    while (dir_.data_available() < room_) {
        if (!dir_.is_enabled())
            fail_ended(EINTR);
        if (sys::monotonic_ns() >= deadline)
            fail_late();
        if (sys::wait_for(cancel_, POLLIN, sys::after(2'000'000)))
            return; // the wait was cancelled, and whoever did so tells
    }
}

void IioSink::service()
{
    while (const auto done = queue_.take()) {
        (void)playing_.pop();
        progress_ns_ = sys::monotonic_ns();
        if (done->state == Completion::State::cancelled || done->state == Completion::State::failed)
            fail_ended(done->error);
    }
    if (playing_.empty() || !enabled_ || sys::monotonic_ns() < progress_ns_ + timeout_ns_)
        return;
    if (!dir_.is_enabled())
        fail_ended(EINTR);
    fail_late();
}

void IioSink::fail_late() const
{
    throw Error(Fault::device, ETIMEDOUT, "play a block on", name_,
                "it was not done within " + std::to_string(timeout_ns_ / 1'000'000) + " ms",
                "--timeout changes the deadline");
}

void IioSink::fail_ended(int error) const
{
    if (!dir_.exists())
        throw Error(Fault::device, ENODEV, "write to", name_, "the device is gone");
    if (error == EINTR)
        throw Error(Fault::device, ECANCELED, "write to", name_,
                    "the buffer was disabled by somebody else",
                    "another program has written 0 to " + dir_.path() + "/enable");
    throw Error(Fault::device, error, "DMA from", "a block for " + name_);
}

void IioSink::stop(Stop how)
{
    try {
        if (how == Stop::drain && !dmabuf_ && enabled_)
            drain_kernel_blocks();
    } catch (...) {
        close();
        throw;
    }
    close();
}

void IioSink::close() noexcept
{
    if (playing_.empty())
        dir_.disable();
    else
        dir_.take_back();
    queue_.drop();
    playing_.clear();
    queue_.detach();
}

} // namespace

void check_same_samples(const Format& stream, const Format& device, const std::string& name)
{
    bool same = stream.channels.size() == device.channels.size();
    for (std::size_t i = 0; same && i < stream.channels.size(); ++i)
        same = stream.channels[i].type == device.channels[i].type;
    if (!same)
        fail_usage("the stream's samples (" + std::to_string(stream.channels.size()) +
                       " channels of " + stream.name() + ") are not " + name + "'s (" +
                       std::to_string(device.channels.size()) + " of " + device.name() + ")",
                   "channels= chooses channels, convert= the format");
}

std::unique_ptr<Sink> make_sink(Uri& address)
{
    const BufferSettings settings = BufferSettings::from(address);
    const ContextPtr context = open_context(settings.uri);
    const Device device = find_device(context, settings.uri, settings.name);
    if (device.is_local())
        return std::make_unique<IioSink>(device, settings, address.options);
    return make_remote_sink(device, settings, address.options);
}

Scheme scheme()
{
    return {"iio", [](Uri& uri) { return make_source(uri); }, [](Uri& uri) { return make_sink(uri); }};
}

} // namespace iio_stream::iio
