// SPDX-License-Identifier: MIT
#include "tcp/source.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace iio_stream::tcp {

namespace {

constexpr std::int64_t kFirstBlockNs = 10'000'000'000; ///< for a sender that is starting

} // namespace

TcpSource::TcpSource(Settings settings)
    : settings_(std::move(settings)),
      rendezvous_(settings_,
                  {[this] { return request(); }, [this](const Peer& peer) { check_peer(peer); }})
{
    rendezvous_.start_waiting(settings_.wait_ns);
    accept_peer(rendezvous_.wait_for_peer(cancel_.fd()));
}

// The sender determines the size of the blocks.
BlockNeeds TcpSource::needs() const
{
    BlockNeeds needs;
    needs.align = detail::round_up(shape_.wire_bytes, shape_.format.sample_bytes);
    needs.max_bytes = needs.align;
    return needs;
}

std::optional<Hop> TcpSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "tcp";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "the socket copies out of the kernel's buffers";
    framing::add_checksum_cost(shape_.check, hop);
    return hop;
}

bool TcpSource::prepare(BlockPool& pool, std::string&)
{
    queue_.reset(pool.count());
    sequence_tracker_.reset(shape_.format.sample_bytes);
    check_.reset(shape_.check);
    breaks_ = 0;
    rest_.reset();
    if (socket_.valid())
        return true;
    rendezvous_.start_waiting(settings_.wait_ns); // stop() closed the last connection
    accept_peer(rendezvous_.wait_for_peer(cancel_.fd()));
    return true;
}

void TcpSource::start()
{
    patient_until_ns_ = sys::after(kFirstBlockNs);
}

void TcpSource::stop() noexcept
{
    cancel_.clear();
    const bool broken = !socket_.valid() && group_;
    disconnect();
    if (broken && sequence_tracker_.begun())
        sequence_tracker_.broken_off(0); // the stream ends before the peer has returned
    group_.reset();
    queue_.clear();
    stream_id_ = 0;
    next_sequence_ = 0;
}

Taken TcpSource::take()
{
    if (rest_.is_wanted())
        return rest_.take([this] { return take_next(); }, [this] { return take_part(); });
    if (!socket_.valid()) {
        auto peer = rendezvous_.poll_peer();
        if (!peer)
            return {};
        accept_peer(std::move(*peer));
    }
    try {
        return take_next();
    } catch (const Error& error) {
        break_off(error);
        return {};
    }
}

Wait TcpSource::wait()
{
    if (!socket_.valid())
        return {group_->fd(), POLLIN,
                sys::after(500'000'000)}; // the rendezvous has deadlines of its own
    return queue_.empty() ? Wait{} : Wait{group_->fd(), POLLIN};
}

bool TcpSource::on_timeout(std::optional<std::chrono::nanoseconds>)
{
    if (sys::monotonic_ns() < patient_until_ns_)
        return false;
    try {
        fail_connection(ETIMEDOUT, "sent nothing within the deadline", "--timeout waits longer");
    } catch (const Error& error) {
        break_off(error);
    }
    return false;
}

SourceStats TcpSource::stats() const
{
    SourceStats stats;
    stats.error_blocks = check_.failed();
    stats.evidence = framing::evidence_of(shape_.check);
    stats.trailing = sequence_tracker_.left();
    return stats;
}

std::string TcpSource::remark() const
{
    std::string text;
    if (breaks_ != 0)
        text = "connections broken: " + std::to_string(breaks_);
    detail::add_clause(text, rendezvous_.rejected_peers());
    return text;
}

Message TcpSource::request() const
{
    return {Kind::request, StreamRequest{stream_id_, next_sequence_}.text()};
}

framing::PeerInfo TcpSource::offer_of(const Peer& peer) const
{
    if (peer.message.kind == Kind::refusal) {
        const auto json = nlohmann::json::parse(peer.message.text, nullptr, false);
        const bool says_why =
            json.is_object() && json.contains("message") && json["message"].is_string();
        throw Error(Fault::device, EBUSY, "receive from", settings_.name(),
                    says_why ? detail::printable(json["message"].get<std::string>())
                             : "the peer refuses",
                    "a tcp: sink sends to one peer; zmq: sends to many");
    }
    if (peer.message.kind != Kind::offer)
        throw Error(Fault::device, EPROTO, "receive from", settings_.name(),
                    "the other end does not send",
                    "tcp: is a source at both ends, but one end must send");
    framing::PeerInfo info = framing::parse_info(peer.message.text, peer.name + "'s offer");
    if (!info.to_host)
        throw Error(Fault::device, EPROTO, "receive from", settings_.name(), "it offers no stream");
    return info;
}

// A peer that returns must send the same format and block size as before, because the blocks are
// made for them.
void TcpSource::check_peer(const Peer& peer) const
{
    const framing::PeerInfo info = offer_of(peer);
    framing::require_checksum(settings_.check, *info.to_host, peer.name,
                              "at the other end: tcp:HOST:PORT");
    if (known_)
        framing::check_same_shape(*info.to_host, *known_, peer.name);
}

void TcpSource::accept_peer(Peer peer)
{
    const framing::PeerInfo info = offer_of(peer);
    shape_ = *info.to_host;
    known_ = shape_;
    socket_ = std::move(peer.fd);
    peer_name_ = peer.name;
    connection_.restored();
    clock_known_ = info.clocks.has_value();
    if (clock_known_) {
        const std::int64_t way = peer.completed_ns - peer.connected_ns;
        clock_offset_ns_ =
            peer.connected_ns + way / 2 - std::min(info.clocks->monotonic_ns, framing::kClockEndNs);
        uncertainty_ns_ = static_cast<std::uint64_t>(way / 2 + 1);
    }
    group_.emplace();
    group_->add(socket_.get(), POLLIN);
    rendezvous_.stop_waiting();
}

Taken TcpSource::take_next()
{
    while (!queue_.empty()) {
        if (!header_) {
            if (!receive(head_, head_filled_))
                return {};
            header_ = framing::Header::decode(head_);
            check_header();
            join_up();
            if ((header_->flags & framing::Header::end) != 0) {
                (void)sequence_tracker_.account(*header_);
                ++next_sequence_;
                acknowledge();
                if ((header_->flags & framing::Header::broken) != 0)
                    throw Error(Fault::device, EREMOTEIO, "receive from", settings_.name(),
                                peer_name_ + "'s stream ended with an error",
                                "its own summary says which");
                return {std::nullopt, true};
            }
            access_.emplace(queue_.front().block);
        }
        if (!receive(access_->bytes().first(header_->wire_bytes), body_filled_))
            return {};
        Taken taken = deliver();
        if (taken.filled)
            return taken;
    }
    return {};
}

// Returns true when all bytes have arrived.
bool TcpSource::receive(std::span<std::byte> bytes, std::size_t& filled)
{
    while (filled < bytes.size()) {
        const ssize_t got =
            ::recv(socket_.get(), bytes.data() + filled, bytes.size() - filled, MSG_DONTWAIT);
        if (got > 0)
            filled += static_cast<std::size_t>(got);
        else if (got == 0)
            fail_connection(ECONNRESET, "closed the connection before the end of its stream");
        else if (errno == EAGAIN)
            return false;
        else if (errno != EINTR)
            fail_connection(errno, "broke the connection before the end of its stream");
    }
    return true;
}

// A block that differs from the one that was sent counts as a loss.
Taken TcpSource::deliver()
{
    access_.reset();
    const framing::Header header = *header_;
    header_.reset();
    head_filled_ = body_filled_ = 0;
    bool ours = check_.passes(header, queue_.front().block, settings_.name());
    if (ours)
        ours = sequence_tracker_.account(header);
    else
        sequence_tracker_.damaged(header);
    next_sequence_ = header.sequence + 1;
    patient_until_ns_ = 0;
    acknowledge();
    if (!ours)
        return {};
    detail::FillRequest order = queue_.pop();
    return {std::move(order.block).fill(sequence_tracker_.next(header, time_of(header), false)),
            false};
}

// Returns the time at which the last sample of the header's block was complete, on this machine's
// clock or in UTC.
Time TcpSource::time_of(const framing::Header& header) const noexcept
{
    const Time time = framing::time_of(header, clock_offset_ns_, uncertainty_ns_);
    if (!clock_known_ && time.ns != 0 && time.clock == Clock::monotonic) // approximately now
        return {Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    return time;
}

// The part is not acknowledged, so that the next receiver of the stream gets the whole block.
std::optional<Block> TcpSource::take_part()
{
    if (!access_)
        return std::nullopt;
    access_.reset();
    const framing::Header part =
        framing::first_part(*header_, body_filled_, shape_.format.sample_bytes);
    if (part.valid_bytes == 0 || !sequence_tracker_.account(part))
        return std::nullopt;
    detail::FillRequest order = queue_.pop();
    return std::move(order.block).fill(sequence_tracker_.next(part, time_of(part), false));
}

void TcpSource::check_header() const
{
    if (!header_)
        fail_connection(EPROTO, "sent something other than blocks");
    if (header_->stream_id == 0 || header_->wire_bytes > shape_.wire_bytes ||
        header_->valid_bytes % shape_.format.sample_bytes != 0)
        fail_connection(EPROTO, "sent a block of " + std::to_string(header_->valid_bytes) +
                                    " bytes, but announced at most " +
                                    std::to_string(shape_.wire_bytes) + " in samples of " +
                                    std::to_string(shape_.format.sample_bytes) + " bytes");
}

// If the stream is still the same, the sample index shows what is missing. If it is another stream,
// the number of missing samples is unknown.
void TcpSource::join_up()
{
    if (stream_id_ != 0 && header_->stream_id != stream_id_ && sequence_tracker_.begun()) {
        sequence_tracker_.broken_off(1);
        sequence_tracker_.expect(header_->sample_index);
    }
    stream_id_ = header_->stream_id;
    next_sequence_ = header_->sequence;
}

// If the socket buffer has no room for an acknowledgment, it is left out: a later one includes it.
void TcpSource::acknowledge()
{
    const auto ack = Ack{stream_id_, next_sequence_}.encode();
    const ssize_t sent = ::send(socket_.get(), ack.data(), ack.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0 && static_cast<std::size_t>(sent) < ack.size())
        fail_connection(ENOBUFS, "does not read the acknowledgments");
}

// Call in a catch block. A usage error, EBADMSG, and an error that the peer reports (EREMOTEIO) are
// final.
void TcpSource::break_off(const Error& error)
{
    const int code = error.code().value();
    rest_.broken_by(error);
    if (settings_.reconnect_ns == 0 || error.fault() == Fault::usage || code == EREMOTEIO ||
        code == EBADMSG)
        throw;
    disconnect();
    ++breaks_;
    connection_.lost();
    group_.emplace();
    group_->add(rendezvous_.fd(), POLLIN);
    rendezvous_.start_waiting(settings_.reconnect_ns);
}

void TcpSource::disconnect() noexcept
{
    socket_.reset();
    access_.reset();
    header_.reset();
    head_filled_ = body_filled_ = 0;
}

void TcpSource::fail_connection(int error, const std::string& detail, const std::string& hint) const
{
    throw Error(Fault::device, error, "receive from", settings_.name(), peer_name_ + " " + detail,
                !hint.empty() || settings_.reconnect_ns != 0 ? hint
                                                             : "reconnect= waits for its return");
}

} // namespace iio_stream::tcp
