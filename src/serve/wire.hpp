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
/// Blocks: until the client has sent or accepted the requested bytes. A client that is silent
/// within a line, or accepts nothing, for kSilenceNs is disconnected. Every wait ends when `stop`
/// is readable. Thread: one at a time.
class Wire {
public:
    static constexpr std::int64_t kSilenceNs = 30'000'000'000;

    /// `in_place`: allows send_in_place() to send without a copy.
    Wire(sys::UniqueFd fd, int stop, bool in_place);
    Wire(const Wire&) = delete;
    ~Wire();

    const std::string& peer() const noexcept { return peer_; } ///< "192.168.2.1:5000"
    std::string host() const; ///< address of the peer, without the port

    /// Returns the next line without its newline; nullopt if the client has hung up. Throws
    /// Disconnected if the line is too long, if the client is silent within it, or if the server
    /// stops.
    std::optional<std::string> line();
    /// Fills `bytes`. Throws Disconnected if they have not arrived by `deadline_ns`.
    void receive(std::span<std::byte> bytes, std::int64_t deadline_ns = INT64_MAX);
    /// Sends `text` followed by `bytes`, completely.
    void send(std::string_view text, std::span<const std::byte> bytes = {}, int flags = 0);
    /// Like send(), but without a copy if the network interface supports it. Holds `lease` until
    /// the kernel no longer needs the bytes.
    void send_in_place(std::string_view text, std::span<const std::byte> bytes,
                       const sys::ZeroCopy::Buffer& buffer, const sys::Lease& lease);
    /// Waits until the kernel needs at most `most` of the leases of send_in_place().
    void await_kernel_releases(std::size_t most);
    /// Call when the buffers that are sent in place are replaced by others.
    void forget_buffers();
    const char* why_copied() { return zero_copy().why_not(); } ///< nullptr: no bytes are copied
    /// Waits until `ready` is readable. Returns false at `deadline_ns`. Throws Disconnected if the
    /// client hangs up or the server stops.
    bool await(int ready, std::int64_t deadline_ns);

private:
    static constexpr std::size_t kLongestLine = 4096;

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
    std::optional<sys::ZeroCopy> zero_copy_; ///< only on connections that send samples
    int stop_;
    std::string peer_;
    std::array<std::byte, kLongestLine> input_;
    std::size_t begin_ = 0, end_ = 0; ///< range of the unread bytes in input_
};

} // namespace iio_stream::serve
