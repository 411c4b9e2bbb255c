// SPDX-License-Identifier: MIT
#pragma once

#include "file/file_identity.hpp"
#include "file/parts/retention_rule.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace iio_stream::archive {

using file::FileIdentity;

/// Where a part is in time, by its metadata.
struct PartTime {
    std::string recording;    ///< another one for each
    std::uint64_t index = 0;  ///< of its first sample
    std::uint64_t number = 0; ///< among the parts of its recording
    std::int64_t end_ns = 0;  ///< when its last sample was taken, UTC since 1970
};

/// Parts that the store has confirmed, oldest first, in whichever order they are added. Each is
/// removed once the rule no longer keeps it. Within a recording the sample index says which is
/// older, also where the clock was set back; between recordings the time does.
class RetentionQueue {
public:
    explicit RetentionQueue(const std::string& rule) : rule_(rule) {}

    bool all() const noexcept { return rule_.all(); }
    /// One that is stored again replaces itself.
    void add(FileIdentity meta, FileIdentity data, const PartTime& time);
    /// Removes the oldest part if it is expired and unchanged. Returns its size in bytes, or
    /// nothing. Throws an Error, once for each file, if the file cannot be removed or has changed.
    std::optional<std::uint64_t> remove();

private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

    struct Part {
        FileIdentity meta, data;
        std::int64_t end_ns;
    };
    struct Place { ///< in a recording
        std::uint64_t index, number;
        auto operator<=>(const Place&) const = default;
    };
    struct Parts {
        std::map<Place, Part> waiting;
        std::int64_t removed_ns = kNever; ///< end of the last one that was removed

        /// No part is older than one before it.
        std::int64_t oldest_ns() const
        {
            return std::max(waiting.begin()->second.end_ns, removed_ns);
        }
    };
    using Recordings = std::map<std::string, Parts>;

    Recordings::iterator oldest();
    void forget(const std::string& metadata);

    file::RetentionRule rule_;
    Recordings recordings_;
    std::map<std::string, std::pair<std::string, Place>> places_; ///< by the name of the metadata
    std::uint64_t bytes_ = 0;                                     ///< of all of them
    std::int64_t removed_ns_ = kNever; ///< what is older than one that was removed goes as well
};

} // namespace iio_stream::archive
