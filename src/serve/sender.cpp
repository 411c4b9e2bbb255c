// SPDX-License-Identifier: MIT
#include "serve/sender.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::serve {

namespace {

constexpr std::size_t kPickedBytes = 64 * 1024;

} // namespace

Sender::Sender(ServerState& state, std::shared_ptr<ServerState::OpenBuffer> open, std::string mask)
    : state_(state), open_(std::move(open)), mask_(std::move(mask))
{
}

Sender::~Sender()
{
    view_.reset();
    block_.reset();
    state_.close(open_);
}

void Sender::send(Wire& wire, std::uint64_t bytes, std::int64_t timeout_ns)
{
    const std::size_t sample = open_->feed->format().sample_bytes;
    for (bool first = true; bytes >= sample; first = false) {
        if (!block_)
            await_block(wire, sys::after(timeout_ns));
        bytes -= send_piece(wire, bytes, first);
    }
    if (bytes != 0)
        wire.send("0\n"); // nothing more
}

void Sender::await_block(Wire& wire, std::int64_t deadline_ns)
{
    for (;;) {
        block_ = open_->feed->take();
        if (block_)
            break;
        if (!wire.await(open_->feed->fd(), deadline_ns))
            throw Error(Fault::device, ETIMEDOUT, "read", open_->shown.device);
    }
    view_.emplace(*block_);
    done_ = 0;
    if (!demux_ || block_->format().channels.size() != channels_)
        choose_demux();
}

// A capture that has started again has more channels.
void Sender::choose_demux()
{
    channels_ = block_->format().channels.size();
    demux_.emplace(block_->format(), open_->feed->format());
    open_->picks = !demux_->is_trivial();
    picked_.resize(demux_->is_trivial() ? 0 : std::max(kPickedBytes, open_->feed->format().sample_bytes));
}

std::size_t Sender::send_piece(Wire& wire, std::uint64_t most, bool first)
{
    const std::size_t sample = open_->feed->format().sample_bytes;
    const std::size_t captured = block_->format().sample_bytes;
    std::size_t samples = (view_->bytes().size() - done_) / captured;
    samples = static_cast<std::size_t>(std::min<std::uint64_t>(samples, most / sample));
    std::span<const std::byte> bytes = view_->bytes().subspan(done_);
    if (demux_->is_trivial()) {
        bytes = bytes.first(samples * sample);
    } else {
        samples = std::min(samples, picked_.size() / sample);
        demux_->copy(bytes.first(samples * captured), picked_);
        bytes = std::span(picked_).first(samples * sample);
    }
    wire.send(std::to_string(bytes.size()) + "\n" + (first ? mask_ + "\n" : ""), bytes);
    open_->sent += samples;
    done_ += samples * captured;
    if (view_->bytes().size() - done_ < captured) {
        view_.reset();
        block_.reset();
    }
    return bytes.size();
}

} // namespace iio_stream::serve
