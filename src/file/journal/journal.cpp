// SPDX-License-Identifier: MIT
#include "file/journal/journal.hpp"

#include "core/loss/losses.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/named_thread.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <string>

namespace iio_stream::file {

namespace {

constexpr std::int64_t kEvery = 500'000'000;
constexpr int kTries = 5; ///< attempts of announce() within kEvery

// The lines are not made with nlohmann::json. Its destructor allocates, and would terminate the
// program when memory has run out, but the journal has to survive that case.
std::string line_of(const char* key, const std::string& value)
{
    return std::string("{\"") + key + "\":" + value + "}";
}

std::string line_of(const char* key, std::uint64_t value)
{
    return line_of(key, std::to_string(value));
}

std::string list_of(std::initializer_list<std::string> values)
{
    std::string list;
    for (const std::string& value : values)
        list += (list.empty() ? "[" : ",") + value;
    return list + "]";
}

std::string number_of(const std::optional<double>& value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value.value_or(0));
    return value ? text : "null";
}

std::string line_of(const Loss& loss)
{
    const Gap& gap = loss.gap;
    const std::string begin = std::to_string(gap.offset_min), end = std::to_string(gap.offset_max);
    if (loss.kind == Loss::Kind::filled)
        return line_of("zeros", list_of({begin, end}));
    return line_of(loss.kind == Loss::Kind::dropped ? "dropped" : "gap",
                   list_of({begin, end, std::to_string(gap.lost_min),
                            gap.lost_max == kUnknown ? "null" : std::to_string(gap.lost_max),
                            std::string("\"") + name_of(gap.evidence) + "\""}));
}

// A retuning that ends before the file's first sample applies to all samples.
std::string line_of(const Retuned& retuned)
{
    const Settings& s = retuned.settings;
    const std::string frequency = number_of(s.frequency), gain = number_of(s.gain),
                      bandwidth = number_of(s.bandwidth), rate = number_of(s.rate);
    if (retuned.end == 0)
        return line_of("settings", list_of({frequency, gain, bandwidth, rate}));
    return line_of("retuned", list_of({std::to_string(retuned.begin), std::to_string(retuned.end),
                                       frequency, gain, bandwidth, rate}));
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
        unsynced_ = false; // the next sync covers this line too: do not wait for a slow disk now
        thread_ = std::thread([this] {
            const sys::NamedThread name("iios-journal");
            run();
        });
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

void Journal::add_loss(const Loss& loss) noexcept
{
    if (waiting_ && losses_.push(*waiting_))
        waiting_.reset();
    if (waiting_) {
        waiting_->gap = detail::merged(waiting_->gap, loss.gap);
        waiting_->kind = Loss::Kind::gap;
    } else if (!losses_.push(loss)) {
        waiting_ = loss;
    }
}

void Journal::add_retuning(const Retuned& retuned) noexcept
{
    if (retuned_waiting_ && retunings_.push(*retuned_waiting_))
        retuned_waiting_.reset();
    if (retuned_waiting_)
        retuned_waiting_ = {
            std::min(retuned_waiting_->begin, retuned.begin), retuned.end, retuned.settings, {}};
    else if (!retunings_.push(retuned))
        retuned_waiting_ = retuned;
}

void Journal::set_retunings_final_before(std::uint64_t samples) noexcept
{
    if (retuned_waiting_ && !retunings_.push(*retuned_waiting_))
        return;
    retuned_waiting_.reset();
    retunings_final_.store(samples, std::memory_order_release);
}

void Journal::note(std::uint64_t bytes) noexcept
{
    if (waiting_ && !losses_.push(*waiting_))
        return;
    waiting_.reset();
    bytes_.store(bytes, std::memory_order_release);
}

void Journal::set_losses_final_before(std::uint64_t samples) noexcept
{
    if (!waiting_)
        losses_final_.store(samples, std::memory_order_release);
}

// Tries again, so that a disk that is briefly full does not end a recording.
void Journal::announce(const PartStart& start)
{
    for (int left = kTries - 1;; --left) {
        try {
            const std::lock_guard lock(mutex_);
            start_written_ = start_written_ && start == start_;
            start_ = start;
            write_changes();
            sync();
            return;
        } catch (const Error&) {
            if (left == 0)
                throw;
        }
        std::this_thread::sleep_for(std::chrono::nanoseconds(kEvery / kTries));
    }
}

void Journal::set_start(const PartStart& start) noexcept
{
    if (start == start_)
        return;
    try {
        const std::lock_guard lock(mutex_);
        start_ = start;
        start_written_ = false;
        write_changes();
    } catch (const std::exception&) { // the next tick tries again
    }
    wake_.set();
}

void Journal::write_start()
{
    if (start_written_)
        return;
    std::string first = list_of({std::to_string(start_.index), start_.exact ? "true" : "false"});
    if (start_.bytes_before != 0)
        first += ",\"bytes_before\":" + std::to_string(start_.bytes_before);
    append(line_of("first", first));
    start_written_ = true;
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

// Ignores errors. A disk that is full now may have space at the next tick, and nothing is discarded
// before it is written. If the disk is broken, writing the data reports it.
void Journal::try_to_write() noexcept
{
    try {
        const std::lock_guard lock(mutex_);
        write_changes();
        sync();
    } catch (const std::exception&) {
    }
}

// Removes the remains of a failed write, because they would hide all lines after them.
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

// An item leaves its queue only after its line has been written. Items that arrive meanwhile wait
// for the next tick.
template <typename Item>
void Journal::append_all(detail::SpscQueue<Item>& queue)
{
    for (std::size_t left = queue.size(); left > 0; --left) {
        append(line_of(*queue.front()));
        (void)queue.pop();
    }
}

void Journal::write_changes()
{
    // These counters are read before the losses, so that the losses among these bytes are in the
    // queue.
    const std::uint64_t bytes = bytes_.load(std::memory_order_acquire);
    const std::uint64_t losses_final = losses_final_.load(std::memory_order_acquire);
    const std::uint64_t tuned = retunings_final_.load(std::memory_order_acquire);
    write_start();
    append_all(losses_);
    append_all(retunings_);
    if (tuned != retunings_final_written_) {
        append(line_of("tuned", tuned));
        retunings_final_written_ = tuned;
    }
    if (losses_final !=
        losses_final_written_) { // before "bytes", which otherwise implies losses_final
        append(line_of("losses_final", losses_final));
        losses_final_written_ = losses_final;
    }
    if (bytes != written_) {
        append(line_of("bytes", bytes));
        written_ = bytes;
    }
    if (const std::uint64_t end = end_.load(std::memory_order_acquire);
        !end_written_ && end != kUnknown) {
        append(line_of("end", end));
        end_written_ = true;
    }
}

} // namespace iio_stream::file
