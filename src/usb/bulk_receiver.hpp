// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "usb/header.hpp"
#include "usb/transfer.hpp"

#include <array>
#include <deque>
#include <optional>
#include <vector>

namespace iio_stream::usb {

/// Headers and blocks out of the endpoint, several in flight, in step with the board.
/// Out of step, it discards until a header ends a transfer.
/// Owns: the transfers; borrows the blocks of `orders`, from the front on, until halt().
/// Thread: one at a time.
class BulkReceiver {
public:
    /// `most` blocks are under way, in transfers of `piece_bytes` at most.
    BulkReceiver(BoardShare& board, detail::Orders& orders, std::size_t wire_bytes, std::size_t piece_bytes,
         std::size_t most);
    BulkReceiver(const BulkReceiver&) = delete;
    ~BulkReceiver() { halt(); }

    /// Asks for as many blocks as there are orders, and room.
    void post();
    enum class Found { nothing, block, end };
    /// What has come next; the block is the front order's.
    Found take();
    const Header& header() const noexcept { return current_; } ///< of what take() has found
    /// The front order is done with: it may be popped.
    void release();
    void halt() noexcept; ///< takes back everything

private:
    struct Slot {
        Transfer head;
        std::deque<Transfer> body; ///< the block's pieces
        std::array<unsigned char, kPacketBytes> bytes{};
        std::optional<Header> header;
        std::optional<CpuWrite> access;
    };
    enum class Verdict { good, out_of_step };

    [[noreturn]] void fail_gone() const;
    /// False where usbfs has no memory for it, or the board is gone.
    bool try_submit(Transfer& transfer, unsigned char* data, std::size_t bytes);
    bool post_one(Slot& slot);
    Verdict judge(const Transfer& transfer);
    /// Whether all of the block is here; nothing where it is out of step.
    std::optional<bool> is_whole(const Slot& slot);
    void lose_step();
    bool fits(const Header& header) const noexcept;
    bool hunt();
    void keep_tail(const unsigned char* data, std::size_t bytes);
    Slot& slot_at(std::size_t i) noexcept { return slots_[(first_ + i) % slots_.size()]; }

    BoardShare& board_;
    detail::Orders& orders_;
    std::size_t wire_bytes_, piece_bytes_;
    std::size_t most_; ///< slots that may fly
    std::vector<Slot> slots_;
    std::size_t first_ = 0, posted_ = 0;
    Transfer hunter_;
    std::vector<unsigned char> scratch_;
    std::vector<std::byte> tail_; ///< the last bytes that were discarded
    bool hunting_ = true;
    bool gone_ = false; ///< nothing can be asked for any more; what was may have come
    Header current_;
    std::optional<Header> found_; ///< by the hunt: its block is to come
};

} // namespace iio_stream::usb
