// SPDX-License-Identifier: MIT
#include "serve/playback_client.hpp"

#include "serve/server_state.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace iio_stream::serve {

namespace {

// The answer to WRITEBUF is the number of bytes, which clients parse as an int.
constexpr std::uint64_t kMostBytes = INT32_MAX;

// Discards bytes that a client sends although they can no longer be played.
void skip(Wire& wire, std::uint64_t bytes)
{
    std::array<std::byte, 4096> unwanted;
    while (bytes != 0) {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, unwanted.size()));
        wire.receive(std::span(unwanted).first(some));
        bytes -= some;
    }
}

} // namespace

PlaybackClient::~PlaybackClient()
{
    try {
        put();               // plays samples that waited for the rest of a DMA word
    } catch (const Error&) { // a device error, but no client is left to report it to
    }
    block_.reset();
    state_.close_playback(device_);
}

void PlaybackClient::check(std::uint64_t bytes) const
{
    const PlaybackDevice& device = *device_;
    if (repeats_)
        throw Error(Fault::usage, EBUSY, "write", device.shown.device,
                    "it already repeats a cyclic buffer");
    if (bytes > (device.shown.cyclic ? device.buffer_bytes : kMostBytes))
        throw Error(Fault::usage, EINVAL, "write", device.shown.device,
                    std::to_string(bytes) + " bytes are more than its buffer holds");
}

void PlaybackClient::play(Wire& wire, std::uint64_t bytes, std::int64_t timeout_ns)
{
    check(bytes);
    wire.send("0\n"); // the client may send the samples
    const std::size_t sample = device_->writer->format().sample_bytes;
    std::uint64_t left = bytes - bytes % sample;
    try {
        receive(wire, left, timeout_ns);
        if (device_->shown.cyclic && bytes >= sample) {
            put();
            device_->writer->end();
            repeats_ = true;
        } else if (filled_ % device_->align == 0) {
            // A device plays only whole DMA words. If the last word is incomplete, the next samples
            // complete it.
            put();
        }
    } catch (const Disconnected&) {
        throw;
    } catch (const Error&) {
        skip(wire, left + bytes % sample);
        throw;
    }
    skip(wire, bytes % sample);
    wire.send(std::to_string(bytes) + "\n");
}

// Receives from the socket directly into the device's blocks.
void PlaybackClient::receive(Wire& wire, std::uint64_t& left, std::int64_t timeout_ns)
{
    while (left != 0) {
        if (!block_)
            await_block(wire, sys::after(timeout_ns));
        const std::size_t room =
            block_->samples() * device_->writer->format().sample_bytes - filled_;
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(left, room));
        {
            const CpuWrite guard{*block_};
            wire.receive(guard.bytes().subspan(filled_, some));
        }
        left -= some;
        filled_ += some;
        if (some == room)
            put();
    }
}

void PlaybackClient::await_block(Wire& wire, std::int64_t deadline_ns)
{
    Writer& writer = *device_->writer;
    for (;;) {
        auto next = writer.take(std::chrono::nanoseconds(0));
        if (next) {
            block_.emplace(std::move(*next));
            filled_ = 0;
            return;
        }
        if (writer.ended())
            throw Error(Fault::device, EPIPE, "write", device_->shown.device,
                        "the stream has ended");
        if (!wire.await(writer.fd(), deadline_ns))
            throw Error(Fault::device, ETIMEDOUT, "write", device_->shown.device);
    }
}

void PlaybackClient::put()
{
    if (!block_ || filled_ == 0)
        return;
    const std::size_t samples = filled_ / device_->writer->format().sample_bytes;
    EmptyBlock block = std::move(*block_);
    block_.reset();
    filled_ = 0;
    device_->writer->put(std::move(block), samples);
    device_->received += samples;
}

} // namespace iio_stream::serve
