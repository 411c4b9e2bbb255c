// SPDX-License-Identifier: MIT
#include "archive/store.hpp"

#include "archive/folder.hpp"
#include "iio_stream/error.hpp"

namespace iio_stream::archive {

std::unique_ptr<Store> open_store(const std::string& place, std::chrono::nanoseconds retry,
                                  GoOn go_on)
{
    constexpr std::string_view kFile = "file://";
    if (place.starts_with("s3:"))
        return open_bucket(place, retry, std::move(go_on));
    const std::string folder = place.starts_with(kFile) ? place.substr(kFile.size()) : place;
    const bool whole = folder.size() == place.size() ? place.find("://") == std::string::npos
                                                     : folder.starts_with('/');
    if (folder.empty() || !whole)
        fail_usage("'" + place + "' is not the address of an archive",
                   "a folder, file:///FOLDER or s3://BUCKET/PREFIX");
    return std::make_unique<Folder>(folder, std::move(go_on));
}

} // namespace iio_stream::archive
