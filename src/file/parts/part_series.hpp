// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::file {

/// "dir/x.0007.ci16" is part number 7 of "dir/x.ci16": names sort by number, up to 9999.
std::string part_path(const std::string& path, std::size_t number);

/// The name of the part after the one of that name, or "" if it is not the name of a part.
std::string next_part_path(const std::string& part);

/// Files named like parts of `path`, sorted; their names do not say whose they are.
std::vector<std::string> existing_parts(const std::string& path);

/// A recording in parts by the names of its files, and what the disk has under such names.
class PartSeries {
public:
    /// Names without numbers: of the metadata, if any, and the data.
    explicit PartSeries(std::vector<std::string> names) : names_(std::move(names)) {}

    /// Throws a storage Error if files are named like parts of it.
    void refuse_existing() const;
    /// The same if a part of it is being recorded.
    void refuse_live() const;
    /// Deletes the parts from number 1 on that an earlier recording left. Returns the deleted
    /// files; throws if one cannot be deleted.
    std::vector<std::string> remove_stale() const;

private:
    std::size_t own_parts() const;

    std::vector<std::string> names_;
};

} // namespace iio_stream::file
