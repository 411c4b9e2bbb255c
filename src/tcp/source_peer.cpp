// SPDX-License-Identifier: MIT
// How a source meets its peer, and loses it.
#include "core/text.hpp"
#include "tcp/source.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace iio_stream::tcp {

Message TcpSource::request() const
{
    return {Kind::request, Request{stream_id_, next_sequence_}.text()};
}

framing::PeerInfo TcpSource::offer_of(const Guest& guest) const
{
    if (guest.message.kind == Kind::refusal) {
        const auto json = nlohmann::json::parse(guest.message.text, nullptr, false);
        const bool told =
            json.is_object() && json.contains("message") && json["message"].is_string();
        throw Error(Fault::device, EBUSY, "receive from", settings_.name(),
                    told ? detail::printable(json["message"].get<std::string>()) : "it refuses",
                    "a tcp: sink sends to one peer; zmq: sends to many");
    }
    if (guest.message.kind != Kind::offer)
        throw Error(Fault::device, EPROTO, "receive from", settings_.name(),
                    "the other end does not send",
                    "tcp: is a source there, too: one end sends, the other receives");
    framing::PeerInfo info = framing::parse_info(guest.message.text, guest.name + "'s offer");
    if (!info.to_host)
        throw Error(Fault::device, EPROTO, "receive from", settings_.name(), "it offers no stream");
    return info;
}

// It must send the same as before: the blocks are made for that.
void TcpSource::judge(const Guest& guest) const
{
    const framing::PeerInfo info = offer_of(guest);
    framing::require_check(settings_.check, *info.to_host, guest.name,
                           "at the other end: tcp:HOST:PORT");
    if (known_)
        framing::check_same_shape(*info.to_host, *known_, guest.name);
}

void TcpSource::admit(Guest guest)
{
    const framing::PeerInfo info = offer_of(guest);
    shape_ = *info.to_host;
    known_ = shape_;
    socket_ = std::move(guest.fd);
    peer_ = guest.name;
    presence_.back();
    clock_known_ = info.clocks.has_value();
    if (clock_known_) {
        const std::int64_t way = guest.heard_ns - guest.met_ns;
        clock_offset_ns_ =
            guest.met_ns + way / 2 - std::min(info.clocks->monotonic_ns, kClockEndNs);
        uncertainty_ns_ = static_cast<std::uint64_t>(way / 2 + 1);
    }
    group_.emplace();
    group_->add(socket_.get(), POLLIN);
    door_.settle();
}

void TcpSource::fail_gone(int error, const std::string& detail, const std::string& hint) const
{
    throw Error(Fault::device, error, "receive from", settings_.name(), peer_ + " " + detail,
                !hint.empty() || settings_.reconnect_ns != 0 ? hint
                                                             : "reconnect= waits for its return");
}

// Call in a catch block. An error that the peer reports, or a request that makes no sense, is
// final.
void TcpSource::break_off(const Error& error)
{
    const int code = error.code().value();
    if (settings_.reconnect_ns == 0 || error.fault() == Fault::usage || code == EREMOTEIO ||
        code == EBADMSG)
        throw;
    let_peer_go();
    ++breaks_;
    presence_.gone();
    group_.emplace();
    group_->add(door_.fd(), POLLIN);
    door_.expect(settings_.reconnect_ns);
}

void TcpSource::let_peer_go() noexcept
{
    socket_.reset();
    access_.reset();
    header_.reset();
    head_filled_ = body_filled_ = 0;
}

} // namespace iio_stream::tcp
