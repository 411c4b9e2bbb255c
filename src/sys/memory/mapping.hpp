// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace iio_stream::sys {

enum class Access { read_only, read_write };

/// Owns one memory mapping.
class Mapping {
public:
    Mapping() = default;
    /// Maps `bytes` of `fd` from `offset`, shared, at a multiple of `align` if that is not 0.
    /// Throws an Error that names `object`.
    static Mapping of_file(int fd, std::size_t bytes, std::size_t offset, Access access,
                           const char* object, std::size_t align = 0);
    /// Maps anonymous pages, pre-faulted. If `huge_bytes` is not 0, it maps huge pages and returns
    /// an empty Mapping if there are not enough.
    static Mapping of_pages(std::size_t bytes, std::size_t huge_bytes = 0);
    /// The same, aligned so that the kernel can use transparent huge pages.
    static Mapping of_transparent_pages(std::size_t bytes, std::size_t huge_bytes);

    /// Reserves an address range for pages that are mapped into it later. Until then, any access to
    /// it faults.
    static Mapping reserved(std::size_t bytes);
    /// Atomically replaces the pages of a part of the mapping with ordinary pages that have the
    /// same content, so that a reader on another thread sees no change. Without `keep`, the range
    /// is reserved again. Returns false if there is not enough memory.
    bool replace(std::size_t offset, std::size_t bytes, bool keep) const noexcept;

    Mapping(Mapping&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {}
    Mapping& operator=(Mapping&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Mapping();

    /// Requests that the kernel collapse the mapping into huge pages now. Returns true if it did so
    /// for the whole mapping.
    bool make_huge() const noexcept;

    std::byte* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    bool valid() const noexcept { return data_ != nullptr; }

private:
    Mapping(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace iio_stream::sys
