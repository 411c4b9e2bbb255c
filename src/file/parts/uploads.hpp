// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/event_buffer.hpp"
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

/// Where the closed parts of a recording go, behind the stream.
struct UploadSettings {
    PushConfig push;
    std::int64_t wait_ns = 0; ///< at the end of the stream, for what is not stored yet
    std::uint64_t left =
        kUnknown; ///< bytes of stored parts that stay on the disk, at least; kUnknown: all

    /// What a store that keeps pace leaves on the disk: what keep= says, the part that is written,
    /// and those before and after it; kUnknown: all.
    std::uint64_t most_on_disk(std::uint64_t part_bytes) const noexcept;
    /// Whether the store makes room for what comes.
    bool keeps_pace(const UploadStats& now, std::uint64_t part_bytes) const noexcept
    {
        return most_on_disk(part_bytes) != kUnknown && now.behind_bytes < kPartsOnDisk * part_bytes;
    }

    /// Takes archive=, archive_wait= and, if there is an archive=, keep= of a recording. nullopt:
    /// it is not uploaded. Throws a usage Error for settings that make no sense.
    static std::optional<UploadSettings> from(Options& options, const std::string& recording);
};

/// What UploadStats has, of a stream that runs. Any thread.
struct UploadCounters {
    std::atomic<std::uint64_t> parts{0}, stored{0}, behind_bytes{0}, retries{0};

    void set(const UploadStats& now) noexcept;
    UploadStats get() const noexcept { return {parts, stored, behind_bytes, retries}; }
};

/// How long after the `failures`th failure in a row the next try is, in nanoseconds: 1 s, doubled
/// up to a minute.
std::int64_t upload_pause(unsigned failures) noexcept;

/// Uploads parts, one after another, on a thread of its own for which nothing waits before
/// finish(). Thread: one, and any for add().
class Uploads {
public:
    /// `progress` changes while finish() waits.
    Uploads(const UploadSettings& settings, std::atomic<std::uint64_t>& progress,
            std::shared_ptr<UploadCounters> counters, std::shared_ptr<detail::EventBuffer> events);
    ~Uploads(); ///< ends it at once
    Uploads(const Uploads&) = delete;
    Uploads& operator=(const Uploads&) = delete;

    /// A part that is sealed, by its metadata; `again` if these may have changed since.
    void add(const std::string& metadata, bool again);
    /// Waits until all is stored, at most UploadSettings::wait_ns, and not once `cancel` is
    /// readable. Throws an Error that says what is not stored, and how to do that.
    void finish(int cancel);
    nlohmann::json report() const;

private:
    class Queue;

    void cut() noexcept;

    UploadSettings settings_;
    std::shared_ptr<Queue>
        queue_; ///< the thread's too, which may outlive this while the system looks up a name
    std::atomic<std::uint64_t>& progress_;
};

} // namespace iio_stream::file
