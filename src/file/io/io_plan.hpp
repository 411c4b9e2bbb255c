// SPDX-License-Identifier: MIT
#pragma once

#include "file/file_names.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/disk/io_queue.hpp"

#include <string>

namespace iio_stream::file {

enum class IoEngine { automatic, io_uring, libaio, buffered };
enum class Direct { automatic, on, off };
enum class IoDirection { read, write };

/// engine=, direct= and depth=, the same for both directions.
struct IoSettings {
    IoEngine engine = IoEngine::automatic;
    Direct direct = Direct::automatic;
    std::size_t depth = 0; ///< requests in flight; 0 = depends on the blocks

    void take(Options& options);
    /// Whether bypassing the page cache is required.
    bool forced() const noexcept
    {
        return direct == Direct::on || engine == IoEngine::io_uring || engine == IoEngine::libaio;
    }
    /// For requests of that many bytes of a stream whose blocks have `pool_bytes` together.
    std::size_t depth_for(std::size_t request_bytes, std::size_t pool_bytes) const noexcept;
    std::size_t most_requests() const noexcept; ///< of a queue, for any block size
};

/// How bytes get into or out of a file, and why not in a better way.
struct FileIoPlan {
    IoEngine engine = IoEngine::buffered;
    sys::DirectIo io;
    std::string reason;

    const char* mechanism() const noexcept;
    /// Why the disk cannot use such blocks' own pages; "" if it can.
    std::string why_staged(const MemoryTraits& traits, IoDirection direction) const;
};

/// Bypasses the page cache if possible, by io_uring, otherwise by libaio. Throws if that, or one of
/// them, is required but impossible.
FileIoPlan plan_file_io(const IoSettings& settings, const FileTarget& target,
                        IoDirection direction);

/// The request queue of one of the two direct ways. Requests use the first `registered` buffers of
/// `pool`, and with higher numbers those of `stages`.
std::unique_ptr<sys::IoQueue> make_io_queue(IoEngine engine, int fd, const std::string& path,
                                            std::size_t depth, const BlockPool& pool,
                                            std::size_t registered, const BlockPool& stages);

/// What could be better about its requests; "" if nothing.
std::string queue_remark(const sys::IoQueue& queue);

} // namespace iio_stream::file
