// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

namespace iio_stream::cli {

inline constexpr int kSamplesLost = 4;

/// The exit status for the error's fault. The help of iio-stream lists the statuses.
int exit_status(const Error& error) noexcept;
/// The exit status of the summary's error, 4 if --on-gap stop ended the stream after a loss, 1 for
/// another failure, otherwise 0.
int exit_status(const Summary& summary) noexcept;

} // namespace iio_stream::cli
