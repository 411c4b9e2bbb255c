// SPDX-License-Identifier: MIT
#include "iio_stream/recording.hpp"

#include "core/losses.hpp"
#include "file/journal.hpp"
#include "file/raw.hpp"
#include "file/sigmf/side_file.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/hash.hpp"
#include "file/sigmf/read_journal.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/names.hpp"
#include "sys/files.hpp"
#include "sys/holes.hpp"
#include "sys/stream_file.hpp"
#include "sys/whole_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace iio_stream {

namespace {

using namespace file;

// A recording's files, what its metadata say (if it has any), and what an interruption left.
struct Opened {
    std::string meta, data;
    Json metadata;
    std::vector<std::string> problems;
    Contents contents; ///< format alone for raw samples; nothing where there are problems
    std::optional<JournalContents> journal;
    std::uint64_t bytes = 0;

    Opened(const std::string& path, const std::string& format);
    std::size_t sample_bytes() const
    {
        const std::size_t said = journal ? journal->sample_bytes : 0;
        return std::max<std::size_t>(
            contents.format.channels.empty() ? said : contents.format.sample_bytes, 1);
    }
    // Only then the file may be longer than what was written.
    bool unfinished() const { return contents.state == State::recording; }
};

Opened::Opened(const std::string& path, const std::string& format)
{
    const NameSays says = what_name_says(path);
    const bool raw = says.kind != Kind::sigmf || (!format.empty() && !has_sigmf_suffix(path));
    data = raw ? path : pair_of(path).data;
    if (raw && !(format + says.format).empty())
        contents.format = Format::parse(format.empty() ? says.format : format);
    if (!raw) {
        meta = pair_of(path).meta;
        metadata = load_metadata(meta);
        problems = problems_of(metadata);
        if (problems.empty())
            contents = contents_of(metadata);
        if (!contents.dataset.empty())
            data = (std::filesystem::path(meta).parent_path() / contents.dataset).string();
    }
    // Interrupted between the making of the two files: an empty recording.
    if (unfinished() && !sys::path_exists(data))
        return;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY | O_NONBLOCK);
    if (!sys::is_regular(fd.get()))
        throw Error(Fault::storage, EINVAL, "read", data, "it is not a file");
    bytes = sys::file_size(fd.get(), data);
    journal = read_journal(data);
}

void count_gaps(const std::vector<Gap>& gaps, GapTotals& totals)
{
    for (const Gap& gap : gaps) {
        ++(gap.certain() ? totals.certain : totals.possible);
        totals.lost_min = detail::add_losses(totals.lost_min, gap.lost_min);
        totals.lost_max = detail::add_losses(totals.lost_max, gap.lost_max);
    }
}

// The metadata's places are places of the data file.
void check_places(const Opened& o, std::uint64_t samples, std::vector<std::string>& problems)
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
                                   " lies outside the " + std::to_string(samples) + " samples of " +
                                   o.data);
            ++i;
        }
    };
    check("captures", std::max<std::uint64_t>(samples, 1)); // an empty recording has its first
    check("annotations", kUnknown);
}

bool is_live(const Opened& o)
{
    if (!sys::path_exists(o.data))
        return false;
    const sys::UniqueFd fd = sys::open_file(o.data, O_RDONLY | O_NONBLOCK);
    if (!sys::lock_soon(fd.get(), sys::Lock::shared))
        return true;
    sys::unlock(fd.get());
    return false;
}

void check_sizes(const Opened& o, Recording& r)
{
    const std::size_t sample = o.sample_bytes();
    if (is_live(o)) {
        r.problems.push_back("it is being recorded");
        return;
    }
    if (o.journal || o.unfinished()) {
        r.needs_recover = true;
        r.problems.push_back("it was interrupted");
        return;
    }
    if (o.bytes % sample != 0)
        r.problems.push_back("the " + std::to_string(o.bytes) + " bytes of " + o.data +
                             " are not a whole number of samples of " + std::to_string(sample) +
                             " bytes");
    if (o.contents.samples && *o.contents.samples != o.bytes / sample) {
        r.needs_recover = true;
        r.problems.push_back("global: iio_stream:samples = " + std::to_string(*o.contents.samples) +
                             ", but " + o.data + " has " + std::to_string(o.bytes / sample));
    }
    if (!o.meta.empty())
        check_places(o, r.samples, r.problems);
}

void check_hash(Opened& o, bool add, Recording& r)
{
    const std::string& said = o.contents.sha512;
    if (!r.problems.empty()) {
        r.hash = said.empty() ? Hash::none : Hash::unchecked;
        return;
    }
    if (said.empty() && !add)
        return;
    const std::string found = *sha512_of_file(o.data);
    if (said.empty()) {
        o.metadata["global"]["core:sha512"] = found;
        sys::publish_file(o.meta, text_of(o.metadata), sys::Existing::replaced);
        r.hash = Hash::added;
        return;
    }
    const bool same = std::equal(said.begin(), said.end(), found.begin(), found.end(),
                                 [](char a, char b) { return std::tolower(a) == b; });
    r.hash = same ? Hash::good : Hash::bad;
    if (!same)
        r.problems.push_back("global: core:sha512 = " + said.substr(0, 16) + "…, but " + o.data +
                             " has " + found.substr(0, 16) + "…");
}

Error busy(const std::string& data, const std::string& by)
{
    return {Fault::storage, EBUSY, "recover", data, by, "when that has ended"};
}

void refuse_if_open(const std::string& data)
{
    const auto holders = sys::holders_of(std::filesystem::canonical(data).string());
    if (!holders.empty())
        throw busy(data, "process " + holders[0] + " has it open");
}

// Files changed here must be the recording's own, not ones its names have been made to point to.
void refuse_others(const Opened& o)
{
    if (!o.contents.dataset.empty())
        throw Error(Fault::storage, EINVAL, "recover", o.meta,
                    "core:dataset = " + o.contents.dataset + " was not made by iio-stream",
                    "rename that file and remove the key");
    for (const std::string& path : {o.meta, o.data, journal_path(o.data)})
        if (!path.empty() && std::filesystem::is_symlink(path))
            throw Error(Fault::storage, ELOOP, "recover", path, "it is a symbolic link",
                        "recover the file it points to");
}

// An interruption's losses and end, told by the metadata.
Json recovered_metadata(const Opened& o, std::uint64_t samples)
{
    Json metadata = o.metadata;
    Outcome outcome;
    outcome.state = State::recovered;
    outcome.samples = samples;
    outcome.end = "the recording was interrupted here, and recovered";
    // If the metadata already list losses, all were known: the recording was about to be closed.
    const bool untold = o.contents.losses.empty() && o.journal;
    outcome.losses = untold ? o.journal->losses : o.contents.losses;
    // After the journal's last mark the disk may have samples without the losses among them; and
    // some of those before it had not become known yet.
    const std::uint64_t marked =
        untold ? std::min(o.journal->bytes / o.sample_bytes(), o.journal->settled.value_or(samples))
               : samples;
    if (marked < samples && !o.journal->end)
        outcome.losses.push_back({{marked, samples, 0, kUnknown, Evidence::starvation}});
    if (metadata["captures"].empty())
        metadata["captures"].push_back({{"core:sample_start", 0}});
    outcome.first_index = o.contents.first_index;
    outcome.index_exact = o.contents.first_exact;
    if (o.journal && o.journal->first_index) {
        outcome.first_index = *o.journal->first_index;
        outcome.index_exact = o.journal->first_exact;
    } else if (o.journal && o.journal->part != 0 && o.contents.first_index == 0) {
        outcome.index_exact = false; // it continues other parts, and its place is unknown
    }
    if (o.journal)
        outcome.tunings = o.journal->tunings(settings_in(metadata));
    metadata["global"].erase("core:sha512"); // of another length
    conclude_again(metadata, outcome);
    return metadata;
}

/// The data file, open and locked: what is found in it stays.
sys::UniqueFd open_for_recovery(const Opened& o)
{
    if (o.unfinished() && !sys::path_exists(o.data))
        (void)sys::open_file(o.data, O_WRONLY | O_CREAT | O_EXCL, 0666);
    refuse_if_open(o.data);
    sys::UniqueFd fd = sys::open_file(o.data, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!sys::lock_soon(fd.get(), sys::Lock::exclusive))
        throw busy(o.data, "it is being recorded or read");
    return fd;
}

std::uint64_t valid_bytes_of(const Opened& o, int fd)
{
    if (!o.journal && !o.unfinished())
        return o.bytes - o.bytes % o.sample_bytes();
    sys::forget_pages(fd, o.data);
    const Holes holes = sys::reports_holes(o.data) ? Holes::reported : Holes::unknown;
    return valid_bytes(fd, o.data, o.journal, o.sample_bytes(), holes);
}

bool needs_recovery(const Opened& o)
{
    return o.journal || o.unfinished() || o.bytes % o.sample_bytes() != 0 ||
           (o.contents.samples && *o.contents.samples != o.bytes / o.sample_bytes());
}

} // namespace

Recording check_recording(const std::string& path, const std::string& format, bool add_hash)
try {
    Opened o(path, format);
    Recording r;
    r.metadata = o.meta;
    r.data = o.data;
    r.format = o.contents.format;
    r.first_index = o.contents.first_index;
    r.first_exact = o.contents.first_exact;
    r.bytes = o.bytes;
    r.samples = o.bytes / o.sample_bytes();
    r.problems = o.problems;
    if (!r.problems.empty())
        return r;
    if (add_hash && o.meta.empty())
        fail_usage("--add-hash " + path + ": raw samples have no metadata for it");
    count_gaps(o.contents.gaps, r.gaps);
    for (const Loss& loss : o.contents.losses)
        if (loss.kind == Loss::Kind::filled)
            r.zeros.push_back({loss.gap.offset_min, loss.gap.offset_max});
    check_sizes(o, r);
    check_hash(o, add_hash, r);
    return r;
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

// In this order: whenever it is interrupted itself, it can be done again.
Recovery recover_recording(const std::string& path, const std::string& format)
try {
    const Opened seen(path, format);
    if (!seen.problems.empty())
        throw Error(Fault::storage, EBADMSG, "recover", seen.meta, seen.problems[0],
                    "format=ci16_le recovers " + seen.data + " as raw samples");
    Recovery done;
    done.bytes = done.bytes_before = seen.bytes;
    done.samples = seen.bytes / seen.sample_bytes();
    done.needed = needs_recovery(seen);
    if (!done.needed)
        return done;
    refuse_others(seen);
    const sys::UniqueFd fd = open_for_recovery(seen);
    const Opened o(path, format); // no one changes it any more
    done.bytes_before = o.bytes;
    done.bytes = valid_bytes_of(o, fd.get());
    done.samples = done.bytes / o.sample_bytes();
    if (done.bytes != o.bytes) {
        done.tail = keep_tail(fd.get(), o.data, done.bytes);
        sys::truncate_file(fd.get(), o.data, done.bytes);
    }
    sys::sync_file(fd.get(), o.data);
    if (!o.meta.empty()) {
        done.backup = keep_backup(o.meta, *sys::read_whole(o.meta) + "\n");
        sys::publish_file(o.meta, text_of(recovered_metadata(o, done.samples)),
                          sys::Existing::replaced);
        sys::release_publish(o.meta); // which the recording had reserved
    }
    sys::remove_file(journal_path(o.data));
    return done;
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
