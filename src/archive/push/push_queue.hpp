// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <optional>
#include <string>

namespace iio_stream::detail {

/// Recordings that are to be pushed one by one, as they get closed.
class PushQueue {
public:
    virtual ~PushQueue() = default;
    /// The metadata of the next one; waits for it. nullopt: no more will come.
    virtual std::optional<std::string> next() = 0;
    /// What became of it: "" if the store has confirmed it, otherwise why not.
    virtual void pushed(const std::string& metadata, const std::string& why_not) = 0;
};

/// push_archive() for what the queue gives, not for all that is in the folder. An Error ends
/// nothing: pushed() is told.
void push_each(const PushConfig& config, PushQueue& queue,
               const std::function<bool(const PushReport&)>& go_on);

/// Throws as push_archive() does for settings that make no sense, without asking the store, and for
/// metadata of a name that pull_archive() would refuse. How many bytes of what is stored `keep`
/// leaves in the folder, at least; kUnknown: all of it.
std::uint64_t check_push(const PushConfig& config, const std::string& metadata);

} // namespace iio_stream::detail
