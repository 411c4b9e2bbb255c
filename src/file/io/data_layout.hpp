// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iio_stream::file {

/// Bytes [begin, end) of a file.
struct ByteRange {
    std::uint64_t begin = 0, end = 0;

    std::uint64_t bytes() const noexcept { return end - begin; }
    friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The bytes of a data file that are not samples.
struct DataLayout {
    /// Bytes right before a sample of the file.
    struct Header {
        std::uint64_t sample = 0, bytes = 0;
    };
    std::vector<Header> headers;      ///< sorted by sample; none is empty
    std::uint64_t trailing_bytes = 0; ///< after the last sample

    bool is_plain() const noexcept { return headers.empty() && trailing_bytes == 0; }
    /// The ranges of the samples in the file `path`, which has `size` bytes. They are in order, and
    /// none of them is empty. Throws a storage Error if the file is too short for its headers.
    std::vector<ByteRange> ranges(std::uint64_t size, std::size_t sample_bytes,
                                  const std::string& path) const;
};

std::uint64_t bytes_in(const std::vector<ByteRange>& ranges) noexcept;

} // namespace iio_stream::file
