// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace iio_stream::file {

/// The longest time that a disk may take to end a write or to flush its cache. An SD card that
/// erases blocks, or an NFS server, can take many seconds.
constexpr std::int64_t kFinishTimeoutNs = 120'000'000'000;

/// A file open for writing; the sink owns it.
struct OpenFile {
    int fd = -1;
    std::string path;
    std::uint64_t begin = 0; ///< bytes before the first sample, a multiple of the disk's sectors
};

/// Writes the bytes of a stream to an open file.
/// Thread: the thread of the sink that owns it.
class Output {
public:
    virtual ~Output() = default;

    virtual bool may_block() const noexcept = 0;
    virtual void start() {} ///< before the first submit(); from here on the file may change
    virtual bool ready() const noexcept { return true; }
    virtual void submit(Block filled) = 0;
    virtual void service() {}
    virtual Wait wait() { return {}; }
    virtual std::size_t pending() const noexcept { return 0; }
    /// Ends all requests: waits for them, or throws an Error if that takes too long. After an abort
    /// the file is valid up to valid(); truncate it there.
    virtual void finish(Stop how) = 0;
    /// Bytes from the start of the stream that are in the file, without a hole.
    virtual std::uint64_t valid() const noexcept = 0;
};

/// Writes with write(), through the page cache. `cancel` becomes readable when a write must give
/// up. Every `sync_every` bytes (0 = never), the data are synced to the disk.
std::unique_ptr<Output> make_buffered_output(const OpenFile& file, int cancel,
                                             std::uint64_t sync_every);

} // namespace iio_stream::file
