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

/// Uploads closed recordings into an archive and removes them from the folder as the rule says.
class Push {
public:
    Push(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on);

    /// Throws a usage Error if a recording of that name could not be pulled.
    void require_name(const std::filesystem::path& metadata) const;
    PushReport run(); ///< all in the folder
    /// What the queue gives, until it has no more.
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
    /// Without suffix.
    std::string name_of(const std::filesystem::path& metadata) const
    {
        return key_of(std::filesystem::path(metadata).replace_extension());
    }
    /// A closed recording, as it was at one time.
    struct Closed {
        FileIdentity meta, data;
        std::string text; ///< of the metadata
        bool hashed;      ///< the metadata has the samples' hash
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
