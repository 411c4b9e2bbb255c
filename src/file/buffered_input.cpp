// SPDX-License-Identifier: MIT
#include "file/input.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace iio_stream::file {

namespace {

class BufferedInput final : public Input {
public:
    BufferedInput(const OpenInput& file, std::size_t blocks)
        : file_(file), regular_(sys::is_regular(file.fd))
    {
        queue_.reset(blocks);
    }

    void submit(EmptyBlock block, std::size_t bytes) override
    {
        queue_.push({std::move(block), bytes});
    }
    Got take() override;
    Wait wait() override { return queue_.empty() ? Wait{} : Wait{file_.fd, POLLIN, 0, regular_}; }
    std::size_t pending() const noexcept override { return queue_.size(); }

private:
    bool read_more(detail::Order& empty);
    bool rewind();

    OpenInput file_;
    bool regular_, ended_ = false, any_ = false;
    std::size_t filled_ = 0; ///< bytes in the front block
    detail::Orders queue_;
};

bool BufferedInput::rewind()
{
    if (!file_.loop || !any_)
        return false; // an empty file would be read forever
    if (::lseek(file_.fd, 0, SEEK_SET) < 0)
        throw Error(Fault::storage, errno, "seek", file_.path, {}, "a pipe cannot loop");
    return true;
}

// Reads towards a full block; false if more has to be waited for.
bool BufferedInput::read_more(detail::Order& empty)
{
    const CpuWrite out{empty.block};
    while (filled_ < empty.bytes) {
        if (!regular_ && !sys::has_news(file_.fd))
            return false;
        const std::ptrdiff_t got = sys::read_some(
            file_.fd, file_.path, out.bytes().subspan(filled_, empty.bytes - filled_));
        if (got < 0)
            return false;
        filled_ += static_cast<std::size_t>(got);
        any_ = any_ || got > 0;
        if (got == 0 && !rewind()) {
            ended_ = true;
            return true;
        }
    }
    return true;
}

Got BufferedInput::take()
{
    if (ended_)
        return {std::nullopt, true};
    if (queue_.empty() || !read_more(queue_.front()))
        return {};
    if (filled_ == 0)
        return {std::nullopt, true};
    detail::Order order = queue_.pop();
    order.bytes = std::exchange(filled_, 0);
    return {std::move(order), ended_};
}

} // namespace

std::unique_ptr<Input> make_buffered_input(const OpenInput& file, std::size_t blocks)
{
    return std::make_unique<BufferedInput>(file, blocks);
}

} // namespace iio_stream::file
