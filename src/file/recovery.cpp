// SPDX-License-Identifier: MIT
#include "file/journal/journal.hpp"
#include "file/parts/part_series.hpp"
#include "file/parts/series_lock.hpp"
#include "file/recording_files.hpp"
#include "file/side_file.hpp"
#include "file/sigmf/metadata_merge.hpp"
#include "file/wav/output_header.hpp"
#include "iio_stream/recording.hpp"
#include "sys/disk/holes.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace iio_stream {

namespace {

using namespace file;

Error busy(const std::string& data, const std::string& by)
{
    return {Fault::storage, EBUSY, "recover", data, by, "try again when that has ended"};
}

void refuse_if_open(const std::string& data)
{
    const auto holders = sys::holders_of(std::filesystem::canonical(data).string());
    if (!holders.empty())
        throw busy(data, "process " + holders[0] + " has it open");
}

// Files changed here must be the recording's own, not ones its names have been made to point to.
void refuse_others(const RecordingFiles& o)
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

// An interruption's losses and end, as the metadata state them.
Json recovered_metadata(const RecordingFiles& o, std::uint64_t samples)
{
    Json metadata = o.metadata;
    file::Outcome outcome; // not iio_stream::Outcome, a reader's
    outcome.state = State::recovered;
    outcome.samples = samples;
    outcome.end = "the recording was interrupted here, and recovered";
    // If the metadata already list losses, all were known: the recording was about to be closed.
    const bool from_journal = o.contents.losses.empty() && o.journal;
    outcome.losses = from_journal ? o.journal->losses : o.contents.losses;
    // After the journal's last mark the disk may have samples without the losses among them; and
    // some of those before it had not become known yet.
    std::uint64_t marked = samples;
    if (from_journal && !o.journal->end)
        marked = std::min(o.journal->bytes / o.sample_bytes(),
                          o.journal->losses_final.value_or(samples));
    else if (!o.journal && o.unfinished()) // it went astray, and with it what it knew
        marked = 0;
    if (marked < samples)
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
    merge_into_edited(metadata, outcome);
    return metadata;
}

/// The data file, open and locked: what is found in it stays.
sys::UniqueFd open_for_recovery(const RecordingFiles& o)
{
    if (o.unfinished() && !sys::path_exists(o.data))
        (void)sys::open_file(o.data, O_WRONLY | O_CREAT | O_EXCL, 0666);
    refuse_if_open(o.data);
    sys::UniqueFd fd = sys::open_file(o.data, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!sys::lock_soon(fd.get(), sys::Lock::exclusive))
        throw busy(o.data, "it is being recorded or read");
    if (!sys::has_name(fd.get(), o.data))
        throw busy(o.data, "another program has replaced it");
    // After the lock: a recorder looks for it when it has that of the series.
    if (const std::string series = series_path(o.data); !series.empty() && is_series_locked(series))
        throw busy(o.data, "a recording in parts of this name is being recorded");
    return fd;
}

std::uint64_t valid_bytes_on_disk(int fd, const std::string& data,
                                  const std::optional<JournalContents>& journal,
                                  std::size_t sample_bytes)
{
    sys::forget_pages(fd, data);
    const Holes holes = sys::reports_holes(data) ? Holes::reported : Holes::unknown;
    return valid_bytes(fd, data, journal, sample_bytes, holes);
}

std::uint64_t valid_bytes_of(const RecordingFiles& o, int fd)
{
    if (!o.journal && o.unsized_bytes)
        return o.begin + o.bytes;      // these are whole samples
    if (!o.journal && !o.unfinished()) // what follows its samples is no one's that we know
        return std::min(o.bytes / o.sample_bytes(), o.contents.samples.value_or(kUnknown)) *
               o.sample_bytes();
    return valid_bytes_on_disk(fd, o.data, o.journal, o.sample_bytes());
}

// Of the parts after it, one that was only made ready has no samples.
bool has_later_samples(const RecordingFiles& o)
{
    for (std::string part = next_part_path(o.data); !part.empty() && sys::path_exists(part);
         part = next_part_path(part)) {
        const sys::UniqueFd fd = sys::open_file(part, O_RDONLY | O_NONBLOCK);
        if (sys::is_regular(fd.get()) &&
            valid_bytes_on_disk(fd.get(), part, read_journal(part), o.sample_bytes()) > o.begin)
            return true;
    }
    return false;
}

// The journals say how many samples the file was given, its own one if it was about to be closed,
// and that of the next part. The disk may have stored less, and yet more of what came later.
void find_missing(const RecordingFiles& o, Recovery& done)
{
    if (!o.journal && !o.unfinished())
        return;
    std::optional<std::uint64_t> given;
    if (o.journal && o.journal->end)
        given = (*o.journal->end - std::min(o.begin, *o.journal->end)) / o.sample_bytes();
    const bool is_followed = has_later_samples(o);
    const std::string next = next_part_path(o.data);
    if (const auto journal = is_followed ? read_journal(next) : std::nullopt;
        journal && journal->bytes_before != 0)
        given = std::max(given.value_or(0), journal->bytes_before / o.sample_bytes());
    if (given)
        done.missing = *given - std::min(*given, done.samples);
    else if (is_followed)
        done.missing = kUnknown;
    if (is_followed && done.missing != 0)
        done.next_part = next;
}

// A killed recorder may also have left its lock, and new metadata of the next part, which never got
// their name.
void clear_unpublished(const RecordingFiles& o)
{
    if (const std::string series = series_path(o.data); !series.empty())
        clear_series_lock(series);
    if (o.meta.empty() || o.archived)
        return;
    sys::clear_publish(o.meta);
    if (const std::string next = next_part_path(o.meta); !next.empty() && !sys::path_exists(next))
        sys::clear_publish(next);
}

bool needs_recovery(const RecordingFiles& o)
{
    if (!o.contents.layout.is_plain()) // no recording of ours has headers
        return false;
    return o.journal || o.unfinished() || o.unsized_bytes || o.bytes % o.sample_bytes() != 0 ||
           (o.contents.samples && *o.contents.samples != o.bytes / o.sample_bytes());
}

} // namespace

// In this order: whenever it is interrupted itself, it can be done again.
Recovery recover_recording(const std::string& path, const std::string& format)
try {
    const RecordingFiles unlocked(path, format);
    if (!unlocked.problems.empty())
        throw Error(Fault::storage, EBADMSG, "recover", unlocked.meta, unlocked.problems[0],
                    "format=ci16_le recovers " + unlocked.data + " as raw samples");
    Recovery done;
    done.bytes = done.bytes_before = unlocked.bytes;
    done.samples = unlocked.bytes / unlocked.sample_bytes();
    done.needed = needs_recovery(unlocked);
    if (!done.needed) {
        clear_unpublished(unlocked);
        return done;
    }
    if (unlocked.archived)
        throw Error(Fault::storage, EINVAL, "recover", path, "an archive is not changed",
                    "unpack it (tar -xf " + path + ") and recover that recording");
    refuse_others(unlocked);
    const sys::UniqueFd fd = open_for_recovery(unlocked);
    const RecordingFiles o(path, format); // no one changes it any more
    // Its recorder may have finished it before the lock.
    if (o.problems.empty() && !needs_recovery(o)) {
        done.needed = false;
        done.bytes = done.bytes_before = o.bytes;
        done.samples = o.bytes / o.sample_bytes();
        return done;
    }
    done.bytes_before = o.unsized_bytes.value_or(o.bytes);
    done.bytes = valid_bytes_of(o, fd.get());
    done.samples = (done.bytes - std::min(o.begin, done.bytes)) / o.sample_bytes();
    find_missing(o, done);
    if (done.bytes != done.bytes_before) {
        done.tail = keep_tail(fd.get(), o.data, done.bytes);
        sys::truncate_file(fd.get(), o.data, done.bytes);
    }
    if (o.begin != 0)
        set_wav_length(fd.get(), o.data, done.bytes);
    sys::sync_file(fd.get(), o.data);
    if (!o.meta.empty()) {
        done.backup = keep_backup(o.meta, *sys::read_whole(o.meta));
        sys::publish_file(o.meta, text_of(recovered_metadata(o, done.samples)),
                          sys::Existing::replaced);
    }
    clear_unpublished(o);
    sys::remove_file(journal_path(o.data), kJournalStays);
    return done;
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
