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
enum class Request : unsigned char { get_info = 1, start = 2, stop = 3, get_stats = 4 };
inline constexpr std::size_t kStartBytes = 12; ///< START's answer

} // namespace iio_stream::usb
