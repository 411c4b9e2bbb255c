// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/error.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace iio_stream {

/// A measurement of every memory kind with every I/O method. Each combination writes a file from
/// the memory and reads the file back.
///
///     bench_io({.file = "/mnt/disk/x"}, [](const IoRow& row) { print(row); return true; }, stop);
struct IoBench {
    std::string file; ///< a scratch file on the storage to measure; created first and removed at
                      ///< the end
    bool overwrite = false;           ///< replace an existing file; otherwise an existing file is
                                      ///< an Error
    std::size_t bytes = 1 << 30;      ///< size of the file
    std::size_t block_size = 4 << 20; ///< size of one request
    std::size_t depth = 4;            ///< requests in flight, for methods that support several
};

/// The result for one memory kind, I/O method and direction. A value is nullopt if `error`
/// prevented its measurement.
struct IoRow {
    std::string memory, method, direction; ///< "memfd", "io_uring", "write"
    std::size_t page_bytes = 4096;         ///< page size of the memory
    /// The times to create the file and the memory, to complete all requests, and to sync and close
    /// the file.
    std::optional<double> create_seconds, io_seconds, close_seconds;
    std::optional<double> cpu_seconds; ///< user and system time of this process during the I/O
    bool checked = false;              ///< every byte was compared and matched
    std::optional<Error> error;        ///< the error that ended this measurement
};

/// Calls `seen` with each row as it completes, until all rows are done, `seen` returns false, or
/// `stop` is set. Throws Error if the file cannot be created. If a combination does not work, its
/// row contains the error.
IIO_STREAM_API void bench_io(const IoBench& what, const std::function<bool(const IoRow&)>& seen,
                             const std::atomic<bool>& stop);

} // namespace iio_stream
