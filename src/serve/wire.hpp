// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "sys/network/zero_copy.hpp"
#include "sys/unique_fd.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace iio_stream::serve {

/// Thrown when the connection has ended, or cannot be used any more.
struct Disconnected : Error {
    using Error::Error;
};

/// A client's connection.
/// Blocks: until the client has sent or taken the requested bytes. A client that is silent within a
/// line, or takes nothing for kSilenceNs, is disconnected. Every wait ends when `stop` is readable.
/// Thread: one at a time.
class Wire {
public:
    static constexpr std::int64_t kSilenceNs = 30'000'000'000;

    /// `in_place`: send_in_place() may do so.
    Wire(sys::UniqueFd fd, int stop, bool in_place);
    Wire(const Wire&) = delete;
    ~Wire();

    const std::string& peer() const noexcept { return peer_; } ///< "192.168.2.1:5000"
    std::string host() const;                                  ///< of the peer, without its port

    /// The next line without its end; nullopt if the client has hung up or the server stops. A line
    /// that is too long throws Disconnected.
    std::optional<std::string> line();
    /// All bytes must have come by `deadline_ns`.
    void receive(std::span<std::byte> bytes, std::int64_t deadline_ns = INT64_MAX);
    /// Sends `text` followed by `bytes`, completely.
    void send(std::string_view text, std::span<const std::byte> bytes = {}, int flags = 0);
    /// The same, without a copy where the network can do that: `lease` is held until the bytes are
    /// no longer needed.
    void send_in_place(std::string_view text, std::span<const std::byte> bytes,
                       const sys::ZeroCopy::Buffer& buffer, const sys::Lease& lease);
    /// The memory of what is sent in place changes.
    void forget_buffers();
    const char* why_copied() { return zero_copy().why_not(); } ///< nullptr: it is not
    /// Waits until `ready` is readable, or `deadline_ns`: false then. Throws Disconnected if the
    /// client hangs up.
    bool await(int ready, std::int64_t deadline_ns);

private:
    static constexpr std::size_t kLongestLine = 4096;
    static constexpr std::size_t kMostOtherLeases =
        1; ///< then, with its own and the next, Capture::kMostHeld

    std::size_t receive_some(std::span<std::byte> bytes, std::int64_t deadline_ns);
    bool has_sent(ssize_t sent);
    void wait(short events, std::int64_t deadline_ns);
    template <typename Done>
    void await_kernel(Done done);
    sys::ZeroCopy& zero_copy();
    int completions_fd() const noexcept { return zero_copy_ ? zero_copy_->fd() : -1; }
    [[noreturn]] void fail_disconnected(int error, const char* operation) const;

    sys::UniqueFd fd_;
    const bool in_place_;
    std::optional<sys::ZeroCopy> zero_copy_; ///< of connections that samples are sent on
    int stop_;
    std::string peer_;
    std::array<std::byte, kLongestLine> input_;
    std::size_t begin_ = 0, end_ = 0; ///< of what is unread in input_
};

} // namespace iio_stream::serve
