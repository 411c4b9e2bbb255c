// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "sys/direct_io.hpp"
#include "sys/io_queue.hpp"

#include <string>

namespace iio_stream::file {

enum class Engine { automatic, io_uring, libaio, buffered };
enum class Direct { automatic, on, off };
enum class Use { read, write };

/// engine=, direct= and depth=, the same for both directions.
struct IoSettings {
    Engine engine = Engine::automatic;
    Direct direct = Direct::automatic;
    std::size_t depth = 0; ///< requests in flight; 0 = as the blocks are

    void take(Options& options);
    /// Past the page cache, whatever that costs.
    bool forced() const noexcept
    {
        return direct == Direct::on || engine == Engine::io_uring || engine == Engine::libaio;
    }
    std::size_t depth_for(std::size_t block_size) const noexcept;
    std::size_t most_requests() const noexcept; ///< of a queue, whatever the blocks are
};

/// How bytes get into a file or out of it, and why not better.
struct Way {
    Engine engine = Engine::buffered;
    sys::DirectIo io;
    std::string reason;

    const char* mechanism() const noexcept;
    /// Why the disk cannot use such blocks' own pages; "" where it can.
    std::string why_staged(const MemoryTraits& traits, Use use) const;
};

/// Past the page cache where that is possible, by io_uring, else by libaio. Throws where that, or
/// one of them, is forced and cannot be.
Way choose_way(const IoSettings& settings, const std::string& path, Use use);

/// The requests of one of the two direct ways. They come from the first `registered` buffers of
/// `pool`, and behind those by their numbers from `stages`.
std::unique_ptr<sys::IoQueue> make_queue(Engine engine, int fd, const std::string& path,
                                         std::size_t depth, const BlockPool& pool,
                                         std::size_t registered, const BlockPool& stages);

/// What of its requests is not as good as it could be; "" where nothing is.
std::string remark_on(const sys::IoQueue& queue);

} // namespace iio_stream::file
