// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace iio_stream::file {

/// A file that is open for writing; the sink owns it.
struct OpenFile {
    int fd = -1;
    std::string path;
};

/// How a stream's bytes get into a file that is open.
/// Thread: that of the sink it belongs to.
class Output {
public:
    virtual ~Output() = default;

    virtual bool may_block() const noexcept = 0;
    virtual bool ready() const noexcept { return true; }
    virtual void submit(Block filled) = 0;
    virtual void service() {}
    virtual Wait wait() { return {}; }
    virtual std::size_t pending() const noexcept { return 0; }
    /// Ends all requests: drained, or where that takes too long with an Error. After an abort the
    /// file ends where valid() says, if truncated there.
    virtual void finish(Stop how) = 0;
    /// Bytes from the stream's start that are in the file, without a hole.
    virtual std::uint64_t valid() const noexcept = 0;
};

/// Through the page cache, by write(). `cancel` becomes readable when a write must give up; after
/// each `sync_every` bytes (0 = never) they are on the disk.
std::unique_ptr<Output> make_buffered_output(const OpenFile& file, int cancel,
                                             std::uint64_t sync_every);

} // namespace iio_stream::file
