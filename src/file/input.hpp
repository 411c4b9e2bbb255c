// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <optional>
#include <string>

namespace iio_stream::file {

/// The result of Input::take(): a block with the bytes that came for it, and whether it is the
/// last.
struct Got {
    std::optional<detail::Order> order;
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
    /// Nothing has come for long: throws if the file should have answered.
    virtual void settle() {}
};

/// A file open for reading; the source owns it.
struct OpenInput {
    int fd = -1;
    std::string path;
    bool loop = false; ///< continue at the beginning after the end
};

/// By read(), through the page cache: for pipes, devices, and if nothing better works.
std::unique_ptr<Input> make_buffered_input(const OpenInput& file, std::size_t blocks);

} // namespace iio_stream::file
