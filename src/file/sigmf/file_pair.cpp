// SPDX-License-Identifier: MIT
#include "file/sigmf/file_pair.hpp"

#include <array>

namespace iio_stream::file {

namespace {

constexpr std::array kPairSuffixes{".sigmf-meta", ".sigmf-data", ".sigmf"};

} // namespace

Pair pair_of(const std::string& path)
{
    std::string base = path;
    for (const std::string suffix : kPairSuffixes)
        if (path.ends_with(suffix)) {
            base.resize(base.size() - suffix.size());
            break;
        }
    return {base + ".sigmf-meta", base + ".sigmf-data"};
}

bool has_sigmf_suffix(const std::string& path)
{
    for (const std::string suffix : kPairSuffixes)
        if (path.ends_with(suffix))
            return true;
    return false;
}

} // namespace iio_stream::file
