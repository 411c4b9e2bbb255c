// SPDX-License-Identifier: MIT
#include "iio_stream/recording.hpp"

#include "core/loss/losses.hpp"
#include "file/file_lock.hpp"
#include "file/file_names.hpp"
#include "file/recording_files.hpp"
#include "file/sha512/sha512.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <utility>

namespace iio_stream {

namespace {

using namespace file;

void count_gaps(const std::vector<Gap>& gaps, GapTotals& totals)
{
    for (const Gap& gap : gaps)
        detail::add_loss(totals, gap.lost_min, gap.lost_max);
}

// Reports captures and annotations that are outside the samples of the data file.
void check_places(const RecordingFiles& o, std::uint64_t samples,
                  std::vector<std::string>& problems)
{
    const std::uint64_t offset = o.metadata["global"].value("core:offset", std::uint64_t{0});
    const auto check = [&](const char* list, std::uint64_t beyond) {
        std::size_t i = 0;
        for (const Json& one : o.metadata[list]) {
            const auto start = one["core:sample_start"].get<std::uint64_t>();
            const auto end = start + one.value("core:sample_count", std::uint64_t{0});
            if (end - offset > samples || start - offset >= beyond)
                problems.push_back(std::string(list) + "[" + std::to_string(i) +
                                   "]: core:sample_start = " + std::to_string(start) +
                                   " is outside the " + std::to_string(samples) + " samples of " +
                                   o.data);
            ++i;
        }
    };
    // An empty recording may have a capture at sample 0.
    check("captures", std::max<std::uint64_t>(samples, 1));
    check("annotations", kUnknown);
}

/// Bounds of the losses that the annotations state between two samples of the file.
class LossBounds {
public:
    explicit LossBounds(const std::vector<Loss>& losses)
    {
        for (const Loss& loss : losses)
            if (loss.kind != Loss::Kind::filled)
                gaps_.push_back(loss.gap);
        std::ranges::stable_sort(gaps_, {}, &Gap::offset_max);
        earliest_.assign(gaps_.size() + 1, kUnknown);
        for (std::size_t i = gaps_.size(); i-- > 0;)
            earliest_[i] = std::min(earliest_[i + 1], gaps_[i].offset_min);
    }

    /// The least and the greatest number of samples that were lost after the sample at `begin` and
    /// before the sample at `end`.
    std::pair<std::uint64_t, std::uint64_t> between(std::uint64_t begin,
                                                    std::uint64_t end) const noexcept
    {
        std::uint64_t least = 0, most = 0;
        std::size_t i = first_after(begin);
        for (; i < gaps_.size() && gaps_[i].offset_max <= end; ++i) {
            // The losses of a gap that spans `begin` may be before it, but are counted here.
            least = detail::add_losses(least, gaps_[i].lost_min);
            most = detail::add_losses(most, gaps_[i].lost_max);
        }
        if (earliest_[i] <= end) // a gap that spans `end` may be before it
            most = kUnknown;
        return {least, most};
    }

private:
    std::size_t first_after(std::uint64_t place) const noexcept
    {
        const auto found = std::ranges::upper_bound(gaps_, place, {}, &Gap::offset_max);
        return static_cast<std::size_t>(found - gaps_.begin());
    }

    std::vector<Gap> gaps_;               ///< sorted by offset_max
    std::vector<std::uint64_t> earliest_; ///< for each gap, the least offset_min of it and of the
                                          ///< gaps after it
};

// Checks that the index of each capture exceeds its place in the file by the number of samples lost
// before it. Recordings by other programs are not checked, because their losses are derived from
// the jumps in the index.
void check_indexes(const RecordingFiles& o, std::vector<std::string>& problems)
{
    const Json& global = o.metadata["global"];
    if (!o.contents.state || global.value("core:offset", std::uint64_t{0}) != 0)
        return;
    const LossBounds losses(o.contents.losses);
    std::uint64_t place = 0, index = 0;
    std::size_t i = 0;
    for (const Json& capture : o.metadata["captures"]) {
        const auto start = capture["core:sample_start"].get<std::uint64_t>();
        const bool first = i == 0, stated = capture.contains("core:global_index");
        if (first || stated) {
            const std::uint64_t here =
                stated ? capture["core:global_index"].get<std::uint64_t>() : start;
            const std::uint64_t jump = here - index - (start - place);
            const auto [least, most] = losses.between(place, start);
            if (!first && (jump < least || jump > most))
                problems.push_back("captures[" + std::to_string(i) + "]: core:global_index = " +
                                   std::to_string(here) + " says that " + std::to_string(jump) +
                                   " samples were lost since sample " + std::to_string(place) +
                                   ", and the annotations say " + format_bounds(least, most));
            place = start;
            index = here;
        }
        ++i;
    }
}

void check_sizes(const RecordingFiles& o, Recording& r)
{
    const std::size_t sample = o.sample_bytes();
    if (is_being_recorded(o.data)) {
        r.problems.push_back("it is being recorded");
        return;
    }
    if (o.journal || o.unfinished()) {
        r.needs_recover = true;
        r.problems.push_back("it was interrupted");
        return;
    }
    const std::uint64_t bytes = o.sample_data_bytes();
    if (bytes % sample != 0)
        r.problems.push_back("the " + std::to_string(bytes) + " bytes of samples in " + o.data +
                             " are not a whole number of samples of " + std::to_string(sample) +
                             " bytes");
    if (o.contents.samples && *o.contents.samples != bytes / sample) {
        r.needs_recover = true;
        r.problems.push_back("global: iio_stream:samples = " + std::to_string(*o.contents.samples) +
                             ", but " + o.data + " has " + std::to_string(bytes / sample));
    }
    if (!o.meta.empty()) {
        check_places(o, r.samples, r.problems);
        if (r.problems.empty()) // a wrong place would make an index wrong as well
            check_indexes(o, r.problems);
    }
}

void check_hash(RecordingFiles& o, bool add, Recording& r)
{
    const std::string& said = o.contents.sha512;
    if (!r.problems.empty()) {
        r.hash = said.empty() ? Hash::none : Hash::unchecked;
        return;
    }
    if (said.empty() && !add)
        return;
    if (said.empty() && o.archived)
        fail_usage("--add-hash " + o.data + ": an archive is not changed",
                   "tar -xf " + o.data + " unpacks it");
    const std::string found = *sha512_of_file(o.data, -1, nullptr, {o.begin, o.begin + o.bytes});
    if (said.empty()) {
        o.metadata["global"]["core:sha512"] = found;
        sys::publish_file(o.meta, text_of(o.metadata), sys::Existing::replaced);
        r.hash = Hash::added;
        return;
    }
    const bool same = same_hash(found, said);
    r.hash = same ? Hash::good : Hash::bad;
    if (!same)
        r.problems.push_back("global: core:sha512 = " + said.substr(0, 16) + "…, but " + o.data +
                             " has " + found.substr(0, 16) + "…");
}

} // namespace

GapTotals Recording::losses() const noexcept
{
    GapTotals all = gaps;
    for (const Zeros& filled : zeros)
        detail::add_loss(all, filled.end - filled.begin, filled.end - filled.begin);
    return all;
}

Recording file::check_all_but_hash(const RecordingFiles& o)
{
    Recording r;
    r.metadata = o.meta;
    r.data = o.data;
    r.format = o.contents.format;
    r.state = o.contents.state ? name_of(*o.contents.state) : "";
    r.first_index = o.contents.first_index;
    r.first_exact = o.contents.first_exact;
    r.bytes = o.bytes;
    r.samples = o.sample_data_bytes() / o.sample_bytes();
    r.problems = o.problems;
    if (!r.problems.empty())
        return r;
    count_gaps(o.contents.gaps, r.gaps);
    for (const Loss& loss : o.contents.losses)
        if (loss.kind == Loss::Kind::filled)
            r.zeros.push_back({loss.gap.offset_min, loss.gap.offset_max});
    check_sizes(o, r);
    return r;
}

std::string format_of_suffix(const std::string& path)
{
    return file::format_from_suffix(path).format;
}

Recording check_recording(const std::string& path, const std::string& format, bool add_hash)
try {
    RecordingFiles o(path, format);
    if (add_hash && o.problems.empty() && o.meta.empty())
        fail_usage("--add-hash " + path + ": raw samples have no metadata for it");
    Recording r = check_all_but_hash(o);
    if (o.problems.empty())
        check_hash(o, add_hash, r);
    return r;
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
