// SPDX-License-Identifier: MIT
#pragma once

#include "support/fake.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>
#include <zmq.h>

namespace iio_stream::test {

/// The socket of another program. On TCP, it uses a port that the system chooses.
class Peer {
public:
    Peer(int type, const std::string& address, bool bind, int high_water = 1000)
    {
        set(ZMQ_SNDHWM, high_water, type);
        set(ZMQ_RCVHWM, high_water, type);
        if (type == ZMQ_SUB)
            ::zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, "", 0);
        EXPECT_EQ(bind ? ::zmq_bind(socket_, address.c_str())
                       : ::zmq_connect(socket_, address.c_str()),
                  0)
            << ::zmq_strerror(::zmq_errno());
    }
    Peer(const Peer&) = delete;
    ~Peer() { close(); }
    void close()
    {
        if (socket_ == nullptr)
            return;
        const int linger = 0;
        ::zmq_setsockopt(socket_, ZMQ_LINGER, &linger, sizeof linger);
        ::zmq_close(socket_);
        ::zmq_ctx_term(context_);
        socket_ = nullptr;
    }

    std::string address() const
    {
        char text[256];
        std::size_t size = sizeof text;
        EXPECT_EQ(::zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text, &size), 0);
        return text;
    }
    /// Returns the next message; empty if none arrives in time.
    std::vector<std::byte> receive(int timeout_ms = 10'000)
    {
        ::zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &timeout_ms, sizeof timeout_ms);
        zmq_msg_t message;
        ::zmq_msg_init(&message);
        std::vector<std::byte> bytes;
        if (::zmq_msg_recv(&message, socket_, 0) >= 0) {
            const auto* data = static_cast<const std::byte*>(::zmq_msg_data(&message));
            bytes.assign(data, data + ::zmq_msg_size(&message));
        }
        ::zmq_msg_close(&message);
        return bytes;
    }
    std::vector<std::byte> receive_all(std::size_t bytes)
    {
        std::vector<std::byte> all;
        while (all.size() < bytes) {
            const auto next = receive();
            if (next.empty())
                break;
            all.insert(all.end(), next.begin(), next.end());
        }
        return all;
    }
    void send(const std::vector<std::byte>& bytes, int flags = 0)
    {
        const int timeout_ms = 10'000;
        ::zmq_setsockopt(socket_, ZMQ_SNDTIMEO, &timeout_ms, sizeof timeout_ms);
        zmq_msg_t message;
        ::zmq_msg_init_size(&message, bytes.size());
        if (!bytes.empty())
            std::memcpy(::zmq_msg_data(&message), bytes.data(), bytes.size());
        EXPECT_EQ(::zmq_msg_send(&message, socket_, flags), static_cast<int>(bytes.size()));
    }

private:
    void set(int option, int value, int type)
    {
        if (socket_ == nullptr) {
            context_ = ::zmq_ctx_new();
            socket_ = ::zmq_socket(context_, type);
        }
        ::zmq_setsockopt(socket_, option, &value, sizeof value);
    }

    void* context_ = nullptr;
    void* socket_ = nullptr;
};

} // namespace iio_stream::test
