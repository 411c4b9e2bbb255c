// SPDX-License-Identifier: MIT
#include "tcp/sink.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "core/stream/unsent_metadata.hpp"
#include "iio_stream/api.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/uio.h>
#include <utility>

namespace iio_stream::tcp {

namespace {

constexpr std::int64_t kLeastNs = 10'000'000'000; ///< shortest deadline for a stalled peer
constexpr std::array<std::byte, framing::kPacketBytes> kPadding{};

void send_message(int fd, const Message& message)
{
    const auto bytes = message.encode();
    (void)::send(fd, bytes.data(), bytes.size(),
                 MSG_DONTWAIT | MSG_NOSIGNAL); // it fits into the empty buffer
}

} // namespace

std::optional<Hop> TcpSink::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "tcp";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "the socket copies into the kernel's buffers";
    framing::add_checksum_cost(settings_.check, hop);
    return hop;
}

bool TcpSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    detail::note_unsent_metadata(stream, why);
    cancel_ = cancel;
    shape_ = {stream.format,
              detail::round_up(pool.block_size(), framing::kPacketBytes),
              stream.source.text(),
              stream.tuning,
              {},
              settings_.check};
    timeout_ns_ = std::max(stream.timeout_ns, kLeastNs);
    stream_id_ = std::random_device{}() | 1U; // 0: none
    capacity_ = pool.count();
    outgoing_.reset(capacity_ + 1); // one more for the end
    disconnect();
    group_.emplace();
    if (!rendezvous_)
        rendezvous_.emplace(
            settings_, Rendezvous::Handshake{{}, [this](const Peer& peer) { check_peer(peer); }});
    group_->add(rendezvous_->fd(), POLLIN);
    has_receiver_ = false;
    ending_ = false;
    confirmed_ = true;
    sequence_ = next_index_ = breaks_ = resent_ = 0;
    detects_losses_ = stream.detects_losses;
    is_first_header_ = true;
    rendezvous_->start_waiting(settings_.wait_ns);
    return true;
}

// A peer that has received a part of this stream replaces its own former connection, because this
// end may not have detected yet that the connection is broken.
void TcpSink::check_peer(const Peer& peer)
{
    if (peer.message.kind != Kind::request)
        throw Error(Fault::device, EPROTO, "send to", settings_.name(),
                    "the other end does not receive",
                    "tcp: is a sink at both ends, but one end must receive");
    const StreamRequest request = StreamRequest::parse(peer.message.text, peer.name + "'s request");
    if (!socket_.valid() || request.stream_id == stream_id_)
        return;
    const nlohmann::json why{{"message", peer_name_ + " receives this stream"}};
    send_message(peer.fd.get(), {Kind::refusal, why.dump()});
    throw Error(Fault::device, EBUSY, "send to", settings_.name(),
                peer_name_ + " already receives this stream");
}

void TcpSink::accept_peer(Peer peer)
{
    const StreamRequest request = StreamRequest::parse(peer.message.text, peer.name + "'s request");
    breaks_ += socket_.valid() ? 1 : 0;
    disconnect();
    socket_ = std::move(peer.fd);
    peer_name_ = peer.name;
    connection_.restored();
    group_->add(socket_.get(), POLLIN);
    sys::configure_connection(socket_.get(),
                              timeout_ns_ + kLeastNs); // later than this end's own deadline
    framing::PeerInfo info{shape_, {}, kVersion};
    send_message(socket_.get(), {Kind::offer, framing::info_json(info, {sys::monotonic_ns(),
                                                                        sys::realtime_ns()})});
    if (request.stream_id == stream_id_)
        confirm_before(request.sequence);
    else
        is_first_header_ = true;
    progress_ns_ = sys::monotonic_ns();
    rendezvous_->stop_waiting();
    has_receiver_.store(true, std::memory_order_release);
}

void TcpSink::submit(Block filled)
{
    if (outgoing_.empty())
        progress_ns_ = sys::monotonic_ns();
    framing::Header header =
        framing::describe(filled, detail::round_up(filled.bytes(), framing::kPacketBytes));
    header.stream_id = stream_id_;
    header.sequence = sequence_++;
    if (settings_.check != framing::Check::none)
        header.checksum = framing::checksum_of(filled);
    next_index_ = header.sample_index + filled.bytes() / shape_.format.sample_bytes;
    outgoing_.push({std::move(filled), header});
    service();
}

void TcpSink::service()
{
    if (settings_.bind || !socket_.valid())
        if (auto peer = rendezvous_->poll_peer())
            accept_peer(std::move(*peer));
    if (!socket_.valid())
        return;
    try {
        receive_acks();
        send_queued();
        if (!outgoing_.empty() && sys::monotonic_ns() >= progress_ns_ + timeout_ns_)
            fail_connection(ETIMEDOUT,
                            "took nothing for " + std::to_string(timeout_ns_ / 1'000'000) + " ms");
    } catch (const Error& error) {
        break_off(error);
    }
}

void TcpSink::receive_acks()
{
    for (;;) {
        const ssize_t got = ::recv(socket_.get(), ack_.data() + ack_filled_,
                                   ack_.size() - ack_filled_, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            fail_connection(got == 0 ? ECONNRESET : errno);
        ack_filled_ += static_cast<std::size_t>(got);
        if (ack_filled_ < ack_.size())
            continue;
        ack_filled_ = 0;
        const auto ack = Ack::decode(ack_);
        const std::uint64_t unsent =
            sent_ < outgoing_.size() ? outgoing_.at(sent_).header.sequence : sequence_ + 1;
        if (!ack || ack->stream_id != stream_id_ || ack->sequence > unsent)
            fail_connection(EPROTO, "sent something other than acknowledgments");
        confirm_before(ack->sequence);
    }
}

void TcpSink::confirm_before(std::uint64_t sequence)
{
    while (!outgoing_.empty() && outgoing_.front().header.sequence < sequence) {
        if (sent_ == 0) { // the peer got it over a former connection
            access_.reset();
            offset_ = 0;
        } else {
            --sent_;
        }
        (void)outgoing_.pop();
        progress_ns_ = sys::monotonic_ns();
    }
}

void TcpSink::send_queued()
{
    while (sent_ < outgoing_.size()) {
        if (!send_front(outgoing_.at(sent_)))
            return watch_output(true);
        access_.reset();
        offset_ = 0;
        ++sent_;
    }
    watch_output(false);
}

// Returns false if the kernel takes no more bytes for now.
bool TcpSink::send_front(Outgoing& one)
{
    if (offset_ == 0) {
        if (one.filled && std::exchange(is_first_header_, false) && !detects_losses_)
            one.header.loss = framing::merged(one.header.loss, framing::kUndetectedLosses);
        one.header.encode(header_);
        if (one.filled)
            access_.emplace(*one.filled);
    }
    const auto samples = access_ ? access_->bytes() : std::span<const std::byte>{};
    const std::size_t all = header_.size() + one.header.wire_bytes;
    while (offset_ < all) {
        iovec parts[3];
        int count = 0;
        std::size_t skip = offset_;
        for (const auto part :
             {std::span<const std::byte>(header_), samples,
              std::span<const std::byte>(kPadding).first(one.header.wire_bytes - samples.size())}) {
            const std::size_t here = std::min(skip, part.size());
            skip -= here;
            if (here < part.size())
                parts[count++] = {const_cast<std::byte*>(part.data()) + here, part.size() - here};
        }
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = static_cast<std::size_t>(count);
        const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            return false;
        if (sent < 0 && errno != EINTR)
            fail_connection(errno);
        if (sent > 0) {
            offset_ += static_cast<std::size_t>(sent);
            progress_ns_ = sys::monotonic_ns();
        }
    }
    return true;
}

void TcpSink::watch_output(bool wanted)
{
    if (wanted == watching_output_)
        return;
    watching_output_ = wanted;
    group_->remove(socket_.get());
    group_->add(socket_.get(), static_cast<short>(POLLIN | (wanted ? POLLOUT : 0)));
}

void TcpSink::fail_connection(int error, const std::string& detail) const
{
    const std::string what = !detail.empty()      ? detail
                             : error == ETIMEDOUT ? "does not answer"
                                                  : "closed the connection";
    throw Error(Fault::device, error, "send to", settings_.name(), peer_name_ + " " + what,
                settings_.reconnect_ns == 0 ? "reconnect= waits for its return" : "");
}

// Call in a catch block.
void TcpSink::break_off(const Error&)
{
    try {
        receive_acks(); // acknowledgments that arrived before the connection broke
    } catch (const Error&) {
    } // without them, more blocks are sent again
    disconnect();
    if (settings_.reconnect_ns == 0)
        throw;
    ++breaks_;
    connection_.lost();
    rendezvous_->start_waiting(settings_.reconnect_ns);
}

void TcpSink::disconnect() noexcept
{
    if (socket_.valid())
        group_->remove(socket_.get());
    socket_.reset();
    access_.reset();
    resent_ += sent_ + (offset_ != 0 ? 1 : 0);
    sent_ = offset_ = ack_filled_ = 0;
    watching_output_ = false;
}

// Waits until the peer has acknowledged everything, or until `cancel` becomes readable.
void TcpSink::wait_for_acks()
{
    progress_ns_ = sys::monotonic_ns();
    for (service(); !outgoing_.empty(); service()) {
        pollfd fds[] = {{group_->fd(), POLLIN, 0}, {cancel_, POLLIN, 0}};
        (void)sys::wait_for(fds, sys::after(100'000'000));
        if (fds[1].revents != 0)
            return;
    }
}

void TcpSink::stop(Stop how, const StreamEnd& stream_end)
{
    if (!group_)
        return;
    if (how == Stop::drain && has_receiver_ && outgoing_.empty()) {
        framing::Header end;
        end.flags = framing::Header::end | (stream_end.error ? framing::Header::broken : 0U);
        end.stream_id = stream_id_;
        end.sequence = sequence_;
        end.sample_index = next_index_ + stream_end.dropped;
        end.loss = framing::merge_trailing(stream_end.gaps);
        outgoing_.push({std::nullopt, end});
        try {
            wait_for_acks();
        } catch (const Error&) { // the peer has all blocks, and may not need the end
        }
        confirmed_ = outgoing_.empty();
    }
    disconnect();
    outgoing_.clear();
    group_.reset();
}

SinkResult TcpSink::result() const
{
    std::string text;
    if (breaks_ != 0)
        text = "connections broken: " + std::to_string(breaks_) +
               ", blocks sent again: " + std::to_string(resent_);
    if (!confirmed_)
        detail::add_clause(text, "the peer disconnected before it received the end");
    if (rendezvous_)
        detail::add_clause(text, rendezvous_->rejected_peers());
    return {.remark = text};
}

} // namespace iio_stream::tcp
