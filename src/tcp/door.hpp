// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "tcp/message.hpp"
#include "tcp/tcp.hpp"

#include <functional>
#include <list>
#include <optional>

namespace iio_stream::tcp {

/// A peer that has introduced itself.
struct Guest {
    sys::UniqueFd fd;
    std::string name; ///< "192.168.2.1:40312"
    Message message;
    std::int64_t met_ns = 0,
                 heard_ns = 0; ///< when the connection was made, and the message was complete
};

/// Where peers come from: a listener, or attempts to connect. Strangers that say something else, or
/// nothing, delay no one: several may be at the door, each with a deadline of its own, and the
/// oldest makes room. Owns: the listener, and connections until their message is complete. Thread:
/// one at a time.
class Door {
public:
    struct Manners {
        std::function<Message()> greeting;       ///< what to say first; empty: nothing
        std::function<void(const Guest&)> judge; ///< throws Error if a guest is of no use
    };

    /// Listens at once if that is its way. Throws Error(device) if it cannot.
    Door(const Settings& settings, Manners manners);

    /// A peer is wanted, for so long (INT64_MAX: no limit; 0: one attempt, where this end
    /// connects).
    void expect(std::int64_t wait_ns) noexcept;
    /// The peer is here: no one else is looked for, though others may come.
    void settle() noexcept;
    /// A guest, if one is here now. Throws Error if one is expected and the time is over: why none
    /// came; and a usage error of judge() at once, where this end connects.
    std::optional<Guest> look();
    /// Waits for one. Throws Error(ECANCELED) when `cancel` becomes readable.
    Guest await(int cancel);
    /// Readable when look() has something to do.
    int fd() const noexcept { return group_.fd(); }
    /// Peers that were of no use, for people; "" if there were none.
    std::string strangers() const;

private:
    struct Candidate {
        sys::UniqueFd fd;
        std::string name{};
        bool connecting = false;
        std::int64_t deadline_ns = 0, met_ns = 0;
        MessageReader reader{};
    };

    void admit();
    void connect();
    bool advance(Candidate& candidate, std::optional<Guest>& guest);
    void greet(Candidate& candidate);
    void turn_away(const std::string& name, const Error& error);
    [[noreturn]] void fail_absent() const;
    void set_alarm();

    const Settings settings_;
    const Manners manners_;
    sys::FdGroup group_;
    sys::Timer alarm_;
    std::optional<sys::Listener> listener_;
    std::vector<sys::SocketAddress> addresses_; ///< to connect to
    std::size_t next_address_ = 0;
    std::list<Candidate> candidates_;        ///< oldest first
    bool expecting_ = false, tried_ = false; ///< all addresses once
    std::int64_t until_ns_ = INT64_MAX, retry_ns_ = 0;
    std::optional<Error> last_; ///< why the last one was of no use
    std::uint64_t turned_away_ = 0;
};

} // namespace iio_stream::tcp
