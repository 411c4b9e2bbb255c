// SPDX-License-Identifier: MIT
#include "usb/host/bulk_sender.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

BulkSender::BulkSender(BoardShare& board, std::size_t wire_bytes, std::size_t most,
                       std::size_t capacity)
    : board_(board), wire_bytes_(wire_bytes), slots_(most), zeros_(wire_bytes)
{
    queue_.reset(capacity);
}

void BulkSender::push(std::optional<Block> filled, const framing::Header& header)
{
    queue_.push({std::move(filled), header});
}

// Full packets are sent directly from the block. Every transfer except the header's consists of
// whole packets, because a short packet would end the block.
void BulkSender::load(Slot& slot, Outgoing& outgoing, std::uint32_t stream_id)
{
    outgoing.header.stream_id = stream_id;
    outgoing.header.encode(std::as_writable_bytes(std::span(slot.header)));
    slot.posted = 0;
    slot.count = 0;
    const auto add = [&slot](unsigned char* data, std::size_t bytes) {
        if (bytes != 0)
            slot.steps[slot.count++] = {data, bytes};
    };
    add(slot.header.data(), framing::kHeaderBytes);
    if (!outgoing.filled)
        return;
    slot.access.emplace(*outgoing.filled);
    const auto bytes = slot.access->bytes();
    // libusb has one type for transfers in both directions. This transfer only reads the data.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    const std::size_t whole = bytes.size() / framing::kPacketBytes * framing::kPacketBytes;
    add(data, whole);
    if (whole != bytes.size()) {
        slot.edge.fill(0);
        std::copy(data + whole, data + bytes.size(), slot.edge.begin());
        add(slot.edge.data(), framing::kPacketBytes);
    }
    const std::size_t done =
        (bytes.size() + framing::kPacketBytes - 1) / framing::kPacketBytes * framing::kPacketBytes;
    add(zeros_.data(), wire_bytes_ - done);
}

// Returns false if usbfs does not have memory for all steps at this time.
bool BulkSender::post_steps(Slot& slot)
{
    while (slot.posted < slot.count) {
        const Step& step = slot.steps[slot.posted];
        switch (submit(board_, slot.transfers[slot.posted], board_->samples_out(), step.data,
                       step.bytes, "write to")) {
        case Submitted::yes:
            ++slot.posted;
            break;
        case Submitted::no_memory:
            return false;
        case Submitted::gone:
            fail_disconnected();
        }
    }
    return true;
}

void BulkSender::post(std::uint32_t stream_id)
{
    if (loaded_ != 0 && !post_steps(slot_at(loaded_ - 1)))
        return;
    while (loaded_ < slots_.size() && loaded_ < queue_.size()) {
        Slot& slot = slot_at(loaded_);
        load(slot, queue_.at(loaded_), stream_id);
        ++loaded_;
        if (post_steps(slot))
            continue;
        if (loaded_ == 1 && slot.posted == 0)
            fail_usb(LIBUSB_ERROR_NO_MEM, "write to", board_->name());
        return; // until another transfer completes
    }
}

BulkSender::Front BulkSender::front()
{
    if (loaded_ == 0)
        return Front::waiting;
    Slot& slot = slot_at(0);
    for (std::size_t i = 0; i < slot.posted; ++i) {
        const Transfer& transfer = slot.transfers[i];
        if (!transfer.done)
            return Front::waiting;
        if (transfer.raw->status == LIBUSB_TRANSFER_NO_DEVICE)
            fail_disconnected();
        if (transfer.raw->status != LIBUSB_TRANSFER_COMPLETED ||
            transfer.raw->actual_length != transfer.raw->length)
            return Front::failed;
    }
    return slot.posted == slot.count ? Front::sent : Front::waiting;
}

void BulkSender::pop()
{
    slot_at(0).access.reset();
    first_ = (first_ + 1) % slots_.size();
    --loaded_;
    (void)queue_.pop();
}

void BulkSender::take_back() noexcept
{
    usb::take_back(board_, [this](auto&& step) {
        for (Slot& slot : slots_)
            for (Transfer& transfer : slot.transfers)
                step(transfer);
    });
    for (Slot& slot : slots_) {
        slot.access.reset();
        // A libusb transfer can keep a reference to the device to which it was submitted.
        for (Transfer& transfer : slot.transfers)
            transfer.raw.reset(libusb_alloc_transfer(0));
    }
    first_ = loaded_ = 0;
}

void BulkSender::fail_disconnected() const
{
    throw Error(Fault::device, ENODEV, "write to", board_->name(), "the board is gone",
                "its stream ended, or the cable is unplugged");
}

} // namespace iio_stream::usb
