// SPDX-License-Identifier: MIT
#include "file/io/data_layout.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream::file {

// SigMF, core:header_bytes: a chunk begins after all headers and samples before it, and after its
// own header.
std::vector<ByteRange> DataLayout::ranges(std::uint64_t size, std::size_t sample_bytes,
                                          const std::string& path) const
{
    const auto refuse = [&](const std::string& what) {
        throw Error(Fault::storage, EBADMSG, "read", path,
                    "its " + std::to_string(size) + " bytes are too few for " + what,
                    "iio-stream verify lists all problems");
    };
    if (trailing_bytes > size)
        refuse("core:trailing_bytes = " + std::to_string(trailing_bytes));
    const std::uint64_t end = size - trailing_bytes;
    std::vector<ByteRange> found;
    const auto add = [&](const ByteRange& range) {
        if (range.bytes() != 0)
            found.push_back(range);
    };
    ByteRange chunk;
    std::uint64_t sample = 0;
    for (const Header& header : headers) {
        const std::uint64_t left = end - chunk.begin, samples = header.sample - sample;
        const bool fits =
            samples <= left / sample_bytes && header.bytes <= left - samples * sample_bytes;
        if (!fits)
            refuse("the header of " + std::to_string(header.bytes) + " bytes before sample " +
                   std::to_string(header.sample));
        chunk.end = chunk.begin + samples * sample_bytes;
        add(chunk);
        chunk.begin = chunk.end + header.bytes;
        sample = header.sample;
    }
    chunk.end = end;
    add(chunk);
    return found;
}

std::uint64_t bytes_in(const std::vector<ByteRange>& ranges) noexcept
{
    std::uint64_t bytes = 0;
    for (const ByteRange& range : ranges)
        bytes += range.bytes();
    return bytes;
}

} // namespace iio_stream::file
