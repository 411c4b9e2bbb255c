// SPDX-License-Identifier: MIT
#include "file/sigmf/sink.hpp"

#include "file/file_lock.hpp"
#include "file/journal/journal.hpp"
#include "file/options.hpp"
#include "file/parts/part_series.hpp"
#include "file/sha512/sha512.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "file/sigmf/metadata_updater.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <utility>

namespace iio_stream::file {

SigmfSettings SigmfSettings::from(Options& options, const std::string& path, bool overwrite)
{
    SigmfSettings s;
    s.files = pair_of(path);
    s.overwrite = overwrite;
    const std::string hash = options.take_or_standard(kSigmfOptions["hash"]);
    s.hash = hash == "end" ? HashAt::end : HashAt::off;
    if (s.hash == HashAt::end)
        (void)Sha512(); // if libcrypto is missing, this fails before the recording, not after it
    if (options.take_switch_or_standard(kSigmfOptions["hostname"]))
        s.hostname = sys::host_name();
    const auto take_text = [&](const Option& option, const char* key) {
        if (const auto text = options.take(option))
            s.texts.emplace_back(key, *text);
    };
    take_text(kSigmfOptions["description"], "core:description");
    take_text(kSigmfOptions["author"], "core:author");
    take_text(kSigmfOptions["license"], "core:license");
    return s;
}

SigmfSink::SigmfSink(SigmfSettings settings, std::unique_ptr<FileSink> data)
    : settings_(std::move(settings)), data_(std::move(data))
{
    log_.listen([this](const Loss& loss) { data_->record_loss(loss); });
    tunings_.listen([this](const Retuned& retuned) {
        if (data_->journal())
            data_->journal()->add_retuning(retuned);
    });
}

std::unique_ptr<Part> SigmfSink::sibling(std::size_t number) const
{
    SigmfSettings settings = settings_;
    settings.number = number;
    settings.files = {part_path(settings.series.meta, number),
                      part_path(settings.series.data, number)};
    auto part = std::make_unique<SigmfSink>(std::move(settings), data_->another(number));
    part->hashed_ = hashed_;
    part->original_ = original_;
    return part;
}

// Creates the data file first, still empty, because its lock is the lock of the whole recording.
// The metadata are written before the first sample, but wait for start() if they may replace older
// ones.
bool SigmfSink::prepare(const StreamInfo& given, BlockPool& pool, int cancel, std::string& why)
{
    StreamInfo stream = given;
    settings_.facts.add_to(stream, settings_.files.meta);
    StreamInfo samples = stream; // without the metadata, which this sink writes
    samples.metadata = nullptr;
    if (open_) // prepared again because another endpoint rejected its plan
        return data_->prepare(samples, pool, cancel, why);
    const Pair& files = settings_.files;
    if (settings_.number == 0)
        original_ = CopiedMetadata::from(stream);
    // The time at which a recording is copied is not the time of its samples.
    const bool dated = stream.source.scheme != "file" && !settings_.facts.utc_ns;
    const bool now = dated && settings_.number == 0; // other parts begin later
    metadata_ = describe(stream, files.meta, now ? sys::realtime_ns() : 0, settings_.hostname);
    if (settings_.number != 0) // until its first block, only the journal shows its start
        metadata_["captures"][0]["iio_stream:index_exact"] = false;
    sample_bytes_ = stream.format.sample_bytes;
    detects_losses_ = stream.detects_losses;
    cancel_ = cancel;
    complete_ = noted_ = started_ = false;
    stream_error_.clear();
    log_.begin(sample_bytes_, stream.format.sample_rate, dated, stream.cut);
    if (original_) {
        log_.count_from(original_->first_index(), original_->first_exact());
        original_->add_global(metadata_);
        if (settings_.number == 0)
            original_->set_first_capture(metadata_, 0, {});
    }
    for (const auto& [key, text] : settings_.texts)
        metadata_["global"][key] = text;
    tunings_.begin(
        {stream.tuning.frequency, stream.tuning.gain, stream.tuning.bandwidth, stream.tuning.rate});
    sha512_.clear();

    if (settings_.overwrite) {
        bool accepted = false;
        try {
            accepted = data_->prepare(samples, pool, cancel, why);
        } catch (...) { // if the data file is not ours, neither are the metadata
            open_ = data_->is_open();
            throw;
        }
        open_ = true;
        return accepted;
    }
    publish_new(stream.timeout_ns);
    try {
        const bool accepted = data_->prepare(samples, pool, cancel, why);
        open_ = true;
        sys::reserve_publish(files.meta);
        return accepted;
    } catch (...) {
        sys::try_remove_file(files.meta);
        throw;
    }
}

// If there are metadata without a data file, no data file is created.
void SigmfSink::publish_new(std::int64_t timeout_ns)
{
    const Pair& files = settings_.files;
    for (const std::string& path : {files.data, files.meta})
        if (sys::path_exists(path))
            refuse_existing(path, files.data);
    data_->claim(timeout_ns);
    try {
        sys::publish_file(files.meta, text_of(metadata_), sys::Existing::refused);
    } catch (const Error& error) {
        data_->close(Stop::abort);
        if (error.code().value() == EEXIST)
            refuse_existing(files.meta, files.data);
        throw;
    }
}

// The metadata replace older ones only now, when the data file is ours and all endpoints are ready.
void SigmfSink::start()
{
    data_->start();
    if (settings_.overwrite) {
        sys::publish_file(settings_.files.meta, text_of(metadata_), sys::Existing::replaced);
        sys::reserve_publish(settings_.files.meta); // for the end, when the disk may be full
    }
    started_ = true;
}

void SigmfSink::follow(Part& before)
{
    auto& other = static_cast<SigmfSink&>(before);
    data_->follow(*other.data_);
    tunings_.follow(other.tunings_, other.log_.samples());
    log_.follow(other.log_);
}

void SigmfSink::apply_late_report(const LateReport& late)
{
    if (const auto* gap = std::get_if<Gap>(&late))
        log_.apply_late_loss(*gap);
    else
        (void)tunings_.apply_late_retuning(std::get<detail::NewRetuning>(late));
    record_start();
}

// Records the start again: it changes if a loss before the file becomes known late.
void SigmfSink::record_start() noexcept
{
    if (data_->journal())
        data_->journal()->set_start(part_start());
}

void SigmfSink::write_outcome(Json& metadata, const Outcome& outcome) const
{
    if (original_)
        original_->write_outcome(metadata, outcome, log_.stream_range(),
                                 settings_.series.meta.empty());
    else
        file::write_outcome(metadata, outcome);
}

Outcome SigmfSink::outcome() const
{
    Outcome outcome = log_.outcome();
    outcome.samples = log_.samples();
    outcome.tunings = tunings_.tunings();
    if (!detects_losses_)
        add_loss(outcome.losses, {{0, outcome.samples, 0, kUnknown, Evidence::starvation}});
    return outcome;
}

std::optional<PartStart> SigmfSink::start_with(const Block& first)
{
    if (!std::exchange(noted_, true))
        note(first);
    return part_start();
}

PartStart SigmfSink::part_start() const
{
    PartStart start = log_.part_start();
    start.bytes_before = data_->bytes_before();
    return start;
}

void SigmfSink::note(const Block& filled)
{
    const bool first = log_.samples() == 0;
    if (first && tunings_.tunings().changed) {
        tunings_.report_all();
        opening_.tunings.first = tunings_.tunings().first;
        opening_.tunings.changed = true;
    }
    if (tunings_.note(filled, log_.samples(), sample_bytes_))
        log_.set_rate(tunings_.tunings().last().rate.value_or(0));
    log_.note(filled);
    const bool is_undated = filled.time().ns == 0 && filled.sequence() != kUnknown;
    if (first && !original_ && is_undated) // the sample may have been taken long ago
        metadata_["captures"][0].erase("core:datetime");
    if (first) {
        const Outcome& outcome = log_.outcome();
        opening_.first_index = outcome.first_index;
        opening_.index_exact = outcome.index_exact;
        opening_.utc_ns = outcome.utc_ns;
        opening_position_ = log_.stream_range().begin;
        opening_zeros_from_.reset();
        if (filled.sequence() == kUnknown) // zeros in place of lost samples
            opening_zeros_from_ = outcome.first_index;
    }
}

void SigmfSink::submit(Block filled)
{
    if (!std::exchange(noted_, false))
        note(filled);
    record_start();
    if (data_->journal() && tunings_.complete_until() != kUnknown)
        data_->journal()->set_retunings_final_before(tunings_.complete_until());
    if (!detects_losses_) // a recovery must assume that samples may be missing anywhere
        data_->set_losses_final_before(0);
    else if (filled.losses_final_before() != kUnknown)
        data_->set_losses_final_before(log_.losses_final_before());
    data_->submit(std::move(filled));
}

void SigmfSink::announce(const PartStart& start)
{
    data_->journal()->announce(start);
}

// Writes no losses: they are recorded in the journal until the data file is closed.
void SigmfSink::publish_start()
{
    if (original_)
        original_->set_first_capture(metadata_, opening_position_, opening_zeros_from_);
    file::set_start(metadata_, opening_);
    sys::publish_file(settings_.files.meta, text_of(metadata_), sys::Existing::replaced);
    sys::reserve_publish(settings_.files.meta);
}

Part::LateReportHandler SigmfSink::late_report_handler() const
{
    const auto updater = std::make_shared<MetadataUpdater>(settings_.files.meta, outcome(),
                                                           log_.stream_range(), tunings_);
    return [updater](const LateReport& late) { updater->apply(late); };
}

void SigmfSink::close(Stop how)
{
    if (!std::exchange(open_, false) || (settings_.overwrite && !started_))
        return data_->close(how);
    publish_so_far();
    std::exception_ptr failure;
    try {
        data_->close_locked(how);
    } catch (...) {
        failure = std::current_exception();
    }
    // A stream that fails before it begins leaves no files behind, because the next stream would
    // collide with them.
    if (how == Stop::abort && !has_data()) {
        remove_files();
        data_->release_lock();
        if (failure != nullptr)
            std::rethrow_exception(failure);
        return;
    }
    try {
        finish_metadata(how == Stop::drain && failure == nullptr);
    } catch (...) {
        if (failure == nullptr)
            failure = std::current_exception();
    }
    sys::release_publish(settings_.files.meta);
    complete_ = how == Stop::drain && failure == nullptr;
    if (!has_to_hash())
        data_->release_lock();
    if (failure != nullptr)
        std::rethrow_exception(failure);
}

// The journal is removed when the data file is closed. From then on, only the metadata show losses
// and retunings if the program is killed before it finishes them.
void SigmfSink::publish_so_far() noexcept
{
    if (detects_losses_ && log_.outcome().losses.empty() && !tunings_.tunings().changed)
        return;
    try {
        Json metadata = metadata_;
        Outcome so_far = outcome();
        so_far.state = State::recording;
        write_outcome(metadata, so_far);
        metadata["global"].erase("iio_stream:samples");
        sys::publish_file(settings_.files.meta, text_of(metadata), sys::Existing::replaced);
        sys::reserve_publish(settings_.files.meta);
    } catch (const std::exception&) {
        // The next step reports the error if it persists.
    }
}

bool SigmfSink::has_to_hash() const noexcept
{
    return complete_ && settings_.hash == HashAt::end;
}

bool SigmfSink::has_data() const
{
    const std::string& data = settings_.files.data;
    if (!sys::path_exists(data))
        return false;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY);
    return sys::file_size(fd.get(), data) != 0;
}

// Removes the data file last: until its name is gone, its lock protects the other files.
void SigmfSink::remove_files() const noexcept
{
    sys::release_publish(settings_.files.meta);
    sys::try_remove_file(settings_.files.meta);
    sys::try_remove_file(settings_.files.data);
}

// The metadata describe the content of the file, however the stream ended. If the data file could
// not be completed, they stay as they are, and the recording needs `recover`.
void SigmfSink::finish_metadata(bool whole)
{
    const std::string& data = settings_.files.data;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY);
    const std::uint64_t size = sys::file_size(fd.get(), data);
    if (size % sample_bytes_ != 0 || sys::path_exists(journal_path(data)))
        return;
    Outcome outcome = this->outcome();
    outcome.samples = size / sample_bytes_;
    outcome.state = whole && stream_error_.empty() ? State::complete : State::interrupted;
    if (outcome.state == State::interrupted)
        outcome.end = "the recording was ended here by an error" +
                      (stream_error_.empty() ? "" : ": " + stream_error_);
    write_outcome(metadata_, outcome);
    sys::publish_file(settings_.files.meta, text_of(metadata_), sys::Existing::replaced);
}

void SigmfSink::seal()
{
    if (!has_to_hash())
        return;
    try {
        add_hash();
    } catch (...) {
        data_->release_lock();
        throw;
    }
    data_->release_lock();
}

void SigmfSink::add_hash()
{
    const auto sha512 = sha512_of_file(settings_.files.data, cancel_, hashed_.get());
    if (!sha512)
        throw Error(Fault::storage, ECANCELED, "hash", settings_.files.data,
                    "stopped before all data were read; the recording is complete without the hash",
                    "iio-stream verify --add-hash adds it");
    sha512_ = *sha512;
    const std::string& path = settings_.files.meta;
    Json metadata =
        sys::path_exists(path) ? load_metadata(path) : metadata_; // including late losses
    metadata["global"]["core:sha512"] = sha512_;
    sys::publish_file(path, text_of(metadata), sys::Existing::replaced);
}

void SigmfSink::end_with(const StreamEnd& end)
{
    if (end.dropped != 0)
        log_.add_trailing_drops(end.dropped);
    log_.add_trailing_gaps(end.gaps);
    if (end.retuning.count != 0)
        tunings_.set_last_retuning(end.retuning);
    if (end.error)
        stream_error_ = end.error->what();
}

SinkResult SigmfSink::result() const
{
    SinkResult result;
    std::string lacking;
    if (original_)
        for (const std::string& key : original_->not_kept(settings_.hash == HashAt::end))
            lacking += (lacking.empty() ? "" : ", ") + key;
    if (!lacking.empty())
        result.remark = "unlike the original, the copy does not keep " + lacking;
    if (!sha512_.empty())
        result.report = Json{{"sha512", sha512_}}.dump();
    return result;
}

} // namespace iio_stream::file
