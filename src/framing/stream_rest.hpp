// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <optional>
#include <utility>

namespace iio_stream::framing {

/// The end of a stream that a peer sends in blocks: the blocks that have come, then once the part
/// of another one. Thread: one.
class StreamRest {
public:
    /// Before a stream.
    void reset() noexcept { wanted_ = part_taken_ = unusable_ = false; }
    /// The connection breaks with this error. What follows an error of the data is not used.
    void broken_by(const Error& error) noexcept
    {
        const int code = error.code().value();
        unusable_ = code == EBADMSG || code == EPROTO || code == EREMOTEIO;
    }
    /// The stream ends. Returns whether there may be a rest.
    bool begin(bool connected) noexcept { return wanted_ = connected && !unusable_; }
    bool is_wanted() const noexcept { return wanted_; }
    /// `next` returns a block that has come, as Source::take() does; its errors do not matter any
    /// more. `part` returns the part of another block as an optional one, and is called once.
    template <typename Next, typename Part>
    Taken take(Next next, Part part)
    {
        if (part_taken_)
            return {};
        Taken taken;
        try {
            taken = next();
        } catch (const Error&) {
        }
        if (taken.filled)
            return taken;
        part_taken_ = true;
        return {part(), false};
    }

private:
    bool wanted_ = false, part_taken_ = false, unusable_ = false;
};

} // namespace iio_stream::framing
