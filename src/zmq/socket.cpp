// SPDX-License-Identifier: MIT
#include "zmq/socket.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace iio_stream::zmq {

namespace {

Error error_of(const char* operation, const std::string& address, const std::string& hint)
{
    const int error = ::zmq_errno();
    if (error > ZMQ_HAUSNUMERO) // an error of libzmq, unknown to the system
        return {Fault::device, EPROTO, operation, address, ::zmq_strerror(error), hint};
    return {Fault::device, error, operation, address, {}, hint};
}

} // namespace

Message::Message(std::span<const std::byte> bytes, zmq_free_fn* release, void* hint)
{
    if (::zmq_msg_init_data(&message_, const_cast<std::byte*>(bytes.data()), bytes.size(), release,
                            hint) < 0)
        throw error_of("make a message", std::to_string(bytes.size()) + " bytes", {});
}

Message::Message(std::span<const std::byte> bytes)
{
    if (::zmq_msg_init_size(&message_, bytes.size()) < 0)
        throw error_of("make a message", std::to_string(bytes.size()) + " bytes", {});
    std::memcpy(::zmq_msg_data(&message_), bytes.data(), bytes.size());
}

Message::Message(Message& other, Share)
{
    ::zmq_msg_init(&message_);
    ::zmq_msg_copy(&message_, &other.message_); // fails only for an invalid message
}

Context::Context() : context_(::zmq_ctx_new())
{
    if (context_ == nullptr)
        throw error_of("open", "libzmq", {});
}

Context::~Context()
{
    while (::zmq_ctx_term(context_) < 0 && ::zmq_errno() == EINTR)
        ;
}

Socket::Socket(const Context& context, int type, std::string address)
    : address_(std::move(address)), socket_(::zmq_socket(context.get(), type))
{
    if (socket_ == nullptr)
        fail("open a socket for");
}

void Socket::fail(const char* operation, const std::string& hint) const
{
    throw error_of(operation, address_, hint);
}

void Socket::set(int option, int value)
{
    if (::zmq_setsockopt(socket_, option, &value, sizeof value) < 0)
        fail("set an option of");
}

void Socket::set(int option, const std::string& value)
{
    if (::zmq_setsockopt(socket_, option, value.data(), value.size()) < 0)
        fail("set an option of");
}

void Socket::limit_messages(std::int64_t bytes)
{
    if (::zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &bytes, sizeof bytes) < 0)
        fail("set an option of");
}

void Socket::subscribe_to_all()
{
    if (::zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, "", 0) < 0)
        fail("subscribe to");
}

void Socket::open(bool bind)
{
    if (bind && ::zmq_bind(socket_, address_.c_str()) < 0)
        fail("bind", ::zmq_errno() == ENODEV || ::zmq_errno() == EADDRNOTAVAIL
                         ? "a sink binds to an address of this machine; bind=off connects instead"
                         : "");
    if (!bind && ::zmq_connect(socket_, address_.c_str()) < 0)
        fail("connect");
}

void Socket::monitor(const std::string& address, int events)
{
    if (::zmq_socket_monitor(socket_, address.c_str(), events) < 0)
        fail("monitor");
}

void Socket::monitor_nothing() noexcept
{
    if (socket_ != nullptr)
        ::zmq_socket_monitor(socket_, nullptr, 0);
}

int Socket::fd() const
{
    int fd = -1;
    std::size_t size = sizeof fd;
    if (::zmq_getsockopt(socket_, ZMQ_FD, &fd, &size) < 0)
        fail("wait for");
    return fd;
}

bool Socket::can(short events) const
{
    int now = 0;
    std::size_t size = sizeof now;
    while (::zmq_getsockopt(socket_, ZMQ_EVENTS, &now, &size) < 0)
        if (::zmq_errno() != EINTR)
            fail("wait for");
    return (now & events) != 0;
}

bool Socket::send(Message& message, int flags)
{
    while (::zmq_msg_send(message.get(), socket_, ZMQ_DONTWAIT | flags) < 0) {
        if (::zmq_errno() == EAGAIN)
            return false;
        if (::zmq_errno() != EINTR)
            fail("send to");
    }
    return true;
}

bool Socket::receive(Message& message)
{
    while (::zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) < 0) {
        if (::zmq_errno() == EAGAIN)
            return false;
        if (::zmq_errno() != EINTR)
            fail("receive from");
    }
    return true;
}

void Socket::close(std::int64_t linger_ns) noexcept
{
    if (socket_ == nullptr)
        return;
    const int linger = static_cast<int>(std::min<std::int64_t>(linger_ns / 1'000'000, INT_MAX));
    ::zmq_setsockopt(socket_, ZMQ_LINGER, &linger, sizeof linger);
    ::zmq_close(socket_);
    socket_ = nullptr;
}

} // namespace iio_stream::zmq
