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

/// What to measure: each memory with each method, writing a file from it and reading it into it.
///
///     bench_io({.file = "/mnt/disk/x"}, [](const IoRow& row) { print(row); return true; }, stop);
struct IoBench {
    std::string file; ///< made, and removed at the end; on the storage that is of interest
    bool overwrite = false;           ///< a file that is there already; else it is an Error
    std::size_t bytes = 1 << 30;      ///< of the file
    std::size_t block_size = 4 << 20; ///< bytes of one request
    std::size_t depth = 4; ///< requests in flight, of the methods that have several
};

/// One cell of that matrix. What was not reached because of `error` is nullopt.
struct IoRow {
    std::string memory, method, direction; ///< "memfd", "io_uring", "write"
    std::size_t page_bytes = 4096; ///< of the memory
    /// Until the file and the memory are there; all requests; until the file is on the disk and closed.
    std::optional<double> create_seconds, io_seconds, close_seconds;
    std::optional<double> cpu_seconds; ///< user and system of this process, during the I/O
    bool checked = false;              ///< each byte was compared, and was right
    std::optional<Error> error;        ///< what ended this cell
};

/// Calls `seen` with each cell as it is done, until all are or it returns false, or `stop` is set.
/// Throws Error where the file cannot be had; a cell that is impossible is a row that says why.
IIO_STREAM_API void bench_io(const IoBench& what, const std::function<bool(const IoRow&)>& seen,
                             const std::atomic<bool>& stop);

} // namespace iio_stream
