// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "core/format/format_options.hpp"
#include "iio/context/remote_channels.hpp"
#include "iio/options.hpp"
#include "iio/remote/remote.hpp"
#include "iio/remote/remote_buffer.hpp"
#include "iio/tuning/oscillator_power.hpp"
#include "iio/tuning/tuner.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <poll.h>
#include <utility>

namespace iio_stream::iio {

namespace {

/// Streams to a remote device's output through libiio.
class RemoteSink final : public Sink {
public:
    RemoteSink(const Device& device, const BufferSettings& settings, Options& options)
        : device_(device),
          uri_(settings.uri),
          format_(choose_channels(device, settings.channels, settings.iq, true)),
          tuner_(device, settings.uri, options.take_or_standard(kDeviceOptions["phy"]),
                 Direction::transmit, format_.channels),
          power_(tuner_.front(), device.name(), options)
    {
        power_.tune([&] { tuner_.take(options); });
    }

    Fault fault() const noexcept override { return Fault::device; }
    SinkTraits traits() const noexcept override { return {.may_block = true}; }
    Conversion conversion_of(const Format& format) const override
    {
        return detail::conversion_to_device(format, format_, device_.name());
    }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override
    {
        Hop hop;
        hop.mechanism = "libiio";
        hop.copies = 2;
        hop.cpu = true;
        hop.reason = "a remote device (" + uri_ +
                     "): copied into libiio's buffer and sent from it; "
                     "zeros follow the last block";
        detail::add_clause(hop.reason, tuner_.differences());
        return hop;
    }
    bool prepare(const StreamInfo& stream, BlockPool&, int cancel, std::string&) override
    {
        detail::require_same_layout(stream.format, format_, device_.name());
        power_.tune([&] { tuner_.follow(stream.format.sample_rate); });
        tuning_ = tuner_.read();
        buffer_ = std::make_unique<RemoteBuffer>(device_, format_, stream.block_size, true,
                                                 stream.timeout_ns);
        cancel_ = cancel;
        sent_ = false;
        power_remark_.clear();
        return true;
    }
    void start() override { power_.begin(); }
    void submit(Block filled) override
    {
        {
            const CpuRead data{filled};
            std::memcpy(buffer_->data().data(), data.bytes().data(), data.bytes().size());
        }
        push(*buffer_, filled.bytes());
        sent_ = true;
    }
    std::uint64_t progress() const noexcept override { return zeros_; }
    void stop(Stop how, const StreamEnd& end) override;
    SinkResult result() const override { return {.remark = power_remark_, .tuning = tuning_}; }

private:
    void send_zeros(RemoteBuffer& buffer);
    void push(RemoteBuffer& buffer, std::size_t bytes)
    {
        if (const int error = buffer.push(bytes); error != 0)
            throw Error(Fault::device, error, "write to", device_.name(), {},
                        "through libiio, " + uri_);
    }

    Device device_;
    std::string uri_;
    Format format_;
    Tuner tuner_;
    OscillatorPower power_;
    std::unique_ptr<RemoteBuffer> buffer_;
    std::string power_remark_; ///< about the oscillators, after playback
    Tuning tuning_;            ///< settings at the start of the stream
    int cancel_ = -1;
    bool sent_ = false;
    std::atomic<std::uint64_t> zeros_{0}; ///< blocks of zeros that were sent
};

// At CLOSE the remote side discards the samples that its kernel has not played: up to kRemoteBlocks
// of our blocks, and one that is not full. It accepts zeros for that many blocks only after it has
// played the samples before them.
void RemoteSink::send_zeros(RemoteBuffer& buffer)
{
    for (unsigned i = 0; i <= kRemoteBlocks; ++i) {
        if (sys::wait_for(cancel_, POLLIN, 0))
            return; // the canceller reports the reason
        std::ranges::fill(buffer.data(), std::byte{0});
        push(buffer, buffer.data().size());
        ++zeros_;
    }
}

void RemoteSink::stop(Stop how, const StreamEnd&)
{
    std::exception_ptr failure;
    try {
        if (buffer_ && how == Stop::drain && sent_)
            send_zeros(*buffer_);
    } catch (...) {
        failure = std::current_exception();
    }
    if (sent_)
        power_remark_ = power_.remark();
    buffer_.reset();
    power_.finish(failure);
}

} // namespace

std::unique_ptr<Sink> make_remote_sink(const Device& device, const BufferSettings& settings,
                                       Options& options)
{
    return std::make_unique<RemoteSink>(device, settings, options);
}

} // namespace iio_stream::iio
