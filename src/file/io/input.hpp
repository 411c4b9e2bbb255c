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

/// The result of Input::take(): a block with the bytes that came for it, and whether it is the
/// last.
struct Got {
    std::optional<detail::FillRequest> order;
    bool ended = false; ///< nothing follows it
};

/// How bytes of an open file get into blocks; the destructor ends pending reads.
/// Thread: that of the source it belongs to.
class Input {
public:
    virtual ~Input() = default;

    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    virtual Got take() = 0; ///< in the order of submit(), whatever was read first
    virtual Wait wait() = 0;
    virtual std::size_t pending() const noexcept = 0;
    /// Source::flush().
    virtual bool flush() { return false; }
    /// Nothing has come for long: throws if the file should have answered.
    virtual void on_timeout() {}
};

/// A file open for reading; the source owns it.
struct OpenInput {
    int fd = -1;
    std::string path;
    bool loop = false; ///< continue at the beginning after the end
    /// Where its samples are, none of them empty; nullopt: everything up to its end.
    std::optional<std::vector<ByteRange>> ranges = {};
    std::uint64_t skip = 0; ///< bytes before the first sample of a pipe, which has no ranges
};

/// By read(), through the page cache: for pipes, devices, and if nothing better works. What comes
/// slowly is handed out in blocks of whole samples of `format` that are not full.
std::unique_ptr<Input> make_buffered_input(const OpenInput& file, const BlockPool& pool,
                                           const Format& format);

} // namespace iio_stream::file
