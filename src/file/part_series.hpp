// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::file {

/// "dir/x.0007.ci16" is part number 7 of "dir/x.ci16": names sort by number, up to 9999.
std::string part_path(const std::string& path, std::size_t number);

/// Files named like parts of `path`, sorted; their names do not say whose they are.
std::vector<std::string> existing_parts(const std::string& path);

/// The names that the files of a recording in parts are made of, and what lies there under them.
class PartSeries {
public:
    /// Without numbers: the metadata's, if it has any, and the data file's.
    explicit PartSeries(std::vector<std::string> names) : names_(std::move(names)) {}

    /// Throws a storage Error where files are named as parts of it.
    void refuse_existing() const;
    /// The same where such a recording is under way.
    void refuse_live() const;
    /// Takes away what a longer recording has left behind the first part. Returns the files that
    /// are gone.
    std::vector<std::string> remove_stale() const noexcept;

private:
    std::size_t own_parts() const;

    std::vector<std::string> names_;
};

} // namespace iio_stream::file
