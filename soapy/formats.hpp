// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// How SoapySDR sees the values of one of its channels: I and Q, or a real converter.
struct NativeFormat {
    std::string name;      ///< "CS16", "S16", "CF32"
    double full_scale = 1; ///< of the values under that name
    bool in_memory = true; ///< the blocks hold them so; false: they are converted
};

/// Of one value, or of I and Q.
NativeFormat native_format(const std::vector<Channel>& channel);
/// What setupStream() takes for it, the native one first.
std::vector<std::string> stream_formats(const std::vector<Channel>& channel);
/// Bytes of one element of "CF32"; throws a usage Error for a format that stream_formats() does not
/// name.
std::size_t element_bytes(const std::string& format, const std::vector<Channel>& channel);

/// Converts one channel between the blocks and a program's buffer.
///
/// Values in the native format are copied as they are; others are converted as Converter does it. A
/// real converter as CF32 has no imaginary part. Thread: any.
class ChannelConverter {
public:
    enum class Way { receive, transmit };

    /// `channel` with its offsets in samples of `sample_bytes` bytes.
    ChannelConverter(Way way, const std::vector<Channel>& channel, std::size_t sample_bytes,
                     const std::string& format);

    std::size_t element_bytes() const noexcept { return bytes_; } ///< of the program's buffer
    /// Receives: from samples of a block to `count` elements.
    void receive(std::span<const std::byte> block, void* out, std::size_t count) const noexcept;
    /// Transmits: from `count` elements to samples of a block.
    void transmit(const void* in, std::span<std::byte> block, std::size_t count) const noexcept;

private:
    std::size_t bytes_;
    bool real_as_complex_;
    Converter converter_;
};

} // namespace iio_stream::soapy
