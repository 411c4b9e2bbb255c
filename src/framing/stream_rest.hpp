// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <optional>
#include <utility>

namespace iio_stream::framing {

/// The rest of a stream that a peer sends in blocks: first the blocks that have already arrived,
/// and then, once, the part of an incomplete block. Thread: one.
class StreamRest {
public:
    /// Prepares for a new stream.
    void reset() noexcept { wanted_ = part_taken_ = unusable_ = false; }
    /// Notes that the connection failed with this error. After an error in the data, the rest is
    /// not used.
    void broken_by(const Error& error) noexcept
    {
        const int code = error.code().value();
        unusable_ = code == EBADMSG || code == EPROTO || code == EREMOTEIO;
    }
    /// Notes that the stream ends. Returns whether there can be a rest.
    bool begin(bool connected) noexcept { return wanted_ = connected && !unusable_; }
    bool is_wanted() const noexcept { return wanted_; }
    /// Returns the next block of the rest. `next` returns a block that has arrived, as
    /// Source::take() does; its errors are ignored. `part` returns the part of the incomplete
    /// block, if any, and is called once.
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
