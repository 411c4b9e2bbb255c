// SPDX-License-Identifier: MIT
#include "file/sink.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "core/stream/unsent_metadata.hpp"
#include "file/io/free_space.hpp"
#include "file/options.hpp"
#include "file/parts/part_series.hpp"
#include "file/parts/series_lock.hpp"
#include "file/sigmf/datatype.hpp"
#include "file/sigmf/timeline.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::file {

namespace {

constexpr std::uint64_t kSmallestAhead = 64 << 20, kLargestAhead = 1 << 30;

void parse_sync(const std::string& text, SinkSettings& s)
{
    s.sync_at_end = text != "none";
    if (text != "none" && text != "end")
        s.sync_every = parse_size("sync", text);
}

} // namespace

SinkSettings SinkSettings::from(Options& options, FileTarget target)
{
    SinkSettings s;
    s.target = std::move(target);
    s.overwrite = options.take_switch_or_standard(kSinkOptions["overwrite"]);
    s.facts = StatedFacts::from(options);
    s.take(options);
    if (const auto ahead = options.take(kSinkOptions["preallocate"]); ahead && *ahead != "auto")
        s.preallocate = *ahead == "off" ? 0 : parse_size("preallocate", *ahead);
    parse_sync(options.take_or_standard(kSinkOptions["sync"]), s);
    return s;
}

const FileIoPlan& FileSink::io_plan() const
{
    if (!io_plan_)
        io_plan_ = plan_file_io(settings_, settings_.target, IoDirection::write);
    if (is_wav() && io_plan_->engine != IoEngine::buffered &&
        kWavHeaderBytes % io_plan_->io.offset_align != 0)
        io_plan_ = FileIoPlan{IoEngine::buffered,
                              {},
                              "write() copies into the page cache: the disk's sectors are larger "
                              "than the header of a WAV file"};
    return *io_plan_;
}

Conversion FileSink::conversion_of(const Format& format) const
{
    return is_wav() ? conversion_to_wav(format, settings_.target.path) : Conversion{};
}

std::optional<Hop> FileSink::plan(const MemoryTraits& traits, std::string&) const
{
    Hop hop;
    hop.cpu = true;
    hop.copies = 1;
    hop.reason = io_plan().reason;
    hop.mechanism = io_plan().mechanism();
    if (io_plan().engine == IoEngine::buffered)
        return hop;
    if (const std::string why = io_plan().why_staged(traits, IoDirection::write); why.empty())
        hop.copies = 0;
    else
        detail::add_clause(hop.reason, why + ": one copy into staging buffers");
    return hop;
}

std::unique_ptr<FileSink> FileSink::another(std::size_t number) const
{
    SinkSettings settings = settings_;
    settings.number = number;
    settings.target = FileTarget(part_path(settings.series, number));
    auto part = std::make_unique<FileSink>(std::move(settings));
    part->io_plan_ = io_plan_;
    return part;
}

void FileSink::follow(Part& before)
{
    bytes_before_ = static_cast<const FileSink&>(before).given_;
}

std::optional<PartStart> FileSink::start_with(const Block& first)
{
    if (!journal_ || settings_.number == 0)
        return std::nullopt;
    return PartStart{first.sample_index(), first.index_exact(), 0, bytes_before_};
}

void FileSink::announce(const PartStart& start)
{
    if (journal_)
        journal_->announce(start);
}

SinkTraits FileSink::traits() const noexcept
{
    return {.may_block = output_ == nullptr || output_->may_block(),
            .finish_timeout_ns = regular_ ? kFinishTimeoutNs : 0};
}

// Throws if the samples do not have the format that the suffix declares.
void FileSink::refuse_other_samples(const Format& format) const
{
    const std::string found = format_unlike_suffix(settings_.target, format);
    const std::string says = settings_.target.suffix.format;
    if (!found.empty())
        fail_usage(
            settings_.target.path + ": the name says " + says + ", but the samples are " + found,
            "convert=" + says + " converts them; another name (.bin) takes them as they are");
}

// Checks the stream before the file is created, and sets the facts for the file's header.
void FileSink::prepare_wav(StreamInfo stream)
{
    const std::string& path = settings_.target.path;
    settings_.facts.add_to(stream, path);
    if (settings_.target.is_special)
        fail_usage(path + ": a WAV file must be a regular file, whose header is written at the end",
                   "- is standard output, with raw samples");
    if (const Conversion needed = conversion_to_wav(stream.format, path); !needed.to.empty())
        fail_usage(path + ": the samples are " + stream.format.name() + ", and " + needed.reason,
                   "convert=" + needed.to + " converts them");
    require_wav_rate(stream.format, path);
    wav_ = {stream.format, stream.tuning.frequency, 0};
    if (settings_.number != 0) // a later part begins at another time
        return;
    if (stream.metadata)
        wav_.utc_ns = Timeline(Json::parse(*stream.metadata)).utc_ns_of(0).value_or(0);
    else if (stream.source.scheme != "file")
        wav_.utc_ns = sys::realtime_ns();
}

void FileSink::note_what_is_not_kept(const StreamInfo& stream, std::string& why) const
{
    detail::note_unsent_metadata(stream, why);
    if (is_wav())
        detail::add_clause(why, not_kept_in_wav(wav_));
}

// Opens the file again, because the existing descriptor may be for direct I/O.
void FileSink::write_wav_header(std::optional<std::uint64_t> data_bytes) const
{
    const std::string& path = settings_.target.path;
    const sys::UniqueFd fd = sys::open_file(path, O_WRONLY);
    sys::write_at(fd.get(), path, 0, wav_header(wav_, data_bytes));
}

bool FileSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    refuse_other_samples(stream.format);
    if (is_wav())
        prepare_wav(stream);
    sample_bytes_ = stream.format.sample_bytes;
    output_.reset();
    given_ = 0;
    stored_.reset();
    claim(stream.timeout_ns);
    if (regular_ && settings_.series.empty() && (created_ || old_bytes_))
        require_free_space(settings_.target.path,
                           stream.total_bytes -
                               std::min(stream.total_bytes, old_bytes_.value_or(0)));
    if (!old_bytes_) // not in start(), where the journal's first write would delay the samples
        begin_journal();
    const OpenFile file{fd_.get(), settings_.target.path, header_bytes()};
    if (io_plan().engine == IoEngine::buffered) {
        output_ = make_buffered_output(file, cancel, settings_.sync_every);
        note_what_is_not_kept(stream, why);
        return true;
    }
    auto direct =
        std::make_unique<DirectOutput>(file, direct_settings(stream, pool), stream, pool, cancel);
    why = direct->remark();
    note_what_is_not_kept(stream, why);
    output_ = std::move(direct);
    return true;
}

// Replaces an older file only now, when all endpoints are ready.
void FileSink::start()
{
    const std::string& path = settings_.target.path;
    if (old_bytes_) {
        // An interrupted recording of that name may have left a journal. A recovery would truncate
        // this file according to it.
        sys::remove_file(journal_path(path), kJournalStays);
        sys::truncate_file(fd_.get(), path, 0);
        old_bytes_.reset();
        created_ = true;
    }
    if (is_wav())
        write_wav_header(std::nullopt);
    begin_journal();
    output_->start();
}

void FileSink::begin_journal()
{
    if (!journal_ && regular_ && (io_plan().engine != IoEngine::buffered || settings_.journal))
        journal_.emplace(journal_path(settings_.target.path), sample_bytes_, settings_.number,
                         io_plan().engine != IoEngine::buffered && settings_.preallocate != 0);
}

DirectSettings FileSink::direct_settings(const StreamInfo& stream, const BlockPool& pool) const
{
    DirectSettings direct;
    direct.io = io_plan().io;
    direct.engine = io_plan().engine;
    direct.staged = !io_plan().why_staged(pool.traits(), IoDirection::write).empty();
    direct.depth = settings_.depth_for(
        direct.staged ? write_stage_bytes(stream.block_size, direct.io.offset_align)
                      : stream.block_size,
        pool.count() * stream.block_size);
    direct.sync_every = settings_.sync_every;
    direct.expected = stream.total_bytes;
    direct.ahead = std::clamp<std::uint64_t>(4 * direct.depth * stream.block_size, kSmallestAhead,
                                             kLargestAhead);
    if (stream.total_bytes != 0) // reserve no more than needed
        direct.ahead = std::min<std::uint64_t>(
            direct.ahead, detail::round_up(stream.total_bytes, stream.block_size));
    // Other programs write to the disk too, and so does the journal.
    if (const std::uint64_t free = sys::free_space(settings_.target.path); direct.ahead > free / 4)
        direct.ahead = std::max<std::uint64_t>(free / 4, 2 * stream.block_size);
    if (settings_.preallocate)
        direct.ahead = *settings_.preallocate == 0
                           ? 0
                           : std::max<std::uint64_t>(*settings_.preallocate,
                                                     2 * direct.depth * stream.block_size);
    return direct;
}

// Does nothing if the file is already open: prepare() is called again if another endpoint rejected
// its plan.
void FileSink::claim(std::int64_t timeout_ns)
{
    if (!fd_.valid())
        open(timeout_ns);
}

void FileSink::open(std::int64_t timeout_ns)
{
    const std::string& path = settings_.target.path;
    const int direct = io_plan().engine == IoEngine::buffered ? 0 : O_DIRECT;
    if (settings_.target.is_standard_stream)
        fd_ = sys::own_standard_stream(1);
    else if (settings_.target.is_special)
        fd_ = sys::open_for_writing(path, sys::after(timeout_ns));
    else
        create(O_WRONLY | direct);
    regular_ = sys::is_regular(fd_.get());
    if (!regular_)
        sys::widen_pipe(fd_.get());
}

void FileSink::create(int flags)
{
    const std::string& path = settings_.target.path;
    LockedFile file = lock_or_refuse(flags);
    try {
        refuse_live_series();
        if (file.is_new)
            sys::remove_file(journal_path(path), kJournalStays); // useless without its file
    } catch (const Error&) {
        if (file.is_new)
            sys::try_remove_file(path);
        throw;
    }
    if (!file.is_new)
        old_bytes_ = sys::file_size(file.fd.get(), path);
    created_ = file.is_new;
    fd_ = std::move(file.fd);
    lock_ = std::move(file.lock);
}

LockedFile FileSink::lock_or_refuse(int flags) const
try {
    return open_locked(settings_.target.path, flags,
                       settings_.overwrite ? sys::Existing::replaced : sys::Existing::refused);
} catch (const Error& error) {
    const std::string& path = settings_.target.path;
    if (error.code().value() != EEXIST)
        throw;
    if (sys::is_directory(path))
        throw Error(Fault::storage, EISDIR, "open", path);
    refuse_existing(path, path);
}

// Throws if the file has the name of a part of a series that is being recorded. That name belongs
// to the recorder even if the part is closed or does not exist yet.
void FileSink::refuse_live_series() const
{
    if (!settings_.series.empty()) // this file is a part, and its recorder has the lock
        return;
    const std::string series = series_path(settings_.target.path);
    if (!series.empty() && is_series_locked(series))
        throw busy_file(settings_.target.path,
                        "a recording in parts of this name is being recorded");
}

void FileSink::record_loss(const Loss& loss) noexcept
{
    if (journal_)
        journal_->add_loss(loss);
}

void FileSink::set_losses_final_before(std::uint64_t samples) noexcept
{
    if (journal_)
        journal_->set_losses_final_before(samples);
}

void FileSink::submit(Block filled)
{
    given_.store(given_.load(std::memory_order_relaxed) + filled.bytes(),
                 std::memory_order_relaxed);
    output_->submit(std::move(filled));
    if (journal_)
        journal_->note(header_bytes() + output_->valid());
}

std::uint64_t FileSink::free_space_left() const noexcept
{
    return created_ ? file::free_space_left(settings_.target.path,
                                            given_.load(std::memory_order_relaxed))
                    : kUnknown;
}

void FileSink::service()
{
    if (!output_)
        return;
    output_->service();
    if (journal_)
        journal_->note(header_bytes() + output_->valid());
}

void FileSink::close(Stop how)
{
    try {
        close_and_keep(how, IfEmpty::removed);
    } catch (...) {
        release_lock();
        throw;
    }
    release_lock();
}

void FileSink::close_and_keep(Stop how, IfEmpty if_empty)
{
    if (!fd_.valid())
        return;
    if (old_bytes_) { // the stream never began
        old_bytes_.reset();
        output_.reset();
        close_file(Stop::abort);
        return;
    }
    std::optional<Error> failure;
    // The last write may be padded for the disk, and the program may be killed right after it. Then
    // this entry shows where the samples end. Without padding the entry is not needed and is
    // skipped, because a slow disk would delay the end of the recording.
    constexpr std::uint64_t kLargestSector = 4096;
    if (journal_ && output_ && how == Stop::drain && io_plan().engine != IoEngine::buffered &&
        given_ % kLargestSector != 0)
        journal_->end_at(header_bytes() + given_);
    try {
        if (output_)
            output_->finish(how);
    } catch (const Error& error) {
        failure = error;
    }
    const bool unfinished = failure && failure->code().value() == ETIMEDOUT;
    try {
        // A file that is still being written to cannot be truncated. The journal shows how much of
        // it is valid.
        if (!unfinished)
            end_file(how, if_empty);
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

void FileSink::end_file(Stop how, IfEmpty if_empty)
{
    if (io_plan().engine == IoEngine::buffered) {
        keep_whole_samples();
    } else {
        const std::uint64_t valid = output_ ? output_->valid() : 0;
        sys::truncate_file(fd_.get(), settings_.target.path,
                           header_bytes() + valid / sample_bytes_ * sample_bytes_);
    }
    if (is_wav()) {
        const std::uint64_t valid = output_ ? output_->valid() / sample_bytes_ * sample_bytes_ : 0;
        write_wav_header(valid);
        if (valid % 2 != 0) // a chunk is padded to an even number of bytes
            sys::truncate_file(fd_.get(), settings_.target.path, header_bytes() + valid + 1);
    }
    // A stream that fails before it begins leaves no file behind, because the next stream would
    // collide with it.
    if (if_empty == IfEmpty::removed && how == Stop::abort && created_ &&
        (!output_ || output_->valid() == 0))
        sys::try_remove_file(settings_.target.path);
    if (how == Stop::drain && settings_.sync_at_end)
        sys::sync_data(fd_.get(), settings_.target.path);
    if (journal_)
        journal_->remove();
}

// Cuts off the incomplete sample that a failed write may have left: readers expect whole samples.
void FileSink::keep_whole_samples() const noexcept
{
    const std::uint64_t part = output_ ? output_->valid() % sample_bytes_ : 0;
    if (!regular_ || part == 0)
        return;
    try {
        // Truncate only our own data: standard output may be in the middle of another file.
        const std::uint64_t end = sys::file_position(fd_.get(), settings_.target.path);
        if (end == sys::file_size(fd_.get(), settings_.target.path))
            sys::truncate_file(fd_.get(), settings_.target.path, end - part);
    } catch (const Error&) {
        // The caller reports the original error.
    }
}

void FileSink::release_lock() noexcept
{
    if (!lock_.valid())
        return;
    // Closing the file is not enough: requests still in io_uring would keep the lock for a while.
    sys::unlock(lock_.get());
    lock_.reset();
}

void FileSink::close_file(Stop how)
{
    // On NFS, and with quotas, close() can be the first call to report a failed write().
    if (::close(fd_.release()) < 0 && how == Stop::drain && errno != EINTR)
        throw Error(Fault::storage, errno, "close", settings_.target.path);
}

} // namespace iio_stream::file
