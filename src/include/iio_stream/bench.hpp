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

/// What to measure: every memory kind with every I/O method, writing a file from it and reading the
/// file back.
///
///     bench_io({.file = "/mnt/disk/x"}, [](const IoRow& row) { print(row); return true; }, stop);
struct IoBench {
    std::string file; ///< a scratch file on the storage to measure; created, and removed at the end
    bool overwrite = false;           ///< replace an existing file; otherwise one is an Error
    std::size_t bytes = 1 << 30;      ///< size of the file
    std::size_t block_size = 4 << 20; ///< size of one request
    std::size_t depth = 4;            ///< requests in flight, for methods that allow several
};

/// One cell of that matrix. Values that `error` kept from being measured are nullopt.
struct IoRow {
    std::string memory, method, direction; ///< "memfd", "io_uring", "write"
    std::size_t page_bytes = 4096;         ///< page size of the memory
    /// Time to create the file and the memory; to complete all requests; to sync and close the
    /// file.
    std::optional<double> create_seconds, io_seconds, close_seconds;
    std::optional<double> cpu_seconds; ///< user and system time of this process during the I/O
    bool checked = false;              ///< every byte was compared, and matched
    std::optional<Error> error;        ///< what ended this cell
};

/// Calls `seen` with each cell as it completes, until all are done, `seen` returns false, or `stop`
/// is set. Throws Error if the file cannot be created; a combination that does not work is a row
/// that says why.
IIO_STREAM_API void bench_io(const IoBench& what, const std::function<bool(const IoRow&)>& seen,
                             const std::atomic<bool>& stop);

} // namespace iio_stream
