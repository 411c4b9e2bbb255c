// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/archive.hpp"

#include <optional>
#include <string>

namespace iio_stream::detail {

/// Passes recordings to a push one by one, as they are closed.
class PushQueue {
public:
    virtual ~PushQueue() = default;
    /// Waits for the next recording and returns its metadata's path; nullopt if there will be no
    /// more.
    virtual std::optional<std::string> next() = 0;
    /// Reports the result of one recording: "" if the store has confirmed it, otherwise the reason
    /// why not.
    virtual void pushed(const std::string& metadata, const std::string& why_not) = 0;
};

/// Like push_archive(), but pushes the recordings from the queue instead of all in the folder. An
/// Error does not end the function; pushed() reports it.
void push_each(const PushConfig& config, PushQueue& queue,
               const std::function<bool(const PushReport&)>& go_on);

/// Checks the settings, without a request to the store. Throws the same Error as push_archive() for
/// invalid settings, and a usage Error for a recording's name that pull_archive() would refuse.
/// Returns the minimum number of bytes of stored recordings that `keep` leaves in the folder;
/// kUnknown: all.
std::uint64_t check_push(const PushConfig& config, const std::string& metadata);

} // namespace iio_stream::detail
