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

/// The name without its number of a part, or "" if it is not the name of a part.
std::string series_path(const std::string& part);

/// Files named like parts of `path`, sorted; their names do not say whose they are.
std::vector<std::string> existing_parts(const std::string& path);

/// A recording in parts by the names of its files, and what the disk has under such names.
class PartSeries {
public:
    /// Names without numbers: of the metadata, if any, and the data.
    explicit PartSeries(std::vector<std::string> names) : names_(std::move(names)) {}

    /// The name of its data files without their number.
    const std::string& data() const noexcept { return names_.back(); }
    /// Throws a storage Error if files are named like parts of it.
    void refuse_existing() const;
    /// For overwrite=on, before the first file is made: finds the parts that an earlier recording
    /// left. Throws a storage Error if one of them is being recorded. `keeps`: with keep=, also if
    /// there are raw parts without number 0. An earlier such recording may have removed that one,
    /// but nothing shows whose the parts are.
    void find_stale(bool keeps);
    /// Deletes the parts that find_stale() has found, from number 1 on. Returns the deleted files;
    /// throws if one cannot be deleted.
    std::vector<std::string> remove_stale();

private:
    struct Numbers {
        std::size_t first = 0, end = 0;
    };

    void refuse_unknown() const;
    void refuse_live() const;
    bool is_own(std::size_t number) const;
    std::size_t first_own() const;
    Numbers own_parts() const;

    std::vector<std::string> names_;
    Numbers stale_;
};

} // namespace iio_stream::file
