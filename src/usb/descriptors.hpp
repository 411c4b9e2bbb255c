// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace iio_stream::usb {

/// Returns the function's descriptors as written to FunctionFS' ep0. They describe one
/// vendor-specific interface with bulk IN (samples), bulk OUT (samples) and bulk IN (events), at
/// full speed, high speed and SuperSpeed. Microsoft's descriptors make Windows use WinUSB. The
/// kernel signals `eventfd` with each event of ep0.
std::vector<std::byte> function_descriptors(int eventfd);

/// The only string of the interface, in English.
std::vector<std::byte> function_strings(std::string_view interface_name);

inline constexpr unsigned kInterfaceClass = 0xff, kInterfaceSubclass = 0x49, kInterfaceProtocol = 1;

/// Vendor requests to the interface. See docs/usb-protocol.md.
enum class Request : unsigned char {
    get_info = 1,
    start = 2,
    stop = 3,
    get_stats = 4,
    get_attr = 5,
    set_attr = 6,
};
inline constexpr std::size_t kLongestValue = 256; ///< characters that SET_ATTR accepts
inline constexpr std::size_t kStartBytes = 12;    ///< size of START's answer
inline constexpr std::size_t kLongestEvent = 512; ///< bytes; every event is shorter
/// The stream to which START and STOP refer: the value (wValue) of these requests.
enum class Direction : unsigned { to_host = 0, to_board = 1 };
/// START's value for a stream to the board that resumes after a break.
inline constexpr unsigned kStartAgain = 2;
/// With this value, STOP only queries whether the board has received the end of a stream to it.
inline constexpr unsigned kStopEnded = 2;

} // namespace iio_stream::usb
