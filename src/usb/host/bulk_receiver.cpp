// SPDX-License-Identifier: MIT
#include "usb/host/bulk_receiver.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kScratchBytes = 16 * 1024; ///< whole packets at every speed

} // namespace

BulkReceiver::BulkReceiver(BoardShare& board, detail::FillQueue& orders, std::size_t wire_bytes,
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

void BulkReceiver::fail_disconnected() const
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

// Requests the header, then the block. Returns false if usbfs does not have memory for all
// transfers, or if the board is gone; transfers that were submitted stay in flight.
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
    if (searching_) {
        if (search_transfer_.flying || search_transfer_.done ||
            try_submit(search_transfer_, scratch_.data(), scratch_.size()))
            return;
        if (gone_)
            fail_disconnected();
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
                ++posted_; // it may have received the end
            break;
        }
        most_ = posted_; // other programs use the rest of the memory
        if (most_ == 0)
            fail_usb(LIBUSB_ERROR_NO_MEM, "read from", board_->name());
        if (slot.head.flying || slot.head.done ||
            slot.access) { // a header is requested without its whole block
            start_search();
            return post();
        }
    }
}

// A transfer that does not complete means that the stream is out of step. Possible causes are a new
// configuration (which cancels transfers), a transmission error, and more data than requested.
bool BulkReceiver::is_in_step(const Transfer& transfer)
{
    switch (transfer.raw->status) {
    case LIBUSB_TRANSFER_COMPLETED:
        return true;
    case LIBUSB_TRANSFER_NO_DEVICE:
        fail_disconnected();
    case LIBUSB_TRANSFER_STALL:
        board_->clear_halt(board_->samples_in());
        return false;
    default:
        return false;
    }
}

// Cancels all transfers in flight and discards their data.
void BulkReceiver::start_search()
{
    halt();
    searching_ = true;
    tail_.clear();
}

void BulkReceiver::halt() noexcept
{
    take_back(board_, [this](auto&& step) {
        step(search_transfer_);
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

// Looks for a header at the end of a short transfer. Returns true if it finds one that fits this
// stream. Other headers are skipped, because the buffers have no room for larger blocks.
bool BulkReceiver::find_header()
{
    if (!search_transfer_.done)
        return false;
    search_transfer_.done = false;
    const auto got = static_cast<std::size_t>(search_transfer_.raw->actual_length);
    if (is_in_step(search_transfer_)) {
        keep_tail(scratch_.data(), got);
        if (got < scratch_.size())
            found_ = framing::Header::decode(tail_);
        if (found_ && !fits(*found_))
            found_.reset();
    }
    if (!found_)
        return false;
    searching_ = false;
    return true;
}

BulkReceiver::Found BulkReceiver::take()
{
    for (;;) {
        if (searching_) {
            const bool ready = find_header();
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
                fail_disconnected();
            return Found::nothing;
        }
        Slot& slot = slots_[first_];
        if (!slot.head.done)
            return Found::nothing;
        if (!slot.header) {
            if (is_in_step(slot.head))
                slot.header = framing::Header::decode(
                    std::as_bytes(std::span(slot.bytes))
                        .first(static_cast<std::size_t>(slot.head.raw->actual_length)));
            if (slot.header && (slot.header->flags & framing::Header::end) != 0) {
                current_ = *slot.header;
                return Found::end;
            }
            if (!slot.header || !fits(*slot.header)) {
                start_search();
                continue;
            }
        }
        const std::optional<bool> whole = is_whole(slot);
        if (!whole) {
            start_search();
            continue;
        }
        if (!*whole)
            return Found::nothing;
        slot.access.reset();
        current_ = *slot.header;
        return Found::block;
    }
}

// Checks the pieces in order, because the pieces after a failed one may never arrive.
std::optional<bool> BulkReceiver::is_whole(const Slot& slot)
{
    for (const Transfer& piece : slot.body) {
        const bool comes = piece.flying; // read first: it may complete in between
        if (!piece.done) {
            if (!comes && gone_)
                fail_disconnected();
            return false;
        }
        if (!is_in_step(piece) || piece.raw->actual_length != piece.raw->length)
            return std::nullopt;
    }
    return true;
}

std::size_t BulkReceiver::take_part() noexcept
{
    Slot* const slot = searching_ || posted_ == 0 ? nullptr : &slots_[first_];
    if (slot == nullptr || !slot->header) {
        halt();
        return 0;
    }
    current_ = *slot->header;
    const auto completed = [](const Transfer& piece) {
        return piece.raw->status == LIBUSB_TRANSFER_COMPLETED &&
               piece.raw->actual_length == piece.raw->length;
    };
    std::size_t bytes = 0;
    auto piece = slot->body.begin();
    for (; piece != slot->body.end() && piece->done && completed(*piece); ++piece)
        bytes += static_cast<std::size_t>(piece->raw->length);
    const bool cut = piece != slot->body.end() && piece->flying;
    halt();
    if (cut && !piece->flying &&
        (piece->raw->status == LIBUSB_TRANSFER_CANCELLED ||
         piece->raw->status == LIBUSB_TRANSFER_COMPLETED))
        bytes += static_cast<std::size_t>(piece->raw->actual_length);
    return bytes;
}

void BulkReceiver::release()
{
    slots_[first_].header.reset();
    first_ = (first_ + 1) % slots_.size();
    --posted_;
}

} // namespace iio_stream::usb
