// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::file {

/// The two files of a SigMF recording.
struct Pair {
    std::string meta, data;
};

/// "x", "x.sigmf", "x.sigmf-meta" and "x.sigmf-data" all name the pair x.sigmf-meta, x.sigmf-data.
Pair pair_of(const std::string& path);

/// Whether the name has a SigMF suffix. (A name without any known suffix also stands for a
/// recording.)
bool has_sigmf_suffix(const std::string& path);

} // namespace iio_stream::file
