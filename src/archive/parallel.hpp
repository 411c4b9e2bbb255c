// SPDX-License-Identifier: MIT
#pragma once

#include "archive/store.hpp"
#include "iio_stream/archive.hpp"

namespace iio_stream::archive {

/// Calls job(store, n) for each n below `count`, in any order, on up to ArchiveConfig::connections
/// threads, each with a Store of its own. The first exception ends all jobs and is rethrown here.
/// `go_on` is called on this thread a few times a second. If it returns false, the function throws
/// Stopped.
void in_parallel(const ArchiveConfig& config, std::size_t count,
                 const std::function<void(Store&, std::size_t)>& job, const GoOn& go_on);

} // namespace iio_stream::archive
