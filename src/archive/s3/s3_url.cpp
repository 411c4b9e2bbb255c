// SPDX-License-Identifier: MIT
#include "archive/s3/s3_url.hpp"

#include "iio_stream/error.hpp"

#include <filesystem>
#include <string_view>

namespace iio_stream::archive {

S3Url parse_s3_url(const std::string& archive)
{
    constexpr std::string_view kScheme = "s3://";
    constexpr std::size_t kShortest = 3,
                          kLongest = 63; // docs.aws.amazon.com, "Bucket naming rules"
    if (!archive.starts_with(kScheme))
        fail_usage("'" + archive + "' is not the address of an archive",
                   "such as s3://BUCKET/PREFIX");
    const std::string rest = archive.substr(kScheme.size());
    S3Url url{rest.substr(0, rest.find('/')),
              rest.size() > rest.find('/') ? rest.substr(rest.find('/') + 1) : ""};
    const bool named =
        url.bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
    if (!named || url.bucket.size() < kShortest || url.bucket.size() > kLongest)
        fail_usage("invalid bucket name '" + url.bucket + "'",
                   "3 to 63 lowercase letters, digits, dots and hyphens: s3://BUCKET/PREFIX");
    for (const std::filesystem::path& name : std::filesystem::path(url.prefix))
        if (name == "." || name == "..")
            fail_usage("the archive " + archive + " has a '" + name.string() + "' in its prefix",
                       "write the prefix without it");
    while (url.prefix.ends_with('/'))
        url.prefix.pop_back();
    if (!url.prefix.empty())
        url.prefix += '/';
    return url;
}

} // namespace iio_stream::archive
