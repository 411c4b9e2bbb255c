// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::file {

/// "dir/x.0007.ci16" is part number 7 of "dir/x.ci16". The names sort by number, up to 9999.
std::string part_path(const std::string& path, std::size_t number);

/// The name of the part after `part`, or "" if `part` is not the name of a part.
std::string next_part_path(const std::string& part);

/// The name of a part without its number, or "" if `part` is not the name of a part.
std::string series_path(const std::string& part);

/// Files that are named like parts of `path`, sorted. The names do not show which recording the
/// files belong to.
std::vector<std::string> existing_parts(const std::string& path);

/// The file names of a recording in parts, and the files on the disk that have such names.
class PartSeries {
public:
    /// `names`: the names, without numbers, of the metadata files (if any) and of the data files.
    explicit PartSeries(std::vector<std::string> names) : names_(std::move(names)) {}

    /// The name of the data files without a number.
    const std::string& data() const noexcept { return names_.back(); }
    /// Throws a storage Error if there are files that are named like parts of the recording.
    void refuse_existing() const;
    /// For overwrite=on, before the first file is created: finds the parts that an earlier
    /// recording left. Throws a storage Error if one of them is being recorded. `keeps`: whether
    /// the recording has keep=. If so, the function also throws if there are raw parts, but none
    /// with number 0. An earlier recording with keep= may have removed part 0, but nothing shows
    /// which recording the parts belong to.
    void find_stale(bool keeps);
    /// Deletes the parts that find_stale() found, from number 1 on. Returns the deleted files.
    /// Throws if a file cannot be deleted.
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
