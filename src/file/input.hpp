// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <optional>
#include <string>

namespace iio_stream::file {

/// What Input::take() found: a block with as many bytes as came for it, and whether it is the last.
struct Got {
    std::optional<detail::Order> order;
    bool ended = false; ///< nothing comes behind it
};

/// How an open file's bytes get into blocks; its destructor ends what is under way.
/// Thread: that of the source it belongs to.
class Input {
public:
    virtual ~Input() = default;

    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    virtual Got take() = 0; ///< in the order of submit(), whatever was read first
    virtual Wait wait() = 0;
    virtual std::size_t pending() const noexcept = 0;
    /// Nothing has come for long: throws where the file should have answered.
    virtual void settle() {}
};

/// A file that is open for reading; the source owns it.
struct OpenInput {
    int fd = -1;
    std::string path;
    bool loop = false; ///< behind its end comes its beginning
};

/// By read(), through the page cache: for pipes, devices, and where there is no better way.
std::unique_ptr<Input> make_buffered_input(const OpenInput& file, std::size_t blocks);

} // namespace iio_stream::file
