// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "framing/header.hpp"
#include "usb/host/transfer.hpp"

#include <array>
#include <optional>
#include <vector>

namespace iio_stream::usb {

/// Sends headers and blocks to the board's endpoint, several in flight, in order.
/// Owns: the transfers, and the leases of blocks until they are sent.
/// Thread: one at a time.
class BulkSender {
public:
    BulkSender(BoardShare& board, std::size_t wire_bytes, std::size_t most, std::size_t capacity);
    BulkSender(const BulkSender&) = delete;
    ~BulkSender() { take_back(); }

    /// Queues a block or, if `filled` is empty, only a header.
    void push(std::optional<Block> filled, const framing::Header& header);
    std::size_t size() const noexcept { return queue_.size(); }

    /// Submits as many entries as may be in flight, as part of that stream.
    void post(std::uint32_t stream_id);
    enum class Front { waiting, sent, failed };
    Front front(); ///< the state of the oldest entry; throws if the board is disconnected
    void pop();    ///< removes the oldest entry, which must have been sent
    void take_back() noexcept; ///< cancels all transfers; all entries have to be posted again
    [[noreturn]] void fail_disconnected() const;

private:
    struct Outgoing {
        std::optional<Block> filled;
        framing::Header header;
    };
    struct Step {
        unsigned char* data = nullptr;
        std::size_t bytes = 0;
    };
    static constexpr std::size_t kSteps = 4; ///< header, whole packets, the last samples, zeros
    struct Slot {
        std::array<Transfer, kSteps> transfers;
        std::array<Step, kSteps> steps;
        std::size_t count = 0, posted = 0; ///< steps of the entry, and steps submitted
        std::array<unsigned char, framing::kHeaderBytes> header{};
        std::array<unsigned char, framing::kPacketBytes> edge{};
        std::optional<CpuRead> access;
    };

    void load(Slot& slot, Outgoing& outgoing, std::uint32_t stream_id);
    bool post_steps(Slot& slot);
    Slot& slot_at(std::size_t i) noexcept { return slots_[(first_ + i) % slots_.size()]; }

    BoardShare& board_;
    std::size_t wire_bytes_;
    detail::Fifo<Outgoing> queue_;
    std::vector<Slot> slots_;
    std::size_t first_ = 0, loaded_ = 0; ///< slots loaded from the queue, front first
    std::vector<unsigned char> zeros_;   ///< padding for a block
};

} // namespace iio_stream::usb
