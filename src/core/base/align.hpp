// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>

namespace iio_stream::detail {

inline constexpr std::size_t kPage = 4096; ///< bytes of a small (not huge) page

template <typename T>
constexpr T round_up(T value, std::type_identity_t<T> unit) noexcept
{
    return (value + unit - 1) / unit * unit;
}

} // namespace iio_stream::detail
