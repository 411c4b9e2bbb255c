// SPDX-License-Identifier: MIT
#include "file/journal.hpp"
#include "file/opened.hpp"
#include "file/sigmf/side_file.hpp"
#include "iio_stream/recording.hpp"
#include "sys/files.hpp"
#include "sys/holes.hpp"
#include "sys/stream_file.hpp"
#include "sys/whole_file.hpp"

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

// An interruption's losses and end, as the metadata state them.
Json recovered_metadata(const Opened& o, std::uint64_t samples)
{
    Json metadata = o.metadata;
    file::Outcome outcome; // not iio_stream::Outcome, a reader's
    outcome.state = State::recovered;
    outcome.samples = samples;
    outcome.end = "the recording was interrupted here, and recovered";
    // If the metadata already list losses, all were known: the recording was about to be closed.
    const bool untold = o.contents.losses.empty() && o.journal;
    outcome.losses = untold ? o.journal->losses : o.contents.losses;
    // After the journal's last mark the disk may have samples without the losses among them; and
    // some of those before it had not become known yet.
    std::uint64_t marked = samples;
    if (untold && !o.journal->end)
        marked =
            std::min(o.journal->bytes / o.sample_bytes(), o.journal->settled.value_or(samples));
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
    if (!o.journal && !o.unfinished()) // what follows its samples is no one's that we know
        return std::min(o.bytes / o.sample_bytes(), o.contents.samples.value_or(kUnknown)) *
               o.sample_bytes();
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
    if (!done.needed) {
        if (!seen.meta.empty())
            sys::clear_publish(seen.meta);
        return done;
    }
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
        done.backup = keep_backup(o.meta, *sys::read_whole(o.meta));
        sys::publish_file(o.meta, text_of(recovered_metadata(o, done.samples)),
                          sys::Existing::replaced);
        sys::release_publish(o.meta); // which the recording had reserved
    }
    sys::remove_file(journal_path(o.data), kJournalStays);
    return done;
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
