// SPDX-License-Identifier: MIT
#include "device.hpp"
#include "formats.hpp"
#include "rx_stream.hpp"
#include "tx_stream.hpp"

#include <SoapySDR/Logger.hpp>
#include <stdexcept>

namespace iio_stream::soapy {

namespace {

// Programs in C, and those in C++ that expect none, get no exception from a stream.
template <typename Call>
int coded(Call call) noexcept
try {
    return call();
} catch (const std::exception& error) {
    SoapySDR::logf(SOAPY_SDR_ERROR, "iiostream: %s", error.what());
    return SOAPY_SDR_STREAM_ERROR;
}

} // namespace

std::vector<std::string> Radio::getStreamFormats(int direction, size_t channel) const
{
    return stream_formats(port(direction).channel(channel));
}

std::string Radio::getNativeStreamFormat(int direction, size_t channel, double& full_scale) const
{
    const NativeFormat native = native_format(port(direction).channel(channel));
    full_scale = native.full_scale;
    return native.name;
}

SoapySDR::ArgInfoList Radio::getStreamArgsInfo(int direction, size_t) const
{
    return stream_args(port(direction));
}

SoapySDR::Stream* Radio::setupStream(int direction, const std::string& format,
                                     const std::vector<size_t>& channels,
                                     const SoapySDR::Kwargs& args)
{
    Port& used = port(direction);
    StreamRequest request{format, channels, args};
    if (request.channels.empty())
        request.channels = {0};
    for (const std::size_t channel : request.channels)
        (void)element_bytes(format, used.channel(channel));
    std::shared_ptr<Stream> stream;
    if (direction == SOAPY_SDR_RX)
        stream = std::make_shared<RxStream>(used, std::move(request));
    else
        stream = std::make_shared<TxStream>(used, std::move(request));
    auto* const handle = reinterpret_cast<SoapySDR::Stream*>(stream.get());
    const std::lock_guard lock(mutex_);
    streams_[handle] = std::move(stream);
    return handle;
}

void Radio::closeStream(SoapySDR::Stream* handle)
{
    std::shared_ptr<Stream> closed; // ends outside the lock, when no call uses it
    const std::lock_guard lock(mutex_);
    if (const auto found = streams_.find(handle); found != streams_.end()) {
        closed = std::move(found->second);
        streams_.erase(found);
    }
}

std::shared_ptr<Stream> Radio::stream(SoapySDR::Stream* handle) const
{
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(handle);
    if (found == streams_.end())
        throw std::invalid_argument("the stream is closed, or of another device");
    return found->second;
}

size_t Radio::getStreamMTU(SoapySDR::Stream* handle) const
{
    return stream(handle)->mtu();
}

int Radio::activateStream(SoapySDR::Stream* handle, int flags, long long time_ns, size_t elements)
{
    return coded([&] { return stream(handle)->activate(flags, time_ns, elements); });
}

int Radio::deactivateStream(SoapySDR::Stream* handle, int flags, long long time_ns)
{
    return coded([&] { return stream(handle)->deactivate(flags, time_ns); });
}

int Radio::readStream(SoapySDR::Stream* handle, void* const* out, size_t elements, int& flags,
                      long long& time_ns, long timeout_us)
{
    return coded([&] { return stream(handle)->read(out, elements, flags, time_ns, timeout_us); });
}

int Radio::writeStream(SoapySDR::Stream* handle, const void* const* in, size_t elements, int& flags,
                       long long time_ns, long timeout_us)
{
    return coded([&] { return stream(handle)->write(in, elements, flags, time_ns, timeout_us); });
}

int Radio::readStreamStatus(SoapySDR::Stream* handle, size_t& channels, int& flags,
                            long long& time_ns, long timeout_us)
{
    return coded([&] { return stream(handle)->status(channels, flags, time_ns, timeout_us); });
}

size_t Radio::getNumDirectAccessBuffers(SoapySDR::Stream* handle)
{
    return stream(handle)->buffers();
}

int Radio::acquireReadBuffer(SoapySDR::Stream* handle, size_t& buffer, const void** out, int& flags,
                             long long& time_ns, long timeout_us)
{
    return coded(
        [&] { return stream(handle)->acquire_read(buffer, out, flags, time_ns, timeout_us); });
}

void Radio::releaseReadBuffer(SoapySDR::Stream* handle, size_t buffer)
{
    (void)coded([&] {
        stream(handle)->release_read(buffer);
        return 0;
    });
}

int Radio::acquireWriteBuffer(SoapySDR::Stream* handle, size_t& buffer, void** out, long timeout_us)
{
    return coded([&] { return stream(handle)->acquire_write(buffer, out, timeout_us); });
}

void Radio::releaseWriteBuffer(SoapySDR::Stream* handle, size_t buffer, size_t elements, int& flags,
                               long long time_ns)
{
    (void)coded([&] {
        stream(handle)->release_write(buffer, elements, flags, time_ns);
        return 0;
    });
}

} // namespace iio_stream::soapy
