// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

namespace iio_stream::cli {

inline constexpr int kSamplesLost = 4;

/// By what caused the error; the help of the command lists them.
int exit_status(const Error& error) noexcept;
/// That of its error, or 4 if a loss ended the stream by --on-gap stop, or 0.
int exit_status(const Summary& summary) noexcept;

} // namespace iio_stream::cli
