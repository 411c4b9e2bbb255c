// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace iio_stream::detail {

/// Whether this machine's processor has AVX2.
bool has_avx2() noexcept;

// A row is a number of adjacent bytes: some or all values of a sample. The rows of successive
// samples are a step apart. No function writes the bytes between the rows.
// `avx2`: uses AVX2, which the processor must have; has no effect on other architectures.

/// Where rows are, relative to the first one.
struct Rows {
    std::size_t step = 0;  ///< bytes from one row to the next
    std::size_t bytes = 0; ///< bytes of a row

    bool packed() const noexcept { return step == bytes; }
};

/// Copies rows of `bytes` bytes, which are from_step bytes apart in `from` and to_step bytes apart
/// in `to`.
void move_rows(std::byte* to, std::size_t to_step, const std::byte* from, std::size_t from_step,
               std::size_t rows, std::size_t bytes, bool avx2 = has_avx2()) noexcept;

/// Copies rows that consist of to.size() parts of `bytes` bytes each. The first part of every row
/// goes to to[0], the second to to[1] and so on, without gaps.
void split_rows(std::span<std::byte* const> to, const std::byte* from, std::size_t from_step,
                std::size_t rows, std::size_t bytes, bool avx2 = has_avx2()) noexcept;

/// Does the reverse of split_rows().
void merge_rows(std::byte* to, std::size_t to_step, std::span<const std::byte* const> from,
                std::size_t rows, std::size_t bytes, bool avx2 = has_avx2()) noexcept;

} // namespace iio_stream::detail
