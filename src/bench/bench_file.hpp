// SPDX-License-Identifier: MIT
#pragma once

#include "bench/area.hpp"
#include "iio_stream/bench.hpp"

namespace iio_stream::bench {

/// The file that the cells write and read. Unlinked as soon as it is open, so that nothing is left
/// however the command ends.
/// Owns: two open files, one of them past the page cache. Throws Error.
class BenchFile {
public:
    explicit BenchFile(const IoBench& what);

    const std::string& path() const noexcept { return path_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    int buffered() const noexcept { return buffered_.get(); }
    int direct() const; ///< throws if the file system does no direct I/O

    /// Fills it with the ramp from `position`, uncached. False: stopped.
    bool fill(std::uint64_t position, const std::atomic<bool>& stop);
    void sync() const;
    /// Whether it holds the ramp from `position`, on disk and not only in the cache.
    bool holds(std::uint64_t position, const std::atomic<bool>& stop) const;
    void drop_cache() const;

private:
    std::string path_;
    std::uint64_t bytes_;
    sys::UniqueFd buffered_, direct_;
    std::optional<Error> refusal_;
};

/// Whether the bytes are the ramp from `position`.
bool is_ramp(std::span<const std::byte> data, std::uint64_t position) noexcept;

} // namespace iio_stream::bench
