// SPDX-License-Identifier: MIT
// The hot path of ffs: as a sink, and how it reacts to the cable.
#include "iio_stream/error.hpp"
#include "usb/ffs_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <utility>

namespace iio_stream::usb {

// Closing is the only thing that is always allowed; it takes back what is queued. The fences go
// first: their locks belong to the attachments, and closing one after the endpoint has hung a
// kernel.
void FfsSink::close_way() noexcept
{
    if (!sender_)
        return;
    unsend();
    group_->remove(sender_->header_fd());
    sender_.reset();
}

// Nothing is in flight any more; what was is to be sent again.
void FfsSink::unsend() noexcept
{
    unwatch();
    for (std::size_t i = 0; i < sent_; ++i)
        wire_blocks_.at(i).fence.close();
    sent_ = 0;
    again_ = false;
}

// Even a host that continues, such as one that has reconnected, learns of its losses.
void FfsSink::pass_over(const Block& filled, const std::optional<framing::Header::Loss>& loss)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    unheard_ += samples;
    passed_ = framing::seen_from_behind(framing::merged(passed_, loss), samples);
}

// The host no longer wants what was in flight.
void FfsSink::pass_over_all()
{
    if (wire_blocks_.empty())
        return;
    close_way();
    while (!wire_blocks_.empty()) {
        const WireBlock wire_block = wire_blocks_.pop();
        pass_over(wire_block.filled, wire_block.header.loss);
    }
}

void FfsSink::on_enable()
{
    enabled_ = true;
    again_ = again_ || sent_ != 0; // what was in flight ended with the endpoint
}

void FfsSink::on_disable()
{
    enabled_ = false;
}

void FfsSink::on_start(std::uint32_t stream_id, bool)
{
    stream_id_ = stream_id;
    streaming_ = true;
    pass_over_all();
}

void FfsSink::on_stop()
{
    streaming_ = false;
    pass_over_all();
}

void FfsSink::submit(Block filled)
{
    const Turn turn = function_->turn();
    if (!streaming_)
        hear(); // the block comes straight back, and a source that is always ready leaves no other
                // wait
    framing::Header header = framing::describe(filled, wire_bytes_);
    if (!streaming_)
        return pass_over(filled, header.loss);
    if (settings_.check != framing::Check::none) {
        header.checksum = framing::checksum_of(filled);
        take_ended(); // meanwhile; many blocks may be waiting for their checksums
    }
    header.loss = framing::merged(std::exchange(passed_, std::nullopt), header.loss);
    header.sequence = sequence_++;
    next_index_ = filled.sample_index() + filled.bytes() / sample_bytes_;
    if (header.loss && event_sender_)
        tell_loss(header);
    wire_blocks_.push({std::move(filled), header});
    ++blocks_;
    send_all();
}

// Before the block, which may wait long for a slow host.
void FfsSink::tell_loss(const framing::Header& header)
{
    nlohmann::ordered_json event{{"event", "overflow"},
                                 {"stream_id", stream_id_},
                                 {"sequence", header.sequence},
                                 {"lost_min", header.loss->lost_min},
                                 {"lost_max", nullptr}};
    if (header.loss->lost_max != kUnknown)
        event["lost_max"] = header.loss->lost_max;
    event_sender_->tell(std::move(event));
}

void FfsSink::send_all()
{
    const auto possible = [this] { return enabled_ && !again_ && sent_ < wire_blocks_.size(); };
    while (possible()) {
        if (!sender_ && !open_way())
            return check_refused();
        if (sent_ >= sender_->most())
            return;
        WireBlock& wire_block = wire_blocks_.at(sent_);
        wire_block.header.stream_id = stream_id_;
        wire_block.number = number_++;
        wire_block.error = 0;
        sender_->announce(wire_block);
        hear();
        if (!sender_)
            continue; // lost with its header
        if (!possible())
            return;
        if (sender_->send(wire_block) != 0) {
            again_ = true; // ENABLE is to come
            enabled_ = false;
            return;
        }
        ++sent_;
    }
}

// From the front. With the endpoint, everything after it fails too, and is sent again; a request
// that failed alone is a loss, which the host sees in the next header.
void FfsSink::take_ended()
{
    while (sent_ != 0 && sender_ && sender_->ended(wire_blocks_.front())) {
        const int error = wire_blocks_.front().error;
        if (is_endpoints(error)) {
            again_ = true;
            break;
        }
        if (error != 0 && framing::are_most(++failed_, blocks_))
            throw Error(Fault::device, error, "send to", endpoint_path(),
                        "the USB controller fails most blocks");
        unwatch();
        (void)wire_blocks_.pop();
        --sent_;
    }
    if (!again_)
        return;
    for (std::size_t i = 0; i < sent_; ++i)
        if (sender_ && !sender_->ended(wire_blocks_.at(i)))
            return; // it ends soon
    resent_ += sent_;
    unsend();
}

void FfsSink::service()
{
    const Turn turn = function_->turn();
    hear();
    take_ended();
    send_all();
}

Wait FfsSink::wait()
{
    const Turn turn = function_->turn();
    const int front = sender_ && sent_ != 0 ? sender_->wait_fd(wire_blocks_.front()) : -1;
    return wait_for_fence(sender_ && front != sender_->header_fd() ? front : -1);
}

bool FfsSink::ready() const noexcept
{
    const Turn turn = function_->turn();
    return wire_blocks_.size() < most_;
}

std::size_t FfsSink::pending() const noexcept
{
    const Turn turn = function_->turn();
    return wire_blocks_.size();
}

} // namespace iio_stream::usb
