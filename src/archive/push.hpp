// SPDX-License-Identifier: MIT
#pragma once

#include "archive/bucket.hpp"
#include "archive/keep.hpp"
#include "archive/place.hpp"
#include "archive/upload.hpp"
#include "core/push_queue.hpp"
#include "core/text.hpp"

#include <filesystem>

namespace iio_stream::archive {

/// Closed recordings on their way into an archive, and out of the folder as the rule says.
class Push {
public:
    Push(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on);

    PushReport run(); ///< all in the folder
    /// What the queue gives, until it has no more.
    void run(detail::PushQueue& queue);

private:
    bool may_go_on()
    {
        report_.retries = bucket_.retries();
        return !go_on_ || go_on_(report_);
    }
    std::string key_of(const std::filesystem::path& file) const
    {
        return place_.prefix + file.lexically_relative(config_.folder).generic_string();
    }
    /// A closed recording, as it was at one time.
    struct Closed {
        Seen meta, data;
        std::string text; ///< of the metadata
        bool hashed;      ///< the metadata has the samples' hash
    };

    std::optional<Closed> open(const std::string& metadata);
    bool push(const std::filesystem::path& metadata);
    bool store(const Closed& recording);
    bool send(const Closed& recording, const std::optional<Object>& data, bool same);
    bool is_removed(const std::string& metadata);
    bool has(const std::string& text, const std::string& key);
    void remove_kept();
    bool problem(const Seen& metadata, const std::string& what)
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
    const Place place_;
    Kept kept_;
    PushReport report_;
    Bucket bucket_;
};

} // namespace iio_stream::archive
