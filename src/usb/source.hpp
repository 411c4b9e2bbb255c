// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "iio_stream/endpoint.hpp"
#include "usb/arrivals.hpp"
#include "usb/board_share.hpp"
#include "usb/pipe.hpp"

#include <optional>
#include <poll.h>

namespace iio_stream::usb {

/// Receives a board's stream: the kernel fills the pipeline's blocks, several in flight.
/// Owns: the claimed device and the transfers.
class UsbSource final : public Source {
public:
    /// `changes` of the board's attributes, where it allows them, are made at once.
    UsbSource(const BoardChoice& choice, std::size_t transfers,
              const std::vector<std::pair<std::string, std::string>>& changes);

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return shape_.format; }
    bool live() const noexcept override { return true; }
    BlockNeeds needs() const override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(Block block, std::size_t) override;
    Taken take() override;
    Wait wait() override { return {board_.fd(), POLLIN}; }
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool settle() override;
    SourceStats stats() const override;
    Tuning tuning() const override { return shape_.tuning; }

private:
    Taken deliver(const Header& header);

    BoardShare board_;
    StreamShape shape_;
    std::size_t wanted_transfers_;
    detail::Orders queue_;
    std::optional<Pipe> pipe_; ///< while streaming; its transfers end before the blocks go
    Arrivals arrivals_;
    Started started_;
    std::int64_t patient_until_ns_ = 0; ///< a board that has been asked makes itself ready first
};

} // namespace iio_stream::usb
