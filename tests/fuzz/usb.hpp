// SPDX-License-Identifier: MIT
#pragma once

#include "fuzz/fuzz.hpp"

namespace iio_stream::fuzz {

void usb_header(std::span<const std::byte> input); ///< and the account that a row of them makes
void usb_text(std::span<const std::byte> input);   ///< GET_INFO, GET_ATTR, news
void usb_board(std::span<const std::byte> input);  ///< the host's end, against a board
void usb_host(std::span<const std::byte> input);   ///< the board's end, against a host

} // namespace iio_stream::fuzz
