// SPDX-License-Identifier: MIT
// A source whose board goes away and comes back.
#include "usb/source.hpp"

#include <utility>

namespace iio_stream::usb {

namespace {

/// A board's program numbers its streams from its start time in ms: numbers of two programs differ
/// by more than this.
constexpr std::uint32_t kStreams = 500;

} // namespace

// It must send the same as before: the blocks are made for that.
void UsbSource::open_again(std::int64_t wait_ns, std::int64_t patience_ns)
try {
    board_.emplace(settings_.choice.waiting(wait_ns), cancel_.fd());
    framing::check_same_shape(open(patience_ns), shape_, board().name());
} catch (const Error&) {
    board_.reset();
    throw;
}

// The blocks wait for its return.
void UsbSource::let_board_go() noexcept
{
    close_pipe();
    board_.reset();
    started_ = {};
}

// Call in a catch block.
void UsbSource::break_off(const Error& error)
{
    reconnect_timer_.begin(error);
    let_board_go();
    rejoining_ = true;
    presence_.gone();
}

bool UsbSource::come_back()
try {
    reconnect_timer_.look();
    open_again(0, 0);
    open_pipe();
    start();
    return true;
} catch (const Error& error) {
    let_board_go();
    reconnect_timer_.failed(error, settings_.choice.text());
    return false;
}

// The first header after a break. If the same program sent before, it has kept counting, and the
// index shows what is missing; for another program's samples nothing does.
void UsbSource::join_up(const framing::Header& header)
{
    if (!std::exchange(rejoining_, false) || !sequence_tracker_.begun())
        return;
    if (header.sequence > last_sequence_ && header.stream_id - last_stream_id_ < kStreams)
        return;
    sequence_tracker_.broken_off(1);
    sequence_tracker_.expect(header.sample_index);
}

} // namespace iio_stream::usb
