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
    return {Fault::storage, EBUSY, "recover", data, by, "try again later"};
}

void refuse_if_open(const std::string& data)
{
    const auto holders = sys::holders_of(std::filesystem::canonical(data).string());
    if (!holders.empty())
        throw busy(data, "process " + holders[0] + " has it open");
}

// Recovery changes only the recording's own files, not files that their names link to.
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

// The metadata of an interrupted recording, with its losses and its end.
Json recovered_metadata(const RecordingFiles& o, std::uint64_t samples)
{
    Json metadata = o.metadata;
    file::Outcome outcome; // not iio_stream::Outcome, which is for a Reader
    outcome.state = State::recovered;
    outcome.samples = samples;
    outcome.end = "the recording was interrupted here, and recovered";
    // If the metadata already list losses, they list all of them: the recording was about to be
    // closed.
    const bool from_journal = o.contents.losses.empty() && o.journal;
    outcome.losses = from_journal ? o.journal->losses : o.contents.losses;
    // After the journal's last entry, the disk may hold samples whose losses were not recorded.
    // Some losses before that entry may not have been known yet.
    std::uint64_t marked = samples;
    if (from_journal && !o.journal->end)
        marked = std::min(o.journal->bytes / o.sample_bytes(),
                          o.journal->losses_final.value_or(samples));
    else if (!o.journal && o.unfinished()) // the list of losses was lost with the journal
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
        outcome.index_exact = false; // a later part whose place in the stream is unknown
    }
    if (o.journal)
        outcome.tunings = o.journal->tunings(settings_in(metadata));
    metadata["global"].erase("core:sha512"); // it covers data of a different length
    merge_into_edited(metadata, outcome);
    return metadata;
}

/// Opens and locks the data file, so that its content no longer changes.
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
    // This test must follow the lock. A recorder locks the series first and then tests the lock of
    // the file, so at least one of the two programs notices the other.
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
        return o.begin + o.bytes;      // whole samples
    if (!o.journal && !o.unfinished()) // the origin of the bytes after its samples is unknown
        return std::min(o.bytes / o.sample_bytes(), o.contents.samples.value_or(kUnknown)) *
               o.sample_bytes();
    return valid_bytes_on_disk(fd, o.data, o.journal, o.sample_bytes());
}

// Whether a later part has samples. A part that was only prepared has none.
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

// Two journals state how many samples were submitted to the file: its own journal, if the file was
// about to be closed, and the journal of the next part. The disk may have lost some of these
// samples although it has stored samples of a later part.
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

// Removes the next part if a recorder was killed while it prepared that part: its data file is
// empty and has no metadata. A recorder locks the series before it creates files, so a file that is
// locked here while the series is not locked belongs to no recorder.
void remove_prepared_part(const std::string& data, const std::string& meta,
                          const std::string& series)
{
    if (data.empty() || sys::path_exists(meta) || !sys::path_exists(data) ||
        std::filesystem::is_symlink(data) ||
        !sys::holders_of(std::filesystem::canonical(data).string()).empty())
        return;
    const sys::UniqueFd fd = sys::open_file(data, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!sys::is_regular(fd.get()) || sys::file_size(fd.get(), data) != 0 ||
        !sys::lock_soon(fd.get(), sys::Lock::exclusive) || !sys::has_name(fd.get(), data) ||
        is_series_locked(series))
        return;
    sys::try_remove_file(journal_path(data));
    sys::try_remove_file(data);
}

// A recorder that was killed may have left its lock. It may also have left metadata files of this
// part and of the next part that do not have their final names yet, and a next part without
// samples.
void clear_unpublished(const RecordingFiles& o)
{
    if (const std::string series = series_path(o.data); !series.empty()) {
        clear_series_lock(series);
        if (!o.meta.empty() && !o.archived)
            remove_prepared_part(next_part_path(o.data), next_part_path(o.meta), series);
    }
    if (o.meta.empty() || o.archived)
        return;
    sys::clear_publish(o.meta);
    if (const std::string next = next_part_path(o.meta); !next.empty() && !sys::path_exists(next))
        sys::clear_publish(next);
}

bool needs_recovery(const RecordingFiles& o)
{
    if (!o.contents.layout.is_plain()) // recordings of iio-stream have no headers
        return false;
    return o.journal || o.unfinished() || o.unsized_bytes || o.bytes % o.sample_bytes() != 0 ||
           (o.contents.samples && *o.contents.samples != o.bytes / o.sample_bytes());
}

} // namespace

// The order of these steps matters: if the recovery is interrupted at any point, it can be
// repeated.
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
    const RecordingFiles o(path, format); // locked, so that it no longer changes
    // The recorder may have finished the recording before the lock was taken.
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
