// SPDX-License-Identifier: MIT
#pragma once

#include "fuzz/fuzz.hpp"

namespace iio_stream::fuzz {

void usb_header(std::span<const std::byte> input); ///< headers, and the accounting of a sequence of
                                                   ///< them
void usb_text(std::span<const std::byte> input);   ///< GET_INFO, GET_ATTR, events
void usb_board(std::span<const std::byte> input);  ///< the host's end, with a board
void usb_host(std::span<const std::byte> input);   ///< the board's end, with a host

} // namespace iio_stream::fuzz
