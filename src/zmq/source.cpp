// SPDX-License-Identifier: MIT
#include "zmq/source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <utility>

namespace iio_stream::zmq {

namespace {

constexpr int kMessages = 16; ///< that libzmq can hold; each can be as large as a block
constexpr std::int64_t kLargest = 256 << 20; ///< bytes of a message; larger ones are not plausible

} // namespace

std::optional<Hop> ZmqSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "zmq-" + settings_.pattern;
    hop.copies = 2;
    hop.cpu = true;
    hop.reason = "from the kernel's buffers into messages, and from there into blocks";
    if (!settings_.index)
        hop.reason += "; losses are not detected without index=on";
    return hop;
}

bool ZmqSource::prepare(BlockPool& pool, std::string&)
{
    queue_.reset(pool.count());
    using detail::LossDetection;
    tracker_.reset(format_.sample_bytes,
                   settings_.index ? LossDetection::available : LossDetection::none);
    index_.reset();
    message_.reset();
    used_ = filled_ = 0;
    flushing_ = failed_ = false;
    deadline_.reset(format_, pool);
    if (socket_) // prepared again because another endpoint rejected its plan
        return true;
    context_.emplace();
    socket_.emplace(*context_, settings_.pattern == "sub" ? ZMQ_SUB : ZMQ_PULL, settings_.address);
    socket_->set(ZMQ_RCVHWM, settings_.limit != 0 ? static_cast<int>(settings_.limit) : kMessages);
    socket_->limit_messages(kLargest);
    if (settings_.curve)
        secure(*socket_, *settings_.curve, settings_.bind);
    if (settings_.curve && !settings_.curve->clients.empty())
        authenticator_.emplace(*context_, *settings_.curve);
    socket_->open(settings_.bind);
    return true;
}

// Only messages that are sent from now on belong to this stream.
void ZmqSource::start()
{
    if (settings_.pattern == "sub")
        socket_->subscribe_to_all();
}

void ZmqSource::stop() noexcept
{
    queue_.clear();
    message_.reset();
    socket_.reset();
    authenticator_.reset();
    context_.reset();
}

SourceStats ZmqSource::stats() const
{
    SourceStats stats;
    if (settings_.index)
        stats.evidence = {Evidence::counter};
    stats.trailing = tracker_.left();
    return stats;
}

// Returns the index of the message whose first part was just received. The second part, with the
// samples, is received here.
std::optional<Index> ZmqSource::take_index()
{
    const bool more = message_->more_follow();
    const auto index = Index::decode(message_->bytes());
    const auto refuse = [&](const std::string& what, const std::string& hint) {
        throw Error(Fault::other, EBADMSG, "receive from", settings_.address, what, hint);
    };
    if (!settings_.index) {
        if (more)
            refuse("a message of several parts",
                   index ? "the sender uses index=on: use it at this end, too"
                         : "the sender must not send keys before the samples");
        return std::nullopt;
    }
    if (!index || !more)
        refuse("a message without an index",
               "index=on of a source needs index=on at the zmq: sink");
    if (index->sample_bytes != format_.sample_bytes)
        refuse("samples of " + std::to_string(index->sample_bytes) + " bytes, not " +
                   std::to_string(format_.sample_bytes),
               "is format= right?");
    if (!socket_->receive(*message_) || message_->more_follow()) // all parts arrive at once
        refuse("an index that is not followed by one part of samples", "");
    return index;
}

// Returns false if no message has arrived yet. After an invalid message, no more are received.
bool ZmqSource::next_message()
{
    if (failed_)
        return false;
    message_.emplace();
    used_ = 0;
    bool received = false;
    try {
        received = receive_message();
    } catch (...) {
        failed_ = true;
        message_.reset();
        throw;
    }
    if (!received)
        message_.reset();
    return received;
}

bool ZmqSource::receive_message()
{
    if (!socket_->receive(*message_))
        return false;
    const auto index = take_index();
    const std::size_t bytes = message_->bytes().size(), sample = format_.sample_bytes;
    if (bytes % sample != 0)
        throw Error(Fault::other, EBADMSG, "receive from", settings_.address,
                    "a message of " + std::to_string(bytes) +
                        " bytes is not a whole number of samples of " + std::to_string(sample) +
                        " bytes",
                    "is format= right? the sender must not send tags");
    if (index &&
        !index_.account(*index, bytes / sample, tracker_.position() + filled_ / sample, tracker_))
        throw Error(Fault::other, EBADMSG, "receive from", settings_.address,
                    "an index that goes backwards", "do several senders share one address?");
    return true;
}

// Copies messages into the block. Returns false if it is not full yet.
bool ZmqSource::fill(detail::FillRequest& order)
{
    const CpuWrite out{order.block};
    while (filled_ < order.bytes) {
        if (!message_ && !next_message())
            return false;
        const auto left = message_->bytes().subspan(used_);
        const std::size_t part = std::min(left.size(), order.bytes - filled_);
        std::memcpy(out.bytes().data() + filled_, left.data(), part);
        filled_ += part;
        used_ += part;
        if (part == left.size())
            message_.reset();
    }
    return true;
}

Taken ZmqSource::take()
{
    if (queue_.empty())
        return {};
    bool full = false;
    try {
        full = fill(queue_.front());
    } catch (const Error&) { // at the end, deliver the samples that have arrived
        if (!flushing_ || filled_ == 0)
            throw;
    }
    deadline_.filled(filled_);
    if (!full && (filled_ == 0 || !(flushing_ || deadline_.due() != 0)))
        return {};
    deadline_.filled(0);
    detail::FillRequest order = queue_.pop();
    // Messages do not state when their samples were taken. The sender may be playing a recording.
    const BlockInfo info = tracker_.next(std::exchange(filled_, 0), Time{});
    return {std::move(order.block).fill(info), false};
}

Wait ZmqSource::wait()
{
    if (queue_.empty())
        return {};
    return {socket_->fd(), POLLIN, deadline_.until_ns(), message_ || socket_->can(ZMQ_POLLIN)};
}

bool ZmqSource::on_timeout(std::optional<std::chrono::nanoseconds>)
{
    throw Error(Fault::device, ETIMEDOUT, "receive from", settings_.address,
                "no message has arrived within the deadline",
                "--timeout waits longer; is the sender running, with the matching pattern?");
}

} // namespace iio_stream::zmq
