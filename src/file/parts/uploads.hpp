// SPDX-License-Identifier: MIT
#pragma once

#include "file/parts/retention_rule.hpp"
#include "iio_stream/archive.hpp"
#include "iio_stream/endpoint.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace iio_stream::file {

/// Settings for the upload of a recording's closed parts in the background.
struct UploadSettings {
    PushConfig push;
    std::int64_t wait_ns = 0; ///< time to wait at the stream's end for parts not stored yet
    std::uint64_t left =
        kUnknown; ///< least number of bytes of stored parts that stay on the disk; kUnknown: all

    /// The greatest number of bytes on the disk while the store keeps pace; kUnknown: no limit. It
    /// includes the bytes that keep= leaves, the part being written, and the parts before and after
    /// it.
    std::uint64_t most_on_disk(std::uint64_t part_bytes) const noexcept;
    /// Whether uploads free space as fast as the stream fills it.
    bool keeps_pace(const UploadStats& now, std::uint64_t part_bytes) const noexcept
    {
        return most_on_disk(part_bytes) != kUnknown && now.behind_bytes < kPartsOnDisk * part_bytes;
    }

    /// Takes archive= and archive_wait= of a recording, and also keep= if archive= is set. nullopt:
    /// the recording is not uploaded. Throws a usage Error for invalid settings.
    static std::optional<UploadSettings> from(Options& options, const std::string& recording);
};

/// The values of UploadStats for a running stream. Any thread.
struct UploadCounters {
    std::atomic<std::uint64_t> parts{0}, stored{0}, behind_bytes{0}, retries{0};

    void set(const UploadStats& now) noexcept;
    UploadStats get() const noexcept { return {parts, stored, behind_bytes, retries}; }
};

/// The time from the `failures`th failure in a row to the next attempt, in nanoseconds: 1 s,
/// doubled with each failure up to a minute.
std::int64_t upload_pause(unsigned failures) noexcept;

/// Uploads parts, one after another, on a thread of its own. Nothing waits for that thread before
/// finish().
/// Thread: one thread calls all functions but add(); any thread may call add().
class Uploads {
public:
    /// `progress` changes while finish() waits.
    Uploads(const UploadSettings& settings, std::atomic<std::uint64_t>& progress,
            std::shared_ptr<UploadCounters> counters, ReportEvent report_event);
    ~Uploads(); ///< ends the uploads immediately
    Uploads(const Uploads&) = delete;
    Uploads& operator=(const Uploads&) = delete;

    /// Adds a sealed part, by its metadata file. `again`: the part was added before, and its
    /// metadata may have changed.
    void add(const std::string& metadata, bool again);
    /// Waits until all parts are stored, for at most UploadSettings::wait_ns, or until `cancel` is
    /// readable. Throws an Error that states how many parts are not stored, and how to store them.
    void finish(int cancel);
    nlohmann::json report() const;

private:
    class Queue;

    void cut() noexcept;

    UploadSettings settings_;
    std::shared_ptr<Queue>
        queue_; ///< shared with the thread, which may outlive this while the system resolves a name
    std::atomic<std::uint64_t>& progress_;
};

} // namespace iio_stream::file
