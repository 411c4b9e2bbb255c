// SPDX-License-Identifier: MIT
#include "archive/push/retention.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iio_stream::archive {

void RetentionQueue::forget(const std::string& metadata)
{
    const auto at = places_.find(metadata);
    if (at == places_.end())
        return;
    const auto recording = recordings_.find(at->second.first);
    const auto part = recording->second.waiting.find(at->second.second);
    bytes_ -= part->second.data.size();
    recording->second.waiting.erase(part);
    places_.erase(at);
}

void RetentionQueue::add(FileIdentity meta, FileIdentity data, const PartTime& time)
{
    forget(meta.path());
    const Place place{time.index, time.number};
    Parts& parts = recordings_[time.recording];
    if (const auto other = parts.waiting.find(place); other != parts.waiting.end())
        forget(std::string(other->second.meta.path()));
    places_.insert_or_assign(meta.path(), std::pair(time.recording, place));
    bytes_ += data.size();
    parts.waiting.emplace(place, Part{std::move(meta), std::move(data), time.end_ns});
}

RetentionQueue::Recordings::iterator RetentionQueue::oldest()
{
    auto found = recordings_.end();
    for (auto one = recordings_.begin(); one != recordings_.end(); ++one)
        if (!one->second.waiting.empty() &&
            (found == recordings_.end() || one->second.oldest_ns() < found->second.oldest_ns()))
            found = one;
    return found;
}

std::optional<std::uint64_t> RetentionQueue::remove()
{
    const auto recording = oldest();
    if (recording == recordings_.end())
        return std::nullopt;
    const std::int64_t end_ns = recording->second.oldest_ns();
    if (!rule_.is_expired(bytes_, sys::realtime_ns() - end_ns) && end_ns >= removed_ns_)
        return std::nullopt;
    const Part part = recording->second.waiting.begin()->second;
    forget(part.meta.path());
    recording->second.removed_ns = end_ns;
    removed_ns_ = std::max(removed_ns_, end_ns);
    if (!part.meta.is_unchanged() || !part.data.is_unchanged())
        throw Error(Fault::storage, EBUSY, "remove", part.meta.path(),
                    "it has changed since it was stored", "push again");
    // The samples are removed first. If only the metadata remain, they are small, and the next push
    // removes them.
    sys::remove_file(part.data.path(), "--keep all leaves it in place");
    sys::remove_file(part.meta.path(), "--keep all leaves it in place");
    return part.data.size();
}

} // namespace iio_stream::archive
