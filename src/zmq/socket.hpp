// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <zmq.h>

namespace iio_stream::zmq {

/// One message, either received or made from memory.
class Message {
public:
    Message() noexcept { ::zmq_msg_init(&message_); }
    /// Uses `bytes` without a copy. They must stay valid until libzmq calls `release` with `hint`,
    /// which it does on any thread.
    Message(std::span<const std::byte> bytes, zmq_free_fn* release, void* hint);
    explicit Message(std::span<const std::byte> bytes); ///< copies `bytes`
    /// Shares the bytes of another message without a copy.
    struct Share {};
    Message(Message& other, Share);
    Message(const Message&) = delete;
    ~Message() { ::zmq_msg_close(&message_); }

    std::span<const std::byte> bytes() noexcept
    {
        return {static_cast<const std::byte*>(::zmq_msg_data(&message_)),
                ::zmq_msg_size(&message_)};
    }
    bool more_follow() noexcept { return ::zmq_msg_more(&message_) != 0; }
    zmq_msg_t* get() noexcept { return &message_; }

private:
    zmq_msg_t message_;
};

/// Runs libzmq's I/O thread. Its sockets must be closed before it is destroyed.
class Context {
public:
    Context();
    Context(const Context&) = delete;
    ~Context(); ///< waits until all messages are sent, or the linger times are over

    void* get() const noexcept { return context_; }

private:
    void* context_;
};

/// A libzmq socket.
/// Thread: one at a time.
/// Throws: Error that names the operation and the address.
class Socket {
public:
    Socket(const Context& context, int type, std::string address);
    Socket(const Socket&) = delete;
    ~Socket() { close(0); }

    void set(int option, int value);
    void set(int option, const std::string& value);
    void limit_messages(std::int64_t bytes); ///< largest message to receive
    void subscribe_to_all();
    void open(bool bind); ///< binds, or starts to connect

    /// monitor() reports events of the connections at an inproc:// address; monitor_nothing() stops
    /// the reports.
    void monitor(const std::string& address, int events);
    void monitor_nothing() noexcept;

    /// Returns a descriptor that becomes readable when the result of can() may have changed. Call
    /// can() before each wait, because sending and receiving consume such changes as well.
    int fd() const;
    bool can(short events) const; ///< ZMQ_POLLIN, ZMQ_POLLOUT
    /// Returns false if nothing can be sent or received now. A message that was sent is empty.
    bool send(Message& message, int flags = 0);
    bool receive(Message& message);

    /// Closes the socket. Queued messages are still sent while the context exists, for at most
    /// `linger_ns`.
    void close(std::int64_t linger_ns) noexcept;
    const std::string& address() const noexcept { return address_; }

private:
    [[noreturn]] void fail(const char* operation, const std::string& hint = {}) const;

    std::string address_;
    void* socket_;
};

} // namespace iio_stream::zmq
