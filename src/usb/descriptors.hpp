// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace iio_stream::usb {

/// The function as FunctionFS wants it written to ep0: one vendor-specific interface with bulk IN
/// (samples), bulk OUT (samples) and bulk IN (news), at full, high and SuperSpeed, and Microsoft's
/// descriptors by which Windows takes WinUSB for it.
std::vector<std::byte> function_descriptors();

/// The interface's one string, in English.
std::vector<std::byte> function_strings(std::string_view interface_name);

inline constexpr unsigned kInterfaceClass = 0xff, kInterfaceSubclass = 0x49, kInterfaceProtocol = 1;

/// Vendor requests to the interface; docs/usb-protocol.md.
enum class Request : unsigned char {
    get_info = 1,
    start = 2,
    stop = 3,
    get_stats = 4,
    get_attr = 5,
    set_attr = 6,
};
inline constexpr std::size_t kLongestValue = 256; ///< that SET_ATTR takes
inline constexpr std::size_t kStartBytes = 12; ///< START's answer
inline constexpr std::size_t kLongestNews = 512; ///< and every one is shorter
/// Whose stream START (its low value) and STOP mean.
enum class Direction : unsigned { to_host = 0, to_board = 1 };
/// START's value of a stream to the board that goes on where it was broken off.
inline constexpr unsigned kStartAgain = 2;
/// STOP's value that only asks whether the board has heard the end of such a stream.
inline constexpr unsigned kStopEnded = 2;

} // namespace iio_stream::usb
