// SPDX-License-Identifier: MIT
#include "file/journal.hpp"

#include "core/losses.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <string>

namespace iio_stream::file {

namespace {

constexpr std::int64_t kEvery = 500'000'000;
constexpr int kTries = 5; ///< to announce, within that time

// By hand, because nlohmann's destructors need memory: the journal is for bad times.
std::string line_of(const Loss& loss)
{
    const Gap& gap = loss.gap;
    const std::string places =
        std::to_string(gap.offset_min) + "," + std::to_string(gap.offset_max);
    if (loss.kind == Loss::Kind::filled)
        return "{\"zeros\":[" + places + "]}";
    const std::string most = gap.lost_max == kUnknown ? "null" : std::to_string(gap.lost_max);
    return std::string(loss.kind == Loss::Kind::dropped ? "{\"dropped\":[" : "{\"gap\":[") +
           places + "," + std::to_string(gap.lost_min) + "," + most + ",\"" +
           name_of(gap.evidence) + "\"]}";
}

std::string text_of(const Settings& settings)
{
    const auto number = [](const std::optional<double>& value) {
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", value.value_or(0));
        return std::string(value ? text : "null");
    };
    return number(settings.frequency) + "," + number(settings.gain) + "," +
           number(settings.bandwidth) + "," + number(settings.rate);
}

// A retuning that ends before the file's first sample applies to all of them.
std::string line_of(const Retuned& retuned)
{
    if (retuned.end == 0)
        return "{\"settings\":[" + text_of(retuned.settings) + "]}";
    return "{\"retuned\":[" + std::to_string(retuned.begin) + "," + std::to_string(retuned.end) +
           "," + text_of(retuned.settings) + "]}";
}

} // namespace

std::string journal_path(const std::string& data_path)
{
    return data_path + ".journal";
}

Journal::Journal(std::string path, std::size_t sample_bytes, std::size_t part, bool reserved)
    : path_(std::move(path)),
      fd_(sys::open_file(path_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0666))
{
    try {
        append("{\"iio_stream_journal\":1,\"sample_bytes\":" + std::to_string(sample_bytes) +
               ",\"part\":" + std::to_string(part) +
               ",\"reserved\":" + (reserved ? "true" : "false") + "}");
        unsynced_ =
            false; // the next entry syncs it too; alone it is not worth waiting for a slow disk
        thread_ = std::thread([this] { run(); });
    } catch (...) {
        sys::try_remove_file(path_);
        throw;
    }
}

Journal::~Journal()
{
    finish();
}

void Journal::finish() noexcept
{
    if (!thread_.joinable())
        return;
    over_ = true;
    wake_.set();
    thread_.join();
}

void Journal::remove()
{
    finish();
    sys::remove_file(path_, kJournalStays);
}

bool Journal::push(const Loss& loss) noexcept
{
    const std::size_t given = given_.load(std::memory_order_relaxed);
    if (given - taken_.load(std::memory_order_acquire) == kMax)
        return false;
    losses_[given % kMax] = loss;
    given_.store(given + 1, std::memory_order_release);
    return true;
}

void Journal::loss(const Loss& loss) noexcept
{
    if (waiting_ && push(*waiting_))
        waiting_.reset();
    if (waiting_) {
        waiting_->gap = detail::merged(waiting_->gap, loss.gap);
        waiting_->kind = Loss::Kind::gap;
    } else if (!push(loss)) {
        waiting_ = loss;
    }
}

bool Journal::push(const Retuned& retuned) noexcept
{
    const std::size_t given = retunings_given_.load(std::memory_order_relaxed);
    if (given - retunings_taken_.load(std::memory_order_acquire) == kMaxRetuned)
        return false;
    retuned_[given % kMaxRetuned] = retuned;
    retunings_given_.store(given + 1, std::memory_order_release);
    return true;
}

void Journal::retuned(const Retuned& retuned) noexcept
{
    if (retuned_waiting_ && push(*retuned_waiting_))
        retuned_waiting_.reset();
    if (retuned_waiting_)
        retuned_waiting_ = {
            std::min(retuned_waiting_->begin, retuned.begin), retuned.end, retuned.settings, {}};
    else if (!push(retuned))
        retuned_waiting_ = retuned;
}

void Journal::tune(std::uint64_t samples) noexcept
{
    if (retuned_waiting_ && !push(*retuned_waiting_))
        return;
    retuned_waiting_.reset();
    tuned_.store(samples, std::memory_order_release);
}

void Journal::note(std::uint64_t bytes) noexcept
{
    if (waiting_ && !push(*waiting_))
        return;
    waiting_.reset();
    bytes_.store(bytes, std::memory_order_release);
}

void Journal::settle(std::uint64_t samples) noexcept
{
    if (!waiting_)
        settled_.store(samples, std::memory_order_release);
}

// Retries: a disk that is full for a moment does not end a recording.
void Journal::announce(const Begin& begin)
{
    for (int left = kTries - 1;; --left) {
        try {
            const std::lock_guard lock(mutex_);
            begin_told_ = begin_told_ && begin == begin_;
            begin_ = begin;
            write_news();
            sync();
            return;
        } catch (const Error&) {
            if (left == 0)
                throw;
        }
        std::this_thread::sleep_for(std::chrono::nanoseconds(kEvery / kTries));
    }
}

void Journal::begin(const Begin& begin) noexcept
{
    if (begin == begin_)
        return;
    try {
        const std::lock_guard lock(mutex_);
        begin_ = begin;
        begin_told_ = false;
        write_news();
    } catch (const std::exception&) { // at the next tick
    }
    wake_.set();
}

void Journal::write_begin()
{
    if (begin_told_)
        return;
    append("{\"first\":[" + std::to_string(begin_.index) + (begin_.exact ? ",true]}" : ",false]}"));
    begin_told_ = true;
}

void Journal::sync()
{
    if (!unsynced_)
        return;
    sys::sync_data(fd_.get(), path_);
    unsynced_ = false;
}

void Journal::end_at(std::uint64_t bytes) noexcept
{
    end_.store(bytes, std::memory_order_release);
    try_to_write();
}

void Journal::run()
{
    sys::block_write_signals();
    while (!over_.load(std::memory_order_acquire)) {
        try {
            (void)sys::wait_for(wake_.fd(), POLLIN, sys::after(kEvery));
        } catch (const Error&) {
            std::this_thread::sleep_for(
                std::chrono::nanoseconds(kEvery)); // poll() cannot allocate: sleep instead
        }
        wake_.clear();
        try_to_write();
    }
    try_to_write();
}

// The disk may be full now but not next time. Nothing is dropped before it is written, and if the
// disk is broken the data's own writes report it.
void Journal::try_to_write() noexcept
{
    try {
        const std::lock_guard lock(mutex_);
        write_news();
        sync();
    } catch (const std::exception&) {
    }
}

// The remains of a failed write would hide all lines after it.
void Journal::append(const std::string& line)
{
    if (torn_)
        sys::truncate_file(fd_.get(), path_, good_);
    torn_ = true;
    sys::append_line(fd_.get(), path_, line);
    torn_ = false;
    unsynced_ = true;
    good_ += line.size() + 1;
}

void Journal::write_retunings()
{
    const std::size_t given = retunings_given_.load(std::memory_order_acquire);
    for (std::size_t i = retunings_taken_.load(std::memory_order_relaxed); i != given; ++i) {
        append(line_of(retuned_[i % kMaxRetuned]));
        retunings_taken_.store(i + 1, std::memory_order_release);
    }
}

void Journal::write_news()
{
    // Read before the losses, so that those within these bytes are among them.
    const std::uint64_t bytes = bytes_.load(std::memory_order_acquire);
    const std::uint64_t settled = settled_.load(std::memory_order_acquire);
    const std::uint64_t tuned = tuned_.load(std::memory_order_acquire);
    write_begin();
    const std::size_t given = given_.load(std::memory_order_acquire);
    for (std::size_t i = taken_.load(std::memory_order_relaxed); i != given; ++i) {
        append(line_of(losses_[i % kMax]));
        taken_.store(i + 1, std::memory_order_release);
    }
    write_retunings();
    if (tuned != tuned_written_) {
        append("{\"tuned\":" + std::to_string(tuned) + "}");
        tuned_written_ = tuned;
    }
    if (settled != settled_written_) { // before "bytes", which otherwise implies settled
        append("{\"settled\":" + std::to_string(settled) + "}");
        settled_written_ = settled;
    }
    if (bytes != written_) {
        append("{\"bytes\":" + std::to_string(bytes) + "}");
        written_ = bytes;
    }
    if (const std::uint64_t end = end_.load(std::memory_order_acquire);
        !end_told_ && end != kUnknown) {
        append("{\"end\":" + std::to_string(end) + "}");
        end_told_ = true;
    }
}

} // namespace iio_stream::file
