// SPDX-License-Identifier: MIT
#pragma once

#include "archive/push/push_queue.hpp"
#include "archive/push/retention.hpp"
#include "archive/s3/bucket.hpp"
#include "archive/s3/s3_url.hpp"
#include "archive/s3/upload.hpp"
#include "core/base/text.hpp"

#include <filesystem>

namespace iio_stream::archive {

/// Uploads closed recordings to an archive, and removes them from the folder according to
/// PushConfig::keep.
class Push {
public:
    Push(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on);

    /// Throws a usage Error if `archive pull` would refuse the recording's name.
    void require_name(const std::filesystem::path& metadata) const;
    PushReport run(); ///< pushes all recordings in the folder
    /// Pushes the recordings that the queue returns, until there are no more.
    void run(detail::PushQueue& queue);

private:
    bool should_continue()
    {
        report_.retries = bucket_.retries();
        return !go_on_ || go_on_(report_);
    }
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

    std::optional<Closed> open(const std::string& metadata);
    bool push(const std::filesystem::path& metadata);
    bool store(const Closed& recording);
    bool send(const Closed& recording, const std::optional<Object>& data, bool same);
    bool is_removed(const std::string& metadata);
    bool has(const std::string& text, const std::string& key);
    void remove_expired();
    bool problem(const FileIdentity& metadata, const std::string& what)
    {
        report_.problems.push_back(detail::printable(metadata.path() + ": " + what));
        return false;
    }
    void count(const Sent& sent)
    {
        report_.bytes += sent.bytes;
        report_.resumed += sent.resumed;
    }

    const PushConfig& config_;
    const std::function<bool(const PushReport&)>& go_on_;
    const S3Url url_;
    RetentionQueue retained_;
    PushReport report_;
    Bucket bucket_;
};

} // namespace iio_stream::archive
