// SPDX-License-Identifier: MIT
#include "file/parts/part_retention.hpp"

#include "file/journal/journal.hpp"
#include "file/options.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace iio_stream::file {

std::optional<RetentionRule> take_retention_rule(Options& options, bool in_parts)
{
    RetentionRule rule(options.take_or_standard(kSinkOptions["keep"]));
    if (rule.all())
        return std::nullopt;
    if (rule.none())
        fail_usage("keep=none: without archive=, no part of the recording would stay",
                   "keep=last:SIZE or keep=last:TIME keeps the newest parts; "
                   "archive=s3://BUCKET/PREFIX stores them first");
    if (rule.bytes() == 0U || rule.nanoseconds() == 0)
        fail_usage("keep=" + rule.text() + ": must be more than 0");
    if (!in_parts)
        fail_usage("keep=" + rule.text() +
                       ": the recording is one file, and only whole parts can be removed",
                   "rotate_bytes=SIZE or rotate_time=TIME makes parts");
    return rule;
}

void PartRetention::add(const Part& part, std::int64_t end_ns)
{
    ++added_;
    std::vector<std::string> files = part.files();
    if (!sys::path_exists(files.back())) // another program has moved it away
        return;
    FileIdentity data(files.back());
    const std::uint64_t bytes = part.stored().value_or(0);
    parts_.push_back({std::move(files), std::move(data), bytes, end_ns});
    bytes_ += bytes;
    remove_expired();
}

// The remaining parts are tested as if a part that could not be removed were gone.
void PartRetention::remove_expired()
{
    const std::int64_t newest_ns = parts_.back().end_ns;
    std::uint64_t bytes = bytes_; // size of a part and all newer ones
    for (auto part = parts_.begin(); std::next(part) != parts_.end();) {
        if (!rule_.is_expired(bytes, newest_ns - part->end_ns))
            return;
        bytes -= part->bytes;
        try {
            remove(*part);
            bytes_ -= part->bytes;
            part = parts_.erase(part);
        } catch (const Error& error) {
            if (!std::exchange(part->failed, true))
                report_event_({.kind = EventKind::not_removed,
                               .file = part->files.front(),
                               .error = error.what()});
            last_error_ = error;
            ++part;
        }
    }
}

// Removes the metadata first. If the program is killed in between, samples without metadata remain,
// but no metadata without samples. A part that another program has moved away no longer belongs to
// the recording.
void PartRetention::remove(const Closed& part)
{
    const std::string& data = part.files.back();
    if (!sys::path_exists(data))
        return;
    if (!part.data.is_same_content())
        throw Error(Fault::storage, EBUSY, "remove", data,
                    "it was replaced or modified after it was recorded",
                    "delete it if it is not needed");
    for (const std::string& file : part.files)
        sys::remove_file(file, "keep=" + rule_.text() + " does not keep it");
    sys::try_remove_file(journal_path(data));
    ++removed_;
    removed_bytes_ += part.bytes;
    report_event_({.kind = EventKind::removed, .count = part.bytes, .file = part.files.front()});
}

std::vector<std::string> PartRetention::files() const
{
    std::vector<std::string> files;
    for (const Closed& part : parts_)
        if (!part.failed || sys::path_exists(part.files.front()))
            files.push_back(part.files.front());
    return files;
}

nlohmann::json PartRetention::report() const
{
    return {{"removed", removed_},
            {"removed_bytes", removed_bytes_},
            {"removed_samples", removed_bytes_ / sample_bytes_},
            {"last_error", last_error_ ? nlohmann::json(last_error_->what()) : nullptr}};
}

void PartRetention::check() const
{
    const auto failed = std::ranges::count_if(parts_, &Closed::failed);
    if (failed == 0)
        return;
    throw Error(
        Fault::storage, last_error_->code().value(), last_error_->operation(),
        last_error_->object(),
        (last_error_->detail().empty() ? last_error_->code().message() : last_error_->detail()) +
            "; " + std::to_string(failed) + (failed == 1 ? " part that is" : " parts that are") +
            " older than keep=" + rule_.text() + " could not be removed",
        last_error_->hint());
}

} // namespace iio_stream::file
