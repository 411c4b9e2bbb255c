// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/fill_request.hpp"
#include "framing/header.hpp"
#include "usb/host/transfer.hpp"

#include <array>
#include <deque>
#include <optional>
#include <vector>

namespace iio_stream::usb {

/// Receives headers and blocks from the endpoint, several in flight, in step with the board. When
/// out of step, it discards data until a transfer ends with a header.
/// Owns: the transfers; borrows the blocks of `orders`, front first, until halt().
/// Thread: one at a time.
class BulkReceiver {
public:
    /// Keeps up to `most` blocks in flight, in transfers of at most `piece_bytes`.
    BulkReceiver(BoardShare& board, detail::FillQueue& orders, std::size_t wire_bytes,
                 std::size_t piece_bytes, std::size_t most);
    BulkReceiver(const BulkReceiver&) = delete;
    ~BulkReceiver() { halt(); }

    /// Requests as many blocks as `orders` and the limit of blocks in flight allow.
    void post();
    enum class Found { nothing, block, end };
    /// Returns the kind of data that has arrived next. A block is in the buffer of the front order.
    Found take();
    /// The header of the block or end that take() returned.
    const framing::Header& header() const noexcept { return current_; }
    /// Releases the front order, so that the caller can pop it.
    void release();
    void halt() noexcept; ///< cancels all transfers
    /// Call at the end of the stream, when take() has returned nothing. Cancels all transfers and
    /// returns how many bytes of the front order's block have arrived. If it is not 0, header() is
    /// that block's header.
    std::size_t take_part() noexcept;

private:
    struct Slot {
        Transfer head;
        std::deque<Transfer> body; ///< pieces of the block
        std::array<unsigned char, framing::kPacketBytes> bytes{};
        std::optional<framing::Header> header;
        std::optional<CpuWrite> access;
    };

    [[noreturn]] void fail_disconnected() const;
    /// Returns false if usbfs has no memory for the transfer, or if the board is gone.
    bool try_submit(Transfer& transfer, unsigned char* data, std::size_t bytes);
    bool post_one(Slot& slot);
    /// Returns whether a finished transfer has completed without an error. Clears a halt, and
    /// throws if the board is disconnected.
    bool is_in_step(const Transfer& transfer);
    /// Returns whether the whole block has arrived; nullopt if out of step.
    std::optional<bool> is_whole(const Slot& slot);
    void start_search();
    bool fits(const framing::Header& header) const noexcept;
    bool find_header();
    void keep_tail(const unsigned char* data, std::size_t bytes);
    Slot& slot_at(std::size_t i) noexcept { return slots_[(first_ + i) % slots_.size()]; }

    BoardShare& board_;
    detail::FillQueue& orders_;
    std::size_t wire_bytes_, piece_bytes_;
    std::size_t most_; ///< slots that may be in flight
    std::vector<Slot> slots_;
    std::size_t first_ = 0, posted_ = 0;
    Transfer search_transfer_;
    std::vector<unsigned char> scratch_;
    std::vector<std::byte> tail_; ///< the last bytes discarded
    bool searching_ = true;
    bool gone_ = false; ///< nothing more can be requested; earlier requests may have completed
    framing::Header current_;
    std::optional<framing::Header> found_; ///< found by find_header(): its block comes next
};

} // namespace iio_stream::usb
