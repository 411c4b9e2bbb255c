// SPDX-License-Identifier: MIT
#include "usb/host/transfer.hpp"

namespace iio_stream::usb {

namespace {

void landed(libusb_transfer* raw)
{
    auto& transfer = *static_cast<Transfer*>(raw->user_data);
    std::shared_ptr<BoardShare::EventFlag> other;
    if (transfer.thread != std::this_thread::get_id())
        other = transfer.event_flag;
    transfer.done = true;
    transfer.flying = false; // from here on, another thread can destroy the transfer
    if (other)
        other->set();
}

} // namespace

Submitted submit(BoardShare& board, Transfer& transfer, unsigned char endpoint, unsigned char* data,
                 std::size_t bytes, const char* operation)
{
    libusb_fill_bulk_transfer(transfer.raw.get(), board->handle(), endpoint, data,
                              static_cast<int>(bytes), &landed, &transfer, 0);
    transfer.event_flag = board.event_flag();
    transfer.thread = std::this_thread::get_id();
    transfer.done = false;
    transfer.flying = true; // it may complete before the call returns
    const int code = libusb_submit_transfer(transfer.raw.get());
    if (code == 0)
        return Submitted::yes;
    transfer.flying = false;
    if (code == LIBUSB_ERROR_NO_MEM)
        return Submitted::no_memory;
    // A board with another configuration, or with none, counts as gone. Data that it has already
    // sent is taken first.
    if (code == LIBUSB_ERROR_NO_DEVICE || code == LIBUSB_ERROR_NOT_FOUND || code == LIBUSB_ERROR_IO)
        return Submitted::gone;
    fail_usb(code, operation, board->name());
}

} // namespace iio_stream::usb
