// SPDX-License-Identifier: MIT
#include "file/io/input.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace iio_stream::file {

namespace {

class BufferedInput final : public Input {
public:
    BufferedInput(const OpenInput& file, const BlockPool& pool, const Format& format)
        : file_(file), sample_bytes_(format.sample_bytes), regular_(sys::is_regular(file.fd))
    {
        queue_.reset(pool.count());
        deadline_.reset(format, pool);
    }

    void submit(EmptyBlock block, std::size_t bytes) override
    {
        queue_.push({std::move(block), bytes});
    }
    Got take() override;
    Wait wait() override
    {
        return queue_.empty() ? Wait{} : Wait{file_.fd, POLLIN, deadline_.until_ns(), regular_};
    }
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool flush() override { return flushing_ = !regular_; }

private:
    bool read_more(detail::FillRequest& empty);
    bool try_read_more();
    bool skip_header(std::span<std::byte> scratch);
    bool rewind();
    void seek(std::uint64_t at);
    std::size_t room(std::size_t left);
    std::size_t whole() const noexcept { return filled_ - filled_ % sample_bytes_; }
    Got take_part(std::size_t bytes);

    OpenInput file_;
    std::size_t sample_bytes_;
    bool regular_, ended_ = false, any_ = false;
    bool flushing_ = false;           ///< hand out partly filled blocks, too
    std::size_t filled_ = 0;          ///< bytes in the front block
    std::size_t range_ = 0;           ///< number of the range being read
    std::uint64_t done_ = 0;          ///< bytes of that range that have been read
    bool sought_ = false;             ///< the file is positioned in that range
    std::uint64_t skip_ = file_.skip; ///< bytes still to be read before the first sample
    detail::FillDeadline deadline_;
    detail::FillQueue queue_;
};

bool BufferedInput::rewind()
{
    if (!file_.loop || !any_)
        return false; // an empty file would be read forever
    seek(0);
    range_ = done_ = 0;
    sought_ = false;
    return true;
}

void BufferedInput::seek(std::uint64_t at)
{
    if (::lseek(file_.fd, static_cast<off_t>(at), SEEK_SET) < 0)
        throw Error(Fault::storage, errno, "seek", file_.path, {}, "a pipe cannot loop");
}

// How many of `left` bytes to read next; 0 if the file has no more samples.
std::size_t BufferedInput::room(std::size_t left)
{
    if (!file_.ranges)
        return left;
    const std::vector<ByteRange>& ranges = *file_.ranges;
    if (range_ < ranges.size() && done_ == ranges[range_].bytes()) {
        ++range_;
        done_ = 0;
        sought_ = false;
    }
    if (range_ == ranges.size())
        return 0;
    const ByteRange& range = ranges[range_];
    if (!std::exchange(sought_, true))
        seek(range.begin);
    return static_cast<std::size_t>(std::min<std::uint64_t>(left, range.bytes() - done_));
}

// Skips the bytes before a pipe's first sample. Returns false if it has to wait for more bytes.
bool BufferedInput::skip_header(std::span<std::byte> scratch)
{
    while (skip_ != 0) {
        if (!regular_ && !sys::has_news(file_.fd))
            return false;
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, scratch.size()));
        const std::ptrdiff_t got = sys::read_some(file_.fd, file_.path, scratch.first(most));
        if (got < 0)
            return false;
        if (got == 0)
            throw Error(Fault::storage, ENODATA, "read", file_.path,
                        "it ends " + std::to_string(skip_) + " bytes before its samples begin",
                        "is skip= right?");
        skip_ -= static_cast<std::uint64_t>(got);
    }
    return true;
}

// Continues to fill the block. Returns false if it has to wait for more bytes.
bool BufferedInput::read_more(detail::FillRequest& empty)
{
    const CpuWrite out{empty.block};
    if (!skip_header(out.bytes()))
        return false;
    if (filled_ == 0)
        filled_ = deadline_.begin_block(out.bytes());
    while (filled_ < empty.bytes) {
        if (!regular_ && !sys::has_news(file_.fd))
            return false;
        const std::size_t most = room(empty.bytes - filled_);
        const std::ptrdiff_t got =
            most == 0 ? 0
                      : sys::read_some(file_.fd, file_.path, out.bytes().subspan(filled_, most));
        if (got < 0)
            return false;
        filled_ += static_cast<std::size_t>(got);
        done_ += static_cast<std::uint64_t>(got);
        any_ = any_ || got > 0;
        if (got == 0 && !rewind()) {
            ended_ = true;
            return true;
        }
    }
    return true;
}

// At the end of a stream, the samples that have arrived matter more than an error.
bool BufferedInput::try_read_more()
{
    try {
        return read_more(queue_.front());
    } catch (const Error&) {
        if (!flushing_ || whole() == 0)
            throw;
        return false;
    }
}

// Hands out the first `bytes` of the front block. The rest, such as the start of a sample, begins
// the next block.
Got BufferedInput::take_part(std::size_t bytes)
{
    if (bytes == 0)
        return {};
    detail::FillRequest order = queue_.pop();
    order.bytes = bytes;
    {
        const CpuWrite block{order.block};
        deadline_.keep(block.bytes().first(filled_).subspan(bytes));
    }
    filled_ = 0;
    return {std::move(order), false};
}

Got BufferedInput::take()
{
    if (ended_)
        return {std::nullopt, true};
    if (queue_.empty())
        return {};
    if (!try_read_more()) {
        deadline_.filled(whole());
        return take_part(flushing_ ? whole() : deadline_.due());
    }
    deadline_.filled(0);
    if (filled_ == 0)
        return {std::nullopt, true};
    detail::FillRequest order = queue_.pop();
    order.bytes = std::exchange(filled_, 0);
    return {std::move(order), ended_};
}

} // namespace

std::unique_ptr<Input> make_buffered_input(const OpenInput& file, const BlockPool& pool,
                                           const Format& format)
{
    return std::make_unique<BufferedInput>(file, pool, format);
}

} // namespace iio_stream::file
