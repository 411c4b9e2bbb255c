// SPDX-License-Identifier: MIT
#include "iio/buffer/fileio_order.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <poll.h>
#include <vector>

namespace iio_stream::iio {

namespace {

constexpr std::int64_t kDeadline = 2'000'000'000;
constexpr int kTries = 10;
/// After another program has used DMABUFs, the buffer might deliver no data in the first check; it
/// does in the next.
constexpr int kTriesWithoutData = 2;

/// The index before a check. A check that takes a block advances the index by one.
enum class Index { first, second, unknown, no_data };

/// Streams for a moment to find out which block read() takes first.
class ReadOrderProbe {
public:
    ReadOrderProbe(BufferDir& dir, const BufferFile& file, const Format& format)
        : dir_(dir), file_(file), sample_(format.sample_bytes)
    {}

    Index find_index(std::size_t block_size)
    {
        begin(block_size);
        Index found = Index::no_data;
        if (sys::wait_for(file_.fd(), POLLIN, deadline_)) {
            if (!take())
                found = Index::second; // a block is full, but not the one whose turn it is
            else                       // the only full block was taken, or the index is unknown
                found = dir_.data_available() <= block_size ? Index::first : Index::unknown;
        }
        dir_.disable();
        return found;
    }

    /// Takes one block, whichever it is. Returns false if none arrives.
    bool take_one(std::size_t block_size)
    {
        begin(block_size);
        bool taken = false;
        // poll() always reports that data is ready.
        while (!(taken = take()) && sys::monotonic_ns() < deadline_)
            (void)sys::wait_for(-1, 0, sys::monotonic_ns() + 1'000'000);
        dir_.disable();
        return taken;
    }

private:
    void begin(std::size_t block_size)
    {
        (void)dir_.set_length(2 * (block_size / sample_));
        deadline_ = sys::monotonic_ns() + kDeadline;
        dir_.enable();
    }

    bool take()
    {
        return sys::read_some(file_.fd(), file_.path(), std::span(scratch_).first(sample_)) > 0;
    }

    BufferDir& dir_;
    const BufferFile& file_;
    std::size_t sample_;
    std::int64_t deadline_ = 0;
    std::array<std::byte, 4096> scratch_;
};

} // namespace

bool ensure_read_order(BufferDir& dir, const BufferFile& file, const Format& format,
                       std::size_t block_size)
{
    ReadOrderProbe probe(dir, file, format);
    const std::size_t sample = format.sample_bytes;
    int without_data = 0;
    for (int attempt = 0; attempt < kTries; ++attempt) {
        const std::size_t bytes = std::max(block_size / sample, std::size_t{1}) * sample;
        const Index index = probe.find_index(bytes);
        // If the index was at the second block, taking one block moves it to the first. If it was
        // at the first block, the check itself has advanced it, and taking one block moves it back.
        if (index == Index::first || index == Index::second)
            return probe.take_one(bytes);
        if (index == Index::no_data && ++without_data == kTriesWithoutData)
            return false; // the stream will run into its own deadline
        block_size = std::min(4 * block_size, kMaxKernelBlock);
    }
    return false;
}

} // namespace iio_stream::iio
