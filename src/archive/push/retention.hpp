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

/// The time of a part, according to its metadata.
struct PartTime {
    std::string recording;    ///< unique for each recording
    std::uint64_t index = 0;  ///< of its first sample
    std::uint64_t number = 0; ///< among the parts of its recording
    std::int64_t end_ns = 0;  ///< when its last sample was taken, UTC since 1970
};

/// Parts that the store has confirmed, oldest first, regardless of the order in which they are
/// added. Each is removed once the rule no longer keeps it. Within a recording the sample index
/// determines which part is older, even if the clock was set back; between recordings the time
/// does.
class RetentionQueue {
public:
    explicit RetentionQueue(const std::string& rule) : rule_(rule) {}

    bool all() const noexcept { return rule_.all(); }
    /// Adds a part. A part that is stored again replaces its earlier entry.
    void add(FileIdentity meta, FileIdentity data, const PartTime& time);
    /// Removes the oldest part if it is expired and unchanged. Returns its size in bytes, or
    /// nullopt if no part is expired. Throws an Error, once for each part, if one of its files
    /// cannot be removed or has changed.
    std::optional<std::uint64_t> remove();

private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

    struct Part {
        FileIdentity meta, data;
        std::int64_t end_ns;
    };
    struct Place { ///< of a part in its recording
        std::uint64_t index, number;
        auto operator<=>(const Place&) const = default;
    };
    struct Parts {
        std::map<Place, Part> waiting;
        std::int64_t removed_ns = kNever; ///< end of the last part that was removed

        /// End of the oldest waiting part. No part counts as older than a removed part before it.
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
    std::uint64_t bytes_ = 0;                                     ///< of all waiting parts
    std::int64_t removed_ns_ = kNever; ///< parts that end earlier are removed as well
};

} // namespace iio_stream::archive
