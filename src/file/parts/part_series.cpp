// SPDX-License-Identifier: MIT
#include "file/parts/part_series.hpp"

#include "file/file_lock.hpp"
#include "file/journal/journal.hpp"
#include "file/sigmf/file_pair.hpp"
#include "iio_stream/error.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <optional>

namespace iio_stream::file {

namespace {

constexpr std::size_t kDigits = 4;

// The number of a part; nullopt if `part` is not the name of a part.
std::optional<std::size_t> number_of(const std::string& part)
{
    const std::filesystem::path stem = std::filesystem::path(part).stem();
    const std::string digits = stem.extension().string().substr(stem.has_extension() ? 1 : 0);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.size() < kDigits || error != std::errc{} || end != digits.data() + digits.size())
        return std::nullopt;
    return number;
}

} // namespace

std::string part_path(const std::string& path, std::size_t number)
{
    const std::filesystem::path whole(path);
    std::string digits = std::to_string(number);
    digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
    const std::string name = whole.stem().string() + "." + digits + whole.extension().string();
    return (whole.parent_path() / name).string();
}

std::string next_part_path(const std::string& part)
{
    const std::optional<std::size_t> number = number_of(part);
    return number ? part_path(series_path(part), *number + 1) : "";
}

std::string series_path(const std::string& part)
{
    if (!number_of(part))
        return "";
    const std::filesystem::path file(part);
    const std::string whole = file.stem().stem().string() + file.extension().string();
    return (file.parent_path() / whole).string();
}

std::vector<std::string> existing_parts(const std::string& path)
{
    const std::filesystem::path whole(path);
    const std::string before = whole.stem().string() + ".", after = whole.extension().string();
    const std::string folder = whole.parent_path().string();
    std::vector<std::string> found;
    for (const std::string& name : sys::list_directory(folder.empty() ? "." : folder)) {
        if (name.size() < before.size() + kDigits + after.size() || !name.starts_with(before) ||
            !name.ends_with(after))
            continue;
        const std::string digits =
            name.substr(before.size(), name.size() - before.size() - after.size());
        if (digits.find_first_not_of("0123456789") == std::string::npos)
            found.push_back((whole.parent_path() / name).string());
    }
    return found;
}

void PartSeries::refuse_existing() const
{
    for (const std::string& path : names_)
        if (const auto found = existing_parts(path); !found.empty())
            throw Error(Fault::storage, EEXIST, "open", found.front(), {},
                        "overwrite=on replaces it, and all other parts of " + path);
}

void PartSeries::find_stale(bool keeps)
{
    if (keeps)
        refuse_unknown();
    stale_ = own_parts();
    refuse_live();
}

// This recorder has the lock of the series. A part that is nevertheless locked is being read or
// recovered, or another recorder is writing a single file with that name.
void PartSeries::refuse_live() const
{
    const std::string& data = names_.back();
    for (std::size_t number = stale_.end; number-- > stale_.first;) {
        const std::string part = part_path(data, number);
        if (!sys::path_exists(part))
            continue;
        const sys::UniqueFd fd = sys::open_file(part, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
        if (!sys::lock_soon(fd.get(), sys::Lock::shared))
            throw busy_file(part, "it is being recorded, here or by another process");
    }
}

// Parts of a longer, earlier recording with the same name would seem to continue this one.
std::vector<std::string> PartSeries::remove_stale()
{
    std::vector<std::string> removed;
    const Numbers found = std::exchange(stale_, {});
    for (std::size_t number = std::max<std::size_t>(found.first, 1); number < found.end; ++number)
        for (const std::string& path : names_) {
            const std::string stale = part_path(path, number);
            if (!sys::path_exists(stale))
                continue;
            sys::remove_file(stale,
                             "it would seem to be a part of this recording; delete it, or record "
                             "to another name");
            sys::remove_file(journal_path(stale), kJournalStays);
            sys::release_publish(stale);
            removed.push_back(stale);
        }
    return removed;
}

void PartSeries::refuse_unknown() const
{
    const std::string& path = names_.front();
    if (has_sigmf_suffix(path) || sys::path_exists(part_path(path, 0)))
        return;
    if (const auto found = existing_parts(path); !found.empty())
        throw Error(Fault::storage, EEXIST, "open", found.front(),
                    "it may belong to an earlier recording of which keep= left the newest parts",
                    "delete all parts of " + path + ", or record to another name");
}

// SigMF metadata show by themselves whether iio-stream wrote them.
bool PartSeries::is_own(std::size_t number) const
{
    const auto is_there = [number](const std::string& path) {
        return std::filesystem::is_regular_file(
            std::filesystem::symlink_status(part_path(path, number)));
    };
    const std::string& first = names_.front();
    if (has_sigmf_suffix(first) && is_there(first))
        return sys::read_text(part_path(first, number)).value_or("").find("\"iio_stream:state\"") !=
               std::string::npos;
    return std::any_of(names_.begin(), names_.end(), is_there);
}

// The number of the earlier recording's first part. In a SigMF recording with keep=, the oldest
// parts are gone. The part before the first one with metadata may still have its data, if the
// recorder was killed while it was removing that part.
std::size_t PartSeries::first_own() const
{
    const std::string& path = names_.front();
    if (is_own(0) || !has_sigmf_suffix(path))
        return 0;
    std::optional<std::size_t> first;
    for (const std::string& part : existing_parts(path))
        if (const auto number = number_of(part); number && is_own(*number))
            first = std::min(*number, first.value_or(*number));
    if (!first)
        return 0;
    return is_own(*first - 1) ? *first - 1 : *first;
}

// The parts that an earlier recording left: the first one and its consecutive successors.
PartSeries::Numbers PartSeries::own_parts() const
{
    const std::size_t first = first_own();
    std::size_t end = first;
    while (is_own(end))
        ++end;
    return {first, end};
}

} // namespace iio_stream::file
