// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/fill_deadline.hpp"
#include "core/memory/fill_request.hpp"
#include "file/io/data_layout.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// The result of Input::take(): a block with the bytes that were read into it, and whether it is
/// the last one.
struct Got {
    std::optional<detail::FillRequest> order;
    bool ended = false; ///< nothing follows it
};

/// Reads the bytes of an open file into blocks. The destructor ends pending reads.
/// Thread: the thread of the source that owns it.
class Input {
public:
    virtual ~Input() = default;

    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    virtual Got take() = 0; ///< in the order of submit(), whichever read ends first
    virtual Wait wait() = 0;
    virtual std::size_t pending() const noexcept = 0;
    /// See Source::flush().
    virtual bool flush() { return false; }
    /// Called when nothing has arrived for a long time. Throws if a read is overdue.
    virtual void on_timeout() {}
};

/// A file open for reading; the source owns it.
struct OpenInput {
    int fd = -1;
    std::string path;
    bool loop = false; ///< continue at the beginning after the end
    /// The ranges of the samples, none of them empty; nullopt: everything up to the end of the
    /// file.
    std::optional<std::vector<ByteRange>> ranges = {};
    std::uint64_t skip = 0; ///< bytes before the first sample of a pipe, which has no ranges
};

/// Reads with read(), through the page cache. Used for pipes and devices, and if no faster way
/// works. Data that arrive slowly are handed out in partly filled blocks of whole samples of
/// `format`.
std::unique_ptr<Input> make_buffered_input(const OpenInput& file, const BlockPool& pool,
                                           const Format& format);

} // namespace iio_stream::file
