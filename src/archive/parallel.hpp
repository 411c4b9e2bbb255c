// SPDX-License-Identifier: MIT
#pragma once

#include "archive/store.hpp"
#include "iio_stream/archive.hpp"

#include <cstddef>
#include <functional>

namespace iio_stream::archive {

using Job = std::function<void(std::size_t)>;

/// Calls a job for each n below `count`, in any order, on up to `most` threads. Each thread gets
/// its job from `start` and keeps it until it ends. The argument of `start` returns false once all
/// jobs must end. The first exception ends all jobs and is rethrown here. `go_on` is called on this
/// thread a few times a second. If it returns false, the function throws Stopped.
void in_parallel(std::size_t most, std::size_t count, const std::function<Job(GoOn)>& start,
                 const GoOn& go_on);

/// Like in_parallel() above: calls job(store, n) on up to ArchiveConfig::connections threads, each
/// with a Store of its own.
void in_parallel(const ArchiveConfig& config, std::size_t count,
                 const std::function<void(Store&, std::size_t)>& job, const GoOn& go_on);

} // namespace iio_stream::archive
