// SPDX-License-Identifier: MIT
#include "file/journal.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <string>

namespace iio_stream::file {

namespace {

constexpr std::int64_t kEvery = 500'000'000;

// By hand, since nlohmann's destructors need memory: the journal is for bad times.
std::string line_of(const Gap& gap)
{
    const std::string most = gap.lost_max == kUnknown ? "null" : std::to_string(gap.lost_max);
    return "{\"gap\":[" + std::to_string(gap.offset_min) + "," + std::to_string(gap.offset_max) +
           "," + std::to_string(gap.lost_min) + "," + most + ",\"" + name_of(gap.evidence) + "\"]}";
}

} // namespace

std::string journal_path(const std::string& data_path)
{
    return data_path + ".journal";
}

Journal::Journal(std::string path, std::size_t sample_bytes)
    : path_(std::move(path)),
      fd_(sys::open_file(path_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666))
{
    sys::append_line(fd_.get(), path_,
                     "{\"iio_stream_journal\":1,\"sample_bytes\":" + std::to_string(sample_bytes) +
                         "}");
    thread_ = std::thread([this] { run(); });
}

Journal::~Journal()
{
    end();
}

void Journal::end() noexcept
{
    if (!thread_.joinable())
        return;
    stop_.set();
    thread_.join();
}

void Journal::remove() noexcept
{
    end();
    sys::remove_file(path_);
}

void Journal::gap(const Gap& gap) noexcept
{
    const std::size_t given = given_.load(std::memory_order_relaxed);
    if (given - taken_.load(std::memory_order_acquire) == kMax)
        return;
    gaps_[given % kMax] = gap;
    given_.store(given + 1, std::memory_order_release);
}

void Journal::run()
{
    sys::block_write_signals();
    try {
        while (!sys::wait_for(stop_.fd(), POLLIN, sys::after(kEvery)))
            write_news();
        write_news();
    } catch (const std::exception&) {
        // The disk is full or broken: the data's own writes tell of it. What is here stays true.
    }
}

void Journal::write_news()
{
    // Before the gaps: those of the bytes that it speaks of are among them then.
    const std::uint64_t bytes = bytes_.load(std::memory_order_acquire);
    bool news = false;
    const std::size_t given = given_.load(std::memory_order_acquire);
    for (std::size_t i = taken_.load(std::memory_order_relaxed); i != given; ++i, news = true) {
        sys::append_line(fd_.get(), path_, line_of(gaps_[i % kMax]));
        taken_.store(i + 1, std::memory_order_release);
    }
    if (bytes != written_) {
        sys::append_line(fd_.get(), path_, "{\"bytes\":" + std::to_string(bytes) + "}");
        written_ = bytes;
        news = true;
    }
    if (news)
        sys::sync_data(fd_.get(), path_);
}

} // namespace iio_stream::file
