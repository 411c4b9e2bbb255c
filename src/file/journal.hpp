// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/event.hpp"
#include "sys/unique_fd.hpp"

#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace iio_stream::file {

/// Where the journal of a data file lies.
std::string journal_path(const std::string& data_path);

/// Tells, beside a data file that is longer than what was written to it, how much of it is valid,
/// and which losses it has: for `iio-stream recover`, should this program not live to its end. One
/// JSON object per line; the last may be torn:
///
///     {"iio_stream_journal":1,"sample_bytes":4}
///     {"gap":[offset_min,offset_max,lost_min,lost_max,"overflow-bit"]}
///     {"bytes":1048576}
///
/// Each line is on the disk before the next is written, and with it, since file systems commit in
/// order, the data's own places that it speaks of.
/// Thread: note(), gap() and remove() of one; a thread of its own does the writing.
class Journal {
public:
    Journal(std::string path, std::size_t sample_bytes);
    Journal(const Journal&) = delete;
    ~Journal(); ///< the journal stays

    void note(std::uint64_t bytes) noexcept { bytes_.store(bytes, std::memory_order_relaxed); }
    /// Losses that come faster than the disk takes them are not all in the journal.
    void gap(const Gap& gap) noexcept;
    /// The data file is what it should be.
    void remove() noexcept;

private:
    static constexpr std::size_t kMax = 256;

    void run();
    void write_news();
    void end() noexcept;

    std::string path_;
    sys::UniqueFd fd_;
    std::atomic<std::uint64_t> bytes_{0};
    std::array<Gap, kMax> gaps_{};
    std::atomic<std::size_t> given_{0}, taken_{0};
    std::uint64_t written_ = 0; ///< the journal's own thread's
    sys::Event stop_;
    std::thread thread_;
};

} // namespace iio_stream::file
