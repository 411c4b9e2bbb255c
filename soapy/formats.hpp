// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// The native format of one SoapySDR channel: I and Q, or a real converter.
struct NativeFormat {
    std::string name;      ///< "CS16", "S16", "CF32"
    double full_scale = 1; ///< the value at full scale in that format
    bool in_memory = true; ///< whether the blocks hold this format; false: values are converted
};

/// Returns the native format of a channel, which has one value, or I and Q.
NativeFormat native_format(const std::vector<Channel>& channel);
/// Returns the formats that setupStream() accepts for a channel. The native one is first.
std::vector<std::string> stream_formats(const std::vector<Channel>& channel);
/// Returns the bytes of one element of a format such as "CF32". Throws a usage Error for a format
/// that is not in stream_formats().
std::size_t element_bytes(const std::string& format, const std::vector<Channel>& channel);

/// Converts one channel between the blocks and a program's buffer.
///
/// Values in the native format are copied unchanged; others are converted as by Converter. The
/// imaginary part of a real channel in CF32 is 0. Thread: any.
class ChannelConverter {
public:
    enum class Way { receive, transmit };

    /// The offsets in `channel` are within samples of `sample_bytes` bytes.
    ChannelConverter(Way way, const std::vector<Channel>& channel, std::size_t sample_bytes,
                     const std::string& format);

    std::size_t element_bytes() const noexcept { return bytes_; } ///< in the program's buffer
    /// Converts samples of a block to `count` elements.
    void receive(std::span<const std::byte> block, void* out, std::size_t count) const noexcept;
    /// Converts `count` elements to samples of a block.
    void transmit(const void* in, std::span<std::byte> block, std::size_t count) const noexcept;

private:
    std::size_t bytes_;
    bool real_as_complex_;
    Converter converter_;
};

} // namespace iio_stream::soapy
