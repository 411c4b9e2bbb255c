// SPDX-License-Identifier: MIT
#include "tcp/source.hpp"

#include "core/sizing.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::tcp {

namespace {

constexpr std::int64_t kFirstBlockNs = 10'000'000'000; ///< for a sender that gets ready

} // namespace

TcpSource::TcpSource(Settings settings)
    : settings_(std::move(settings)),
      door_(settings_, {[this] { return request(); }, [this](const Guest& guest) { judge(guest); }})
{
    door_.expect(settings_.wait_ns);
    admit(door_.await(cancel_.fd()));
}

// The sender decides on the blocks.
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
    framing::tell_price(shape_.check, hop);
    return hop;
}

bool TcpSource::prepare(BlockPool& pool, std::string&)
{
    queue_.reset(pool.count());
    sequence_tracker_.reset(shape_.format.sample_bytes);
    check_.reset(shape_.check);
    breaks_ = 0;
    if (socket_.valid())
        return true;
    door_.expect(settings_.wait_ns); // the last stream ended without it
    admit(door_.await(cancel_.fd()));
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
    let_peer_go();
    if (broken && sequence_tracker_.begun())
        sequence_tracker_.broken_off(0); // it ends before the peer has come back
    group_.reset();
    queue_.clear();
    stream_id_ = 0;
    next_sequence_ = 0;
}

Taken TcpSource::take()
{
    if (!socket_.valid()) {
        auto guest = door_.look();
        if (!guest)
            return {};
        admit(std::move(*guest));
    }
    try {
        return take_next();
    } catch (const Error& error) {
        break_off(error);
        return {};
    }
}

// True when all is there.
bool TcpSource::receive(std::span<std::byte> bytes, std::size_t& filled)
{
    while (filled < bytes.size()) {
        const ssize_t got =
            ::recv(socket_.get(), bytes.data() + filled, bytes.size() - filled, MSG_DONTWAIT);
        if (got > 0)
            filled += static_cast<std::size_t>(got);
        else if (got == 0)
            fail_gone(ECONNRESET, "closed the connection before the end of its stream");
        else if (errno == EAGAIN)
            return false;
        else if (errno != EINTR)
            fail_gone(errno, "broke the connection before the end of its stream");
    }
    return true;
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
                                peer_ + "'s stream ended with an error",
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

void TcpSource::check_header() const
{
    if (!header_)
        fail_gone(EPROTO, "sends something else than blocks");
    if (header_->stream_id == 0 || header_->wire_bytes > shape_.wire_bytes ||
        header_->valid_bytes % shape_.format.sample_bytes != 0)
        fail_gone(EPROTO, "sends a block of " + std::to_string(header_->valid_bytes) +
                              " bytes, and said " + std::to_string(shape_.wire_bytes) +
                              " at most, in samples of " +
                              std::to_string(shape_.format.sample_bytes));
}

// Of the same stream, the index shows what is missing; of another one's samples nothing does.
void TcpSource::join_up()
{
    if (stream_id_ != 0 && header_->stream_id != stream_id_ && sequence_tracker_.begun()) {
        sequence_tracker_.broken_off(1);
        sequence_tracker_.expect(header_->sample_index);
    }
    stream_id_ = header_->stream_id;
    next_sequence_ = header_->sequence;
}

// A block that differs from what was sent is a loss.
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
    Time time{Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    if (clock_known_ && header.time_ns > 0 && header.time_ns < kClockEndNs)
        time = {Clock::monotonic, header.time_ns + clock_offset_ns_, uncertainty_ns_};
    detail::Order order = queue_.pop();
    return {std::move(order.block).fill(sequence_tracker_.next(header, time, false)), false};
}

// A later one says more: one that finds no room is left out.
void TcpSource::acknowledge()
{
    const auto ack = Ack{stream_id_, next_sequence_}.encode();
    const ssize_t sent = ::send(socket_.get(), ack.data(), ack.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0 && static_cast<std::size_t>(sent) < ack.size())
        fail_gone(ENOBUFS, "does not hear which blocks have come");
}

Wait TcpSource::wait()
{
    if (!socket_.valid())
        return {group_->fd(), POLLIN, sys::after(500'000'000)}; // the door has deadlines of its own
    return queue_.empty() ? Wait{} : Wait{group_->fd(), POLLIN};
}

bool TcpSource::settle()
{
    if (sys::monotonic_ns() < patient_until_ns_)
        return false;
    try {
        fail_gone(ETIMEDOUT, "has sent nothing within the deadline", "--timeout waits longer");
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
    if (const std::string strangers = door_.strangers(); !strangers.empty())
        detail::add_clause(text, strangers);
    return text;
}

} // namespace iio_stream::tcp
