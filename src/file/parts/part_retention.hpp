// SPDX-License-Identifier: MIT
#pragma once

#include "file/file_identity.hpp"
#include "file/parts/part.hpp"
#include "file/parts/retention_rule.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// Takes keep= of a recording in parts that has no archive. nullopt: all parts stay. Throws a usage
/// Error if the rule would leave nothing, or if the recording is one file (`in_parts` is false).
std::optional<RetentionRule> take_retention_rule(Options& options, bool in_parts);

/// Removes the oldest closed parts of a recording once its rule no longer keeps them. It identifies
/// the added parts by their files: it never removes another file that has the name of a part. The
/// newest closed part always stays.
/// Thread: one thread calls add(). Any thread may call the const functions after that, and added()
/// at any time.
class PartRetention {
public:
    /// `bytes` is set to the bytes of samples in the added parts that are still on the disk.
    PartRetention(RetentionRule rule, std::size_t sample_bytes, ReportEvent report_event,
                  std::atomic<std::uint64_t>& bytes)
        : rule_(std::move(rule)),
          sample_bytes_(sample_bytes),
          report_event_(std::move(report_event)),
          bytes_(bytes)
    {
        bytes_ = 0;
    }

    /// Adds a part that is complete and newer than the parts before it, and removes the parts that
    /// have expired. `end_ns`: when its last sample was taken, by the recording's clock. If a file
    /// cannot be removed, this is reported as an event, and the next part triggers another attempt.
    void add(const Part& part, std::int64_t end_ns);

    std::size_t added() const noexcept { return added_; } ///< number of parts
    /// The first file of each added part that is still on the disk, oldest first.
    std::vector<std::string> files() const;
    /// {"removed": 3, "removed_bytes": …, "removed_samples": …, "last_error": null}
    nlohmann::json report() const;
    /// Throws a storage Error if expired parts could not be removed.
    void check() const;

private:
    struct Closed {
        std::vector<std::string> files;
        FileIdentity data;
        std::uint64_t bytes;
        std::int64_t end_ns;
        bool failed = false; ///< expired, but could not be removed
    };

    void remove_expired();
    void remove(const Closed& part);

    const RetentionRule rule_;
    const std::size_t sample_bytes_;
    const ReportEvent report_event_;
    std::atomic<std::uint64_t>& bytes_;
    std::deque<Closed> parts_; ///< oldest first
    std::atomic<std::size_t> added_{0};
    std::uint64_t removed_ = 0, removed_bytes_ = 0;
    std::optional<Error> last_error_;
};

} // namespace iio_stream::file
