// SPDX-License-Identifier: MIT
#include "archive/contents.hpp"

#include <utility>

namespace iio_stream {

ArchiveListing list_archive(const ArchiveConfig& config, const std::function<bool()>& go_on)
{
    return archive::guarded(config, "list", [&] {
        archive::Contents found = archive::contents_of(config, go_on);
        ArchiveListing made;
        made.unfinished = std::move(found.unfinished);
        made.damaged = std::move(found.damaged);
        for (const archive::Series& one : found.recordings)
            made.recordings.push_back(one.summary());
        return made;
    });
}

} // namespace iio_stream
