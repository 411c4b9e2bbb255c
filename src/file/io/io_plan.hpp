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
    std::size_t depth = 0; ///< requests in flight; 0 = chosen for the size of the blocks

    void take(Options& options);
    /// Whether bypassing the page cache is required.
    bool forced() const noexcept
    {
        return direct == Direct::on || engine == IoEngine::io_uring || engine == IoEngine::libaio;
    }
    /// The depth for requests of `request_bytes` in a stream whose blocks have `pool_bytes` in
    /// total.
    std::size_t depth_for(std::size_t request_bytes, std::size_t pool_bytes) const noexcept;
    std::size_t most_requests() const noexcept; ///< size of a queue for any block size
};

/// How a file is read or written, and why no faster way is used.
struct FileIoPlan {
    IoEngine engine = IoEngine::buffered;
    sys::DirectIo io;
    std::string reason;

    const char* mechanism() const noexcept;
    /// Why the disk cannot use the pages of blocks with `traits`; "" if it can.
    std::string why_staged(const MemoryTraits& traits, IoDirection direction) const;
};

/// Plans to bypass the page cache if possible, with io_uring, otherwise with libaio. Throws if the
/// settings require direct I/O or one of these engines, and that is impossible.
FileIoPlan plan_file_io(const IoSettings& settings, const FileTarget& target,
                        IoDirection direction);

/// Creates the request queue of io_uring or libaio. The first `registered` buffer numbers belong to
/// the blocks of `pool`, the following ones to the blocks of `stages`.
std::unique_ptr<sys::IoQueue> make_io_queue(IoEngine engine, int fd, const std::string& path,
                                            std::size_t depth, const BlockPool& pool,
                                            std::size_t registered, const BlockPool& stages);

/// Why the requests of `queue` are slower than they could be; "" if nothing slows them down.
std::string queue_remark(const sys::IoQueue& queue);

} // namespace iio_stream::file
