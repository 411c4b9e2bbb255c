// SPDX-License-Identifier: MIT
#pragma once

#include "bench/area.hpp"
#include "iio_stream/bench.hpp"

namespace iio_stream::bench {

/// The file that the cells write and read. It is unlinked as soon as it is open, so that no file is
/// left, however the command ends.
/// Owns: two descriptors of the file, one of which bypasses the page cache. Throws Error.
class BenchFile {
public:
    explicit BenchFile(const IoBench& what);

    const std::string& path() const noexcept { return path_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    int buffered() const noexcept { return buffered_.get(); }
    int direct() const; ///< throws if direct I/O is not possible

    /// Fills the file with the ramp from `position` and removes it from the page cache. Returns
    /// false if stopped.
    bool fill(std::uint64_t position, const std::atomic<bool>& stop);
    void sync() const;
    /// Whether the file holds the ramp from `position`, on disk and not only in the cache.
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
