// SPDX-License-Identifier: MIT
#include "archive/place.hpp"

#include "iio_stream/error.hpp"

#include <filesystem>
#include <string_view>

namespace iio_stream::archive {

Place place_of(const std::string& archive)
{
    constexpr std::string_view kScheme = "s3://";
    constexpr std::size_t kShortest = 3,
                          kLongest = 63; // docs.aws.amazon.com, "Bucket naming rules"
    if (!archive.starts_with(kScheme))
        fail_usage("'" + archive + "' is not the address of an archive",
                   "such as s3://BUCKET/PREFIX");
    const std::string rest = archive.substr(kScheme.size());
    Place place{rest.substr(0, rest.find('/')),
                rest.size() > rest.find('/') ? rest.substr(rest.find('/') + 1) : ""};
    const bool named = place.bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") ==
                       std::string::npos;
    if (!named || place.bucket.size() < kShortest || place.bucket.size() > kLongest)
        fail_usage("'" + place.bucket + "' is no name of a bucket",
                   "3 to 63 small letters, digits, dots and hyphens: s3://BUCKET/PREFIX");
    for (const std::filesystem::path& name : std::filesystem::path(place.prefix))
        if (name == "." || name == "..")
            fail_usage("the archive " + archive + " has a '" + name.string() + "' in its prefix",
                       "name it in full");
    while (place.prefix.ends_with('/'))
        place.prefix.pop_back();
    if (!place.prefix.empty())
        place.prefix += '/';
    return place;
}

} // namespace iio_stream::archive
