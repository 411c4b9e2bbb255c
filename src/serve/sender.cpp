// SPDX-License-Identifier: MIT
#include "serve/sender.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iio_stream::serve {

namespace {

constexpr std::size_t kPickedBytes = 64 * 1024;
constexpr const char* kSmall = "less than 16 KiB is copied: the client reads in small pieces";
static_assert(sys::ZeroCopy::kFewestBytes == 16 * 1024);

} // namespace

Sender::Sender(ServerState& state, std::shared_ptr<ServerState::OpenBuffer> open, std::string mask,
               Wire& wire)
    : state_(state), open_(std::move(open)), mask_(std::move(mask)), wire_(wire)
{}

Sender::~Sender()
{
    outgoing_.reset();
    wire_.forget_buffers();
    if (open_->why_copied == nullptr)
        open_->why_copied = wire_.why_copied(); // the last pieces may have been copied
    state_.close(open_);
}

void Sender::send(std::uint64_t bytes, std::int64_t timeout_ns)
{
    const std::size_t sample = open_->queue->format().sample_bytes;
    for (bool first = true; bytes >= sample; first = false) {
        if (!outgoing_)
            await_block(sys::after(timeout_ns));
        bytes -= send_piece(bytes, first);
    }
    if (bytes != 0)
        wire_.send("0\n"); // the end of the answer
}

void Sender::await_block(std::int64_t deadline_ns)
{
    wire_.await_kernel_releases(open_->capture->share() - 1);
    SharedBlock next;
    while ((next = open_->capture->take(*open_->queue)) == nullptr)
        if (!wire_.await(open_->queue->fd(), deadline_ns))
            throw Error(Fault::device, ETIMEDOUT, "read", open_->shown.device);
    if (std::exchange(run_, next->run->number) != next->run->number)
        wire_.forget_buffers();
    outgoing_ = std::make_shared<Outgoing>(std::move(next));
    done_ = 0;
    if (!demux_ || outgoing_->format().channels.size() != channels_)
        choose_demux();
}

// Called for the first block, and again when a restarted capture has more channels.
void Sender::choose_demux()
{
    channels_ = outgoing_->format().channels.size();
    demux_.emplace(outgoing_->format(), open_->queue->format());
    open_->picks = !demux_->is_trivial();
    picked_.resize(
        demux_->is_trivial() ? 0 : std::max(kPickedBytes, open_->queue->format().sample_bytes));
}

std::size_t Sender::send_piece(std::uint64_t most, bool first)
{
    const std::size_t sample = open_->queue->format().sample_bytes;
    const std::size_t captured = outgoing_->format().sample_bytes;
    std::size_t samples = (outgoing_->view.bytes().size() - done_) / captured;
    samples = static_cast<std::size_t>(std::min<std::uint64_t>(samples, most / sample));
    std::span<const std::byte> bytes = outgoing_->view.bytes().subspan(done_);
    if (demux_->is_trivial()) {
        bytes = bytes.first(samples * sample);
    } else {
        samples = std::min(samples, picked_.size() / sample);
        demux_->copy(bytes.first(samples * captured), picked_);
        bytes = std::span(picked_).first(samples * sample);
    }
    const std::string head = std::to_string(bytes.size()) + "\n" + (first ? mask_ + "\n" : "");
    if (demux_->is_trivial()) {
        wire_.send_in_place(
            head, bytes, {outgoing_->captured->block.index(), outgoing_->view.bytes()}, outgoing_);
        large_ = large_ || bytes.size() >= sys::ZeroCopy::kFewestBytes;
        open_->why_copied = large_ ? wire_.why_copied() : kSmall;
    } else {
        wire_.send(head, bytes);
    }
    open_->sent += samples;
    done_ += samples * captured;
    if (outgoing_->view.bytes().size() - done_ < captured)
        outgoing_.reset();
    return bytes.size();
}

} // namespace iio_stream::serve
