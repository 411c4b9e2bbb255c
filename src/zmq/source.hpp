// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "core/witness.hpp"
#include "iio_stream/endpoint.hpp"
#include "zmq/socket.hpp"
#include "zmq/zmq.hpp"

#include <optional>

namespace iio_stream::zmq {

/// Takes raw samples out of messages. What gets lost on their way leaves no trace in them: a loss is
/// the sender's to tell.
class ZmqSource final : public Source {
public:
    ZmqSource(Settings settings, Format format)
        : settings_(std::move(settings)), format_(std::move(format))
    {}

    Fault fault() const noexcept override { return Fault::other; }
    const Format& format() const noexcept override { return format_; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(Block block, std::size_t bytes) override { queue_.push({std::move(block), bytes}); }
    Taken take() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool settle() override;

private:
    bool next_message();
    bool fill(detail::Order& order);

    Settings settings_;
    Format format_;
    std::optional<Socket> socket_;
    std::optional<Message> message_;
    std::size_t used_ = 0;   ///< bytes of message_
    std::size_t filled_ = 0; ///< bytes in the block at the front
    bool flush_ = false;     ///< that block is wanted as it is
    detail::Orders queue_;
    detail::Witness witness_;
};

} // namespace iio_stream::zmq
