// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/sample_tracker.hpp"
#include "core/memory/fill_deadline.hpp"
#include "core/memory/fill_request.hpp"
#include "iio_stream/endpoint.hpp"
#include "zmq/index.hpp"
#include "zmq/socket.hpp"
#include "zmq/zmq.hpp"

#include <optional>

namespace iio_stream::zmq {

/// Receives raw samples in messages. A lost message leaves no trace, so losses are possible at any
/// time. With index=on, the sender's counts reveal each loss.
class ZmqSource final : public Source {
public:
    ZmqSource(Settings settings, Format format)
        : settings_(std::move(settings)), format_(std::move(format))
    {}

    Fault fault() const noexcept override { return Fault::other; }
    const Format& format() const noexcept override { return format_; }
    bool live() const noexcept override { return true; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        queue_.push({std::move(block), bytes});
    }
    Taken take() override;
    bool flush() override { return flushing_ = true; }
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool on_timeout(std::optional<std::chrono::nanoseconds> chosen) override;
    SourceStats stats() const override;

private:
    bool next_message();
    bool receive_message();
    std::optional<Index> take_index();
    bool fill(detail::FillRequest& order);

    Settings settings_;
    Format format_;
    std::optional<Context> context_;
    std::optional<Authenticator> authenticator_;
    std::optional<Socket> socket_; ///< closed before its context
    std::optional<Message> message_;
    std::size_t used_ = 0;   ///< bytes used of message_
    std::size_t filled_ = 0; ///< bytes in the front block
    bool flushing_ = false;  ///< that block is delivered even if it is not full
    bool failed_ = false;    ///< an invalid message has arrived
    detail::FillDeadline deadline_;
    detail::FillQueue queue_;
    detail::SampleTracker tracker_;
    IndexReader index_;
};

} // namespace iio_stream::zmq
