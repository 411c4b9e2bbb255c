// SPDX-License-Identifier: MIT
#pragma once

#include "archive/push/listing.hpp"
#include "archive/push/push_queue.hpp"
#include "archive/push/retention.hpp"
#include "archive/s3/bucket.hpp"
#include "archive/s3/s3_url.hpp"
#include "archive/s3/upload.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

namespace iio_stream::archive {

/// Uploads closed recordings to an archive, and removes them from the folder according to
/// PushConfig::keep. The recordings of a folder are uploaded over several connections, each on a
/// thread of its own; those of a queue over one.
class Push {
public:
    Push(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on);

    /// Throws a usage Error if `archive pull` would refuse the recording's name.
    void require_name(const std::filesystem::path& metadata) const;
    PushReport run(); ///< pushes all recordings in the folder
    /// Pushes each recording that the queue returns, until the queue ends.
    void run(detail::PushQueue& queue);

private:
    class Connection;

    bool should_continue() { return !go_on_ || go_on_(so_far()); }
    /// The bandwidth for each connection that still uploads.
    double rate() const
    {
        return config_.bandwidth / static_cast<double>(std::max<std::size_t>(connections_, 1));
    }
    PushReport so_far(); ///< with the problems in a fixed order
    std::string key_of(const std::filesystem::path& file) const
    {
        return url_.prefix + file.lexically_relative(config_.folder).generic_string();
    }
    /// The recording's key, without suffix.
    std::string name_of(const std::filesystem::path& metadata) const
    {
        return key_of(std::filesystem::path(metadata).replace_extension());
    }
    /// The state of a closed recording at one point in time.
    struct Closed {
        FileIdentity meta, data;
        std::string text; ///< of the metadata
        bool hashed;      ///< the metadata have the samples' hash
        PartTime time;
    };
    /// What the store has under a recording's two keys.
    struct Stored {
        std::optional<Object> data, meta;
    };

    void push_next(Bucket& bucket);
    bool push(Bucket& bucket, const std::filesystem::path& metadata,
              std::unique_lock<std::mutex> opening);
    std::optional<Closed> open_or_note(Bucket& bucket, const std::filesystem::path& metadata);
    std::optional<Closed> open(const std::string& metadata);
    Stored look_up(Bucket& bucket, const Closed& recording);
    bool store(Bucket& bucket, const Closed& recording, Stored before);
    bool send(Bucket& bucket, const Closed& recording, const Stored& before, bool same);
    bool is_removed(Bucket& bucket, const std::string& metadata);
    static bool has(Bucket& bucket, const std::string& text, const std::string& key);
    void remove_expired();

    void problem(const std::string& what)
    {
        const std::lock_guard lock(mutex_);
        report_.problems.push_back(detail::printable(what));
    }
    bool problem(const FileIdentity& metadata, const std::string& what)
    {
        problem(metadata.path() + ": " + what);
        return false;
    }
    /// Adds to a counter of the report, and returns it.
    std::uint64_t count(std::uint64_t PushReport::*what, std::uint64_t more)
    {
        const std::lock_guard lock(mutex_);
        return report_.*what += more;
    }
    void count(const Sent& sent)
    {
        count(&PushReport::bytes, sent.bytes);
        count(&PushReport::resumed, sent.resumed);
    }

    const PushConfig& config_;
    const std::function<bool(const PushReport&)>& go_on_;
    const S3Url url_;
    const Account account_;
    std::atomic<std::size_t> connections_{1}; ///< those that still upload

    /// Held while a recording is opened and looked up, so that this happens in the order of the
    /// names. It protects the next four members.
    std::mutex opening_;
    std::vector<std::filesystem::path> found_; ///< metadata of the recordings in the folder
    std::size_t opened_ = 0;                   ///< how many of them
    Listing listing_;
    std::uint64_t listed_at_ = 0; ///< PushReport::bytes when the listing was last forgotten

    std::mutex mutex_; ///< protects the members that follow
    RetentionQueue retained_;
    PushReport report_;
};

} // namespace iio_stream::archive
