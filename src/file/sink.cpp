// SPDX-License-Identifier: MIT
#include "file/sink.hpp"

#include "core/sizing.hpp"
#include "core/text.hpp"
#include "file/part_series.hpp"
#include "file/raw.hpp"
#include "file/room.hpp"
#include "file/sigmf/datatype.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::file {

namespace {

constexpr std::uint64_t kSmallestAhead = 64 << 20, kLargestAhead = 1 << 30;

} // namespace

const Way& FileSink::way() const
{
    if (!way_)
        way_ = choose_way(settings_, settings_.path, Use::write);
    return *way_;
}

std::optional<Hop> FileSink::plan(const MemoryTraits& traits, std::string&) const
{
    Hop hop;
    hop.cpu = true;
    hop.copies = 1;
    hop.reason = way().reason;
    hop.mechanism = way().mechanism();
    if (way().engine == Engine::buffered)
        return hop;
    if (const std::string why = way().why_staged(traits, Use::write); why.empty())
        hop.copies = 0;
    else
        detail::add_clause(hop.reason, why + ": one copy into staging buffers");
    return hop;
}

std::unique_ptr<FileSink> FileSink::another(std::size_t number) const
{
    SinkSettings settings = settings_;
    settings.number = number;
    settings.path = part_path(settings.series, number);
    auto part = std::make_unique<FileSink>(std::move(settings));
    part->way_ = way_;
    return part;
}

bool FileSink::may_block() const noexcept
{
    return output_ == nullptr || output_->may_block() || settings_.sync_at_end;
}

// A name that says which values are in the file is a promise to its readers.
void FileSink::refuse_other_samples(const Format& format) const
{
    const std::string found = contradicted(settings_.path, format);
    const std::string says = what_name_says(settings_.path).format;
    if (!found.empty())
        fail_usage(settings_.path + ": the name says " + says + ", but the samples are " + found,
                   "convert=" + says +
                       " converts them; another name (.bin) takes them as they are");
}

bool FileSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    refuse_other_samples(stream.format);
    sample_bytes_ = stream.format.sample_bytes;
    output_.reset();
    given_ = 0;
    stored_.reset();
    if (!fd_.valid()) // prepared again because another endpoint was refused: the file is already
                      // ours
        open(stream.timeout_ns);
    if (regular_ && created_ && settings_.series.empty())
        check_room(settings_.path, stream.total_bytes);
    if (!journal_ && regular_ && (way().engine != Engine::buffered || settings_.journal))
        journal_.emplace(journal_path(settings_.path), sample_bytes_, settings_.number,
                         way().engine != Engine::buffered && settings_.preallocate != 0);
    const OpenFile file{fd_.get(), settings_.path};
    if (way().engine == Engine::buffered) {
        output_ = make_buffered_output(file, cancel, settings_.sync_every);
        return true;
    }
    auto direct =
        std::make_unique<DirectOutput>(file, direct_settings(stream, pool), stream, pool, cancel);
    why = direct->remark();
    output_ = std::move(direct);
    return true;
}

DirectSettings FileSink::direct_settings(const StreamInfo& stream, const BlockPool& pool) const
{
    DirectSettings direct;
    direct.io = way().io;
    direct.engine = way().engine;
    direct.staged = !way().why_staged(pool.traits(), Use::write).empty();
    direct.depth = settings_.depth_for(
        direct.staged ? write_stage_bytes(stream.block_size, direct.io.offset_align)
                      : stream.block_size,
        pool.count() * stream.block_size);
    direct.sync_every = settings_.sync_every;
    direct.expected = stream.total_bytes;
    direct.ahead = std::clamp<std::uint64_t>(4 * direct.depth * stream.block_size, kSmallestAhead,
                                             kLargestAhead);
    if (stream.total_bytes != 0) // no more than needed
        direct.ahead = std::min<std::uint64_t>(
            direct.ahead, detail::round_up(stream.total_bytes, stream.block_size));
    // Others write to the disk too, and so does the journal.
    if (const std::uint64_t free = sys::free_space(settings_.path); direct.ahead > free / 4)
        direct.ahead = std::max<std::uint64_t>(free / 4, 2 * stream.block_size);
    if (settings_.preallocate)
        direct.ahead = *settings_.preallocate == 0
                           ? 0
                           : std::max<std::uint64_t>(*settings_.preallocate,
                                                     2 * direct.depth * stream.block_size);
    return direct;
}

void FileSink::open(std::int64_t timeout_ns)
{
    const std::string& path = settings_.path;
    const int direct = way().engine == Engine::buffered ? 0 : O_DIRECT;
    if (path == "-")
        fd_ = sys::own_standard_stream(1);
    else if (sys::is_special(path))
        fd_ = sys::open_for_writing(path, sys::after(timeout_ns));
    else
        create(O_WRONLY | O_CREAT | direct);
    regular_ = sys::is_regular(fd_.get());
    if (!regular_)
        sys::widen_pipe(fd_.get());
}

void FileSink::create(int flags)
{
    const std::string& path = settings_.path;
    bool ours = false;
    try {
        fd_ = sys::open_file(path, flags | (settings_.overwrite ? 0 : O_EXCL), 0666);
        lock();
        ours = !settings_.overwrite;
        // An interrupted recording of that name may have left a journal: it would cut this file.
        sys::remove_file(journal_path(path), kJournalStays);
        if (settings_.overwrite)
            sys::truncate_file(fd_.get(), path, 0);
        created_ = true;
    } catch (const Error& error) {
        if (ours)
            sys::try_remove_file(path);
        fd_.reset();
        if (error.code().value() != EEXIST)
            throw;
        if (sys::is_directory(path))
            throw Error(Fault::storage, EISDIR, "open", path);
        throw Error(Fault::storage, EEXIST, "open", path, {}, "overwrite=on replaces it");
    }
}

// Locks the file itself, under any name: before anything in it is changed.
void FileSink::lock()
{
    if (!sys::lock_soon(fd_.get(), sys::Lock::exclusive))
        throw Error(Fault::storage, EBUSY, "open", settings_.path,
                    "it is being recorded or read, here or by another process",
                    "record to another name, or wait until that ends");
}

void FileSink::tell(const Loss& loss) noexcept
{
    if (journal_)
        journal_->loss(loss);
}

void FileSink::tell_settled(std::uint64_t samples) noexcept
{
    if (journal_)
        journal_->settle(samples);
}

void FileSink::submit(Block filled)
{
    given_.store(given_.load(std::memory_order_relaxed) + filled.bytes(),
                 std::memory_order_relaxed);
    output_->submit(std::move(filled));
    if (journal_)
        journal_->note(output_->valid());
}

std::uint64_t FileSink::room() const noexcept
{
    return created_ ? room_of(settings_.path, given_.load(std::memory_order_relaxed)) : kUnknown;
}

void FileSink::service()
{
    if (!output_)
        return;
    output_->service();
    if (journal_)
        journal_->note(output_->valid());
}

void FileSink::close(Stop how)
{
    if (!fd_.valid())
        return;
    std::optional<Error> failure;
    // The last write may be padded for the disk, and this program killed after it. Without padding,
    // this write of the journal is saved, which a slow disk would delay.
    constexpr std::uint64_t kLargestSector = 4096;
    if (journal_ && output_ && how == Stop::drain && way().engine != Engine::buffered &&
        given_ % kLargestSector != 0)
        journal_->end_at(given_);
    try {
        if (output_)
            output_->finish(how);
    } catch (const Error& error) {
        failure = error;
    }
    const bool unfinished = failure && failure->code().value() == ETIMEDOUT;
    try {
        // A file still being written to cannot be cut: the journal says what is valid.
        if (!unfinished)
            end_file(how);
        close_file(failure ? Stop::abort : how);
    } catch (const Error& error) {
        if (!failure)
            failure = error;
    }
    whole_ = !unfinished && output_ && output_->valid() == given_;
    stored_ = output_ ? output_->valid() : 0;
    output_.reset();
    journal_.reset();
    if (failure)
        throw Error(*failure);
}

void FileSink::end_file(Stop how)
{
    if (way().engine == Engine::buffered) {
        keep_whole_samples();
    } else {
        const std::uint64_t valid = output_ ? output_->valid() : 0;
        sys::truncate_file(fd_.get(), settings_.path, valid / sample_bytes_ * sample_bytes_);
    }
    // A stream that failed before it began leaves nothing behind that the next one would collide
    // with.
    if (how == Stop::abort && created_ && (!output_ || output_->valid() == 0))
        sys::try_remove_file(settings_.path);
    if (how == Stop::drain && settings_.sync_at_end)
        sys::sync_data(fd_.get(), settings_.path);
    if (journal_)
        journal_->remove();
}

// After a failed write part of the last sample may be there: readers expect whole ones.
void FileSink::keep_whole_samples() const noexcept
{
    const std::uint64_t part = output_ ? output_->valid() % sample_bytes_ : 0;
    if (!regular_ || part == 0)
        return;
    try {
        // Only what is ours: standard output may be in the middle of another file.
        const std::uint64_t end = sys::file_position(fd_.get(), settings_.path);
        if (end == sys::file_size(fd_.get(), settings_.path))
            sys::truncate_file(fd_.get(), settings_.path, end - part);
    } catch (const Error&) {
        // Report the error that brought us here.
    }
}

void FileSink::close_file(Stop how)
{
    // Requests still in io_uring would keep the lock for a while.
    sys::unlock(fd_.get());
    // NFS and quotas report errors of write() only at close().
    if (::close(fd_.release()) < 0 && how == Stop::drain && errno != EINTR)
        throw Error(Fault::storage, errno, "close", settings_.path);
}

} // namespace iio_stream::file
