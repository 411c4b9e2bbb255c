// SPDX-License-Identifier: MIT
#include "usb/bulk_receiver.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kScratchBytes = 16 * 1024; ///< whole packets at every speed

} // namespace

BulkReceiver::BulkReceiver(BoardShare& board, detail::Orders& orders, std::size_t wire_bytes,
                           std::size_t piece_bytes, std::size_t most)
    : board_(board),
      orders_(orders),
      wire_bytes_(wire_bytes),
      piece_bytes_(piece_bytes),
      most_(most),
      slots_(most),
      scratch_(kScratchBytes)
{
    for (Slot& slot : slots_)
        slot.body.resize((wire_bytes + piece_bytes - 1) / piece_bytes);
}

void BulkReceiver::fail_gone() const
{
    throw Error(Fault::device, ENODEV, "read from", board_->name(), "the board is gone",
                "its stream ended without notice, or the cable is unplugged");
}

bool BulkReceiver::try_submit(Transfer& transfer, unsigned char* data, std::size_t bytes)
{
    const Submitted result =
        submit(board_, transfer, board_->samples_in(), data, bytes, "read from");
    gone_ = gone_ || result == Submitted::gone;
    return result == Submitted::yes;
}

// Header, then block. False if usbfs has no memory for it; what it had memory for stays in flight.
bool BulkReceiver::post_one(Slot& slot)
{
    slot.header = std::exchange(found_, std::nullopt);
    slot.head.done = slot.header.has_value();
    if (!slot.header && !try_submit(slot.head, slot.bytes.data(), slot.bytes.size()))
        return false;
    slot.access.emplace(orders_.at(posted_).block);
    auto* data = reinterpret_cast<unsigned char*>(slot.access->bytes().data());
    std::size_t done = 0;
    for (Transfer& piece : slot.body) {
        const std::size_t bytes = std::min(piece_bytes_, wire_bytes_ - done);
        if (!try_submit(piece, data + done, bytes)) {
            if (done == 0)
                slot.access.reset();
            return false;
        }
        done += bytes;
    }
    return true;
}

void BulkReceiver::post()
{
    if (hunting_) {
        if (hunter_.flying || hunter_.done || try_submit(hunter_, scratch_.data(), scratch_.size()))
            return;
        if (gone_)
            fail_gone();
        fail_usb(LIBUSB_ERROR_NO_MEM, "read from", board_->name());
    }
    while (!gone_ && posted_ < most_ && posted_ < orders_.size()) {
        Slot& slot = slot_at(posted_);
        if (post_one(slot)) {
            ++posted_;
            continue;
        }
        if (gone_) {
            if (slot.head.flying || slot.head.done)
                ++posted_; // it may have brought the end
            break;
        }
        most_ = posted_; // other programs have the rest
        if (most_ == 0)
            fail_usb(LIBUSB_ERROR_NO_MEM, "read from", board_->name());
        if (slot.head.flying || slot.head.done ||
            slot.access) { // a header without a whole block after it
            lose_step();
            return post();
        }
    }
}

BulkReceiver::Verdict BulkReceiver::judge(const Transfer& transfer)
{
    switch (transfer.raw->status) {
    case LIBUSB_TRANSFER_COMPLETED:
        return Verdict::good;
    case LIBUSB_TRANSFER_NO_DEVICE:
        fail_gone();
    case LIBUSB_TRANSFER_STALL:
        board_->clear_halt(board_->samples_in());
        return Verdict::out_of_step;
    default: // cancelled by a new configuration, a transmission error, or more data than requested
        return Verdict::out_of_step;
    }
}

// Takes back everything in flight and discards what it has brought.
void BulkReceiver::lose_step()
{
    halt();
    hunting_ = true;
    tail_.clear();
}

void BulkReceiver::halt() noexcept
{
    take_back(board_, [this](auto&& step) {
        step(hunter_);
        for (Slot& slot : slots_) {
            step(slot.head);
            for (Transfer& piece : slot.body)
                step(piece);
        }
    });
    for (Slot& slot : slots_) {
        slot.access.reset();
        slot.header.reset();
    }
    first_ = posted_ = 0;
}

bool BulkReceiver::fits(const framing::Header& header) const noexcept
{
    return (header.flags & framing::Header::end) != 0 || header.wire_bytes == wire_bytes_;
}

void BulkReceiver::keep_tail(const unsigned char* data, std::size_t bytes)
{
    const auto* from = reinterpret_cast<const std::byte*>(data);
    tail_.insert(tail_.end(), from, from + bytes);
    if (tail_.size() > framing::kHeaderBytes)
        tail_.erase(tail_.begin(), tail_.end() - framing::kHeaderBytes);
}

// A header is where a short transfer ends with one. True if one was found that belongs to this
// stream's blocks: there is no room for a larger one.
bool BulkReceiver::hunt()
{
    if (!hunter_.done)
        return false;
    hunter_.done = false;
    const auto got = static_cast<std::size_t>(hunter_.raw->actual_length);
    if (judge(hunter_) == Verdict::good) {
        keep_tail(scratch_.data(), got);
        if (got < scratch_.size())
            found_ = framing::Header::decode(tail_);
        if (found_ && !fits(*found_))
            found_.reset();
    }
    if (!found_)
        return false;
    hunting_ = false;
    return true;
}

BulkReceiver::Found BulkReceiver::take()
{
    for (;;) {
        if (hunting_) {
            const bool ready = hunt();
            if (ready && (found_->flags & framing::Header::end) != 0) {
                current_ = *found_;
                return Found::end;
            }
            post();
            if (!ready)
                return Found::nothing;
        }
        if (posted_ == 0) {
            if (gone_)
                fail_gone();
            return Found::nothing;
        }
        Slot& slot = slots_[first_];
        if (!slot.head.done)
            return Found::nothing;
        if (!slot.header) {
            if (judge(slot.head) == Verdict::good)
                slot.header = framing::Header::decode(
                    std::as_bytes(std::span(slot.bytes))
                        .first(static_cast<std::size_t>(slot.head.raw->actual_length)));
            if (slot.header && (slot.header->flags & framing::Header::end) != 0) {
                current_ = *slot.header;
                return Found::end;
            }
            if (!slot.header || !fits(*slot.header)) {
                lose_step();
                continue;
            }
        }
        const std::optional<bool> whole = is_whole(slot);
        if (!whole) {
            lose_step();
            continue;
        }
        if (!*whole)
            return Found::nothing;
        slot.access.reset();
        current_ = *slot.header;
        return Found::block;
    }
}

// In order: after a failed piece the others may never come.
std::optional<bool> BulkReceiver::is_whole(const Slot& slot)
{
    for (const Transfer& piece : slot.body) {
        const bool comes = piece.flying; // read first: it may complete in between
        if (!piece.done) {
            if (!comes && gone_)
                fail_gone();
            return false;
        }
        if (judge(piece) != Verdict::good || piece.raw->actual_length != piece.raw->length)
            return std::nullopt;
    }
    return true;
}

void BulkReceiver::release()
{
    slots_[first_].header.reset();
    first_ = (first_ + 1) % slots_.size();
    --posted_;
}

} // namespace iio_stream::usb
