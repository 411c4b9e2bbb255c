// SPDX-License-Identifier: MIT
#include "file/sigmf/sink.hpp"

#include "file/journal.hpp"
#include "file/sigmf/hash.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"
#include "sys/whole_file.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kMostLosses = 16384; ///< told one by one; those behind them as one

} // namespace

SigmfSettings SigmfSettings::from(Options& options, const std::string& path, bool overwrite)
{
    SigmfSettings s;
    s.files = pair_of(path);
    s.overwrite = overwrite;
    const std::string hash = options.take("hash", "off");
    if (hash != "off" && hash != "end")
        fail_usage("hash=" + hash + " is neither off nor end");
    s.hash = hash == "end" ? HashAt::end : HashAt::off;
    if (parse_switch("hostname", options.take("hostname", "off")))
        s.hostname = sys::host_name();
    return s;
}

SigmfSink::SigmfSink(SigmfSettings settings, std::unique_ptr<Sink> data)
    : settings_(std::move(settings)), data_(std::move(data))
{}

// Of the two files the metadata come first, so that there is never a sample without them. Only
// where they replace others they wait until the data file is ours.
bool SigmfSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    if (open_) // prepared once more, as another end was refused
        return data_->prepare(stream, pool, cancel, why);
    const Pair& files = settings_.files;
    // What another recording says of its time is not this one's.
    const bool dated = !stream.source.starts_with("file:");
    metadata_ = describe(stream, files.meta, dated ? sys::realtime_ns() : 0, settings_.hostname);
    sample_bytes_ = stream.format.sample_bytes;
    rate_ = stream.format.sample_rate;
    cancel_ = cancel;
    begun_ = false;
    samples_ = expected_ = unmatched_ = 0;
    outcome_ = {};
    outcome_.losses.reserve(kMostLosses);
    sha512_.clear();
    hashed_ = 0;

    if (settings_.overwrite) {
        open_ = true;
        const bool accepted = data_->prepare(stream, pool, cancel, why);
        if (accepted) {
            sys::publish_file(files.meta, text_of(metadata_), sys::Existing::replaced);
            sys::reserve_publish(files.meta); // for the end, when the disk may be full
        }
        return accepted;
    }
    const auto refuse = [](const std::string& path) {
        throw Error(Fault::storage, EEXIST, "open", path, {}, "overwrite=on replaces it");
    };
    if (sys::path_exists(files.data))
        refuse(files.data);
    try {
        sys::publish_file(files.meta, text_of(metadata_), sys::Existing::refused);
    } catch (const Error& error) {
        if (error.code().value() == EEXIST)
            refuse(files.meta);
        throw;
    }
    try {
        const bool accepted = data_->prepare(stream, pool, cancel, why);
        open_ = true;
        sys::reserve_publish(files.meta);
        return accepted;
    } catch (...) {
        sys::remove_file(files.meta);
        throw;
    }
}

void SigmfSink::submit(Filled filled)
{
    note(filled);
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    data_->submit(std::move(filled));
    samples_ += samples;
}

// Nothing is allocated here: losses_ has room for as many as are kept.
void SigmfSink::note(const Filled& filled)
{
    if (filled.sequence() == kUnknown)
        return note_zeros(filled.bytes() / sample_bytes_);
    if (!std::exchange(begun_, true)) {
        outcome_.utc_ns = utc_of(filled, 0);
        outcome_.first_index = filled.sample_index();
        for (const Gap& gap : filled.gaps()) // told below, and counted there
            if (gap.offset_max <= filled.position())
                outcome_.first_index -= gap.lost_min;
    } else if (filled.position() > expected_) {
        const std::uint64_t lost = filled.position() - expected_;
        add({{samples_, samples_, lost, lost, Evidence::counter},
             Loss::Kind::dropped,
             utc_of(filled, 0)});
    }
    for (const Gap& gap : filled.gaps())
        note_gap(gap, filled.position(),
                 utc_of(filled, gap.offset_max - std::min(gap.offset_max, filled.position())));
    expected_ = filled.position() + filled.bytes() / sample_bytes_;
}

void SigmfSink::trailing(std::span<const Gap> gaps)
{
    for (const Gap& gap : gaps)
        note_gap(gap, expected_, 0);
}

// A gap that is told when the file ends with the sample before the stream's `position`.
void SigmfSink::note_gap(const Gap& gap, std::uint64_t position, std::int64_t utc_ns)
{
    const auto in_file = [&](std::uint64_t offset) {
        return offset >= position ? samples_ + (offset - position)
                                  : samples_ - std::min(samples_, position - offset);
    };
    Loss loss{gap, Loss::Kind::gap, utc_ns};
    loss.gap.offset_min = in_file(gap.offset_min);
    loss.gap.offset_max = in_file(gap.offset_max);
    // With zero-fill the zeros may have come already: what they stand for is not lost any more.
    const std::uint64_t filled_up = std::min(unmatched_, gap.lost_min);
    unmatched_ -= filled_up;
    loss.gap.lost_min -= filled_up;
    if (loss.gap.lost_max != kUnknown)
        loss.gap.lost_max -= filled_up;
    if (loss.gap.lost_max == 0)
        return;
    add(loss);
}

void SigmfSink::note_zeros(std::uint64_t samples)
{
    add({{samples_, samples_ + samples, 0, 0, Evidence::counter}, Loss::Kind::filled, 0});
    // They stand for a gap told by the block before them, or by the one that follows.
    for (Loss& loss : outcome_.losses) {
        const std::uint64_t part = std::min(samples, loss.gap.lost_min);
        if (loss.kind != Loss::Kind::gap || part == 0)
            continue;
        loss.gap.lost_min -= part;
        if (loss.gap.lost_max != kUnknown)
            loss.gap.lost_max -= part;
        samples -= part;
    }
    std::erase_if(outcome_.losses, [](const Loss& loss) {
        return loss.kind == Loss::Kind::gap && loss.gap.lost_max == 0;
    });
    unmatched_ += samples;
}

void SigmfSink::add(const Loss& loss)
{
    auto& losses = outcome_.losses;
    if (!losses.empty() && losses.back().kind == Loss::Kind::filled &&
        loss.kind == losses.back().kind && losses.back().gap.offset_max == loss.gap.offset_min) {
        losses.back().gap.offset_max = loss.gap.offset_max;
        return;
    }
    if (losses.size() < kMostLosses) {
        losses.push_back(loss);
        return;
    }
    Gap& last = losses.back().gap;
    last.offset_min = std::min(last.offset_min, loss.gap.offset_min);
    last.offset_max = std::max(last.offset_max, loss.gap.offset_max);
    last.lost_min += loss.gap.lost_min;
    last.lost_max = last.lost_max == kUnknown || loss.gap.lost_max == kUnknown
                        ? kUnknown
                        : last.lost_max + loss.gap.lost_max;
    last.evidence = std::max(last.evidence, loss.gap.evidence);
    losses.back().kind = Loss::Kind::gap;
}

// When a sample of a block was taken: counted back from the block's last one.
std::int64_t SigmfSink::utc_of(const Filled& filled, std::uint64_t sample) const
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    const Time& time = filled.time();
    if (rate_ <= 0 || time.ns == 0)
        return 0;
    const std::int64_t now =
        time.clock == Clock::realtime ? 0 : sys::realtime_ns() - sys::monotonic_ns();
    const double before = (static_cast<double>(samples) - 1 - static_cast<double>(sample)) / rate_;
    return time.ns + now - static_cast<std::int64_t>(before * 1e9);
}

void SigmfSink::stop(Stop how)
{
    if (!std::exchange(open_, false))
        return data_->stop(how);
    tell_losses();
    std::exception_ptr failure;
    try {
        data_->stop(how);
    } catch (...) {
        failure = std::current_exception();
    }
    // A stream that failed before it began leaves nothing that would be in the next one's way.
    if (how == Stop::abort && !has_data()) {
        remove_files();
        if (failure != nullptr)
            std::rethrow_exception(failure);
        return;
    }
    try {
        conclude(how == Stop::drain && failure == nullptr);
    } catch (...) {
        if (failure == nullptr)
            failure = std::current_exception();
    }
    sys::release_publish(settings_.files.meta);
    if (failure != nullptr)
        std::rethrow_exception(failure);
    if (how == Stop::drain && settings_.hash == HashAt::end)
        hash();
}

// The journal goes with the data file's closing: from then on only the metadata could tell of
// losses, should this program be killed before they are concluded.
void SigmfSink::tell_losses() noexcept
{
    if (outcome_.losses.empty())
        return;
    try {
        Json metadata = metadata_;
        Outcome so_far = outcome_;
        so_far.state = State::recording;
        so_far.samples = samples_;
        file::conclude(metadata, so_far);
        metadata["global"].erase("iio_stream:samples");
        sys::publish_file(settings_.files.meta, text_of(metadata), sys::Existing::replaced);
        sys::reserve_publish(settings_.files.meta);
    } catch (const std::exception&) {
        // What follows tells, if it cannot be told then either.
    }
}

bool SigmfSink::has_data() const
{
    const std::string& data = settings_.files.data;
    if (!sys::path_exists(data))
        return false;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY);
    return sys::file_size(fd.get(), data) != 0;
}

void SigmfSink::remove_files() const noexcept
{
    sys::remove_file(settings_.files.data);
    sys::remove_file(settings_.files.meta);
    sys::release_publish(settings_.files.meta);
}

// The metadata tell what is in the file, however the stream ended. Where the data file could not be
// brought into order they stay as they are, and ask for `recover`.
void SigmfSink::conclude(bool whole)
{
    const std::string& data = settings_.files.data;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY);
    const std::size_t size = sys::file_size(fd.get(), data);
    if (size % sample_bytes_ != 0 || sys::path_exists(journal_path(data)))
        return;
    outcome_.samples = size / sample_bytes_;
    outcome_.state = whole ? State::complete : State::interrupted;
    outcome_.end = whole ? "" : "the recording was ended here by an error";
    file::conclude(metadata_, outcome_);
    sys::publish_file(settings_.files.meta, text_of(metadata_), sys::Existing::replaced);
}

void SigmfSink::hash()
{
    const auto sha512 = sha512_of_file(settings_.files.data, cancel_, &hashed_);
    if (!sha512)
        throw Error(Fault::storage, ECANCELED, "hash", settings_.files.data,
                    "stopped before all was read; the recording is complete without it",
                    "iio-stream verify --add-hash adds it");
    sha512_ = *sha512;
    metadata_["global"]["core:sha512"] = sha512_;
    sys::publish_file(settings_.files.meta, text_of(metadata_), sys::Existing::replaced);
}

std::string SigmfSink::report() const
{
    if (sha512_.empty())
        return data_->report();
    const std::string data = data_->report();
    Json report = data.empty() ? Json::object() : Json::parse(data);
    report["sha512"] = sha512_;
    return report.dump();
}

} // namespace iio_stream::file
