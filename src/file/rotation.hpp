// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace iio_stream::file {

/// When a recording goes on in another file; zeros: not for that reason.
struct Rotation {
    std::uint64_t bytes = 0; ///< most of a file
    std::int64_t ns = 0;     ///< most of a file, in time of the stream

    bool wanted() const noexcept { return bytes != 0 || ns != 0; }

    /// Takes rotate_bytes= and rotate_time=.
    static Rotation from(Options& options);
};

/// How full the part is that blocks are given to. Time is the stream's own where it has a rate, lost
/// samples included, else the clock's.
class PartMeter {
public:
    PartMeter() = default;
    /// Throws a usage Error where not even one block fits.
    PartMeter(const Rotation& rotation, const StreamInfo& stream);

    bool empty() const noexcept { return bytes_ == 0; }
    bool fits(const Block& filled) const noexcept;
    bool fits_any() const noexcept; ///< whatever block comes, unless samples are lost before it
    bool half_full() const noexcept;
    void add(const Block& filled) noexcept;
    void next_part() noexcept { bytes_ = 0; }

    std::uint64_t most_bytes() const noexcept; ///< of a part; kUnknown = no limit
    std::uint64_t total_bytes() const noexcept { return total_; } ///< in all parts

private:
    bool fits(std::size_t bytes, std::uint64_t end) const noexcept;
    std::uint64_t end_of(const Block& filled) const noexcept;
    std::uint64_t index_of(const Block& filled) const noexcept;

    Rotation rotation_;
    std::size_t sample_bytes_ = 1, block_bytes_ = 0;
    std::uint64_t most_samples_ = 0; ///< 0 = no limit
    bool timed_ = false;             ///< by the clock
    std::uint64_t bytes_ = 0, total_ = 0;
    std::uint64_t first_ = 0, next_ = 0; ///< the part's first sample in the stream; the next one
    std::int64_t since_ns_ = 0;
};

/// "dir/x.0007.ci16" is the part number 7 of "dir/x.ci16": they sort by their number, up to 9999.
std::string part_path(const std::string& path, std::size_t number);

/// Files that are named as parts of `path`, sorted; whose they are their names do not tell.
std::vector<std::string> existing_parts(const std::string& path);

/// How many parts there are from number 0 on, without a break, of files that are called as one of
/// `series`: what a recording in parts has left. Where the first is SigMF's metadata they say themselves
/// whether they are ours.
std::size_t own_parts(const std::vector<std::string>& series);

} // namespace iio_stream::file
