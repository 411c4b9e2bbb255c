// SPDX-License-Identifier: MIT
#include "iio_stream/reader.hpp"
#include "losses.hpp"
#include "settings.hpp"
#include "stream.hpp"

#include <cerrno>
#include <optional>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace iio_stream::compat {

namespace {

using namespace std::chrono_literals;

/// Delivers a device's blocks in pieces of the length that the program has requested.
class Capture final : public Stream {
public:
    Capture(Layout layout, std::size_t samples)
        : Stream(std::move(layout)),
          length_(samples * layout_.format.sample_bytes),
          reader_({.source = layout_.endpoint(),
                   .block_size = layout_.gathered_bytes(length_),
                   .blocks = kernel_buffers_of(layout_.device) + 1, // the program holds one
                   .timeout = kNever}),
          losses_(iio_device_get_id(layout_.device), [this] { return reader_.stats(); })
    {
        losses_.begin(reader_.route());
        reader_.start(); // as with libiio, the capture starts now
    }
    ~Capture() override
    {
        let_go();
        ahead_.reset();
        losses_.end();
        try {
            losses_.report(reader_.close().stats);
        } catch (const Error&) { // there is nothing left to report it to
        }
        if (epoll_ >= 0) {
            ::close(epoll_);
            ::close(event_);
        }
    }

    ssize_t refill() override;
    ssize_t push(std::size_t) override { return -EPERM; }
    void cancel() noexcept override
    {
        cancelled_ = true;
        reader_.stop(); // wakes a waiting refill()
    }
    int poll_fd() override;

private:
    std::size_t rest() const noexcept; ///< bytes of the block after the program's piece
    ssize_t take_piece(std::span<const std::byte> bytes);
    void let_go() noexcept;
    void look_ahead();

    std::size_t length_; ///< bytes of a piece
    Reader reader_;
    Losses losses_;
    std::optional<Block> ahead_; ///< read in advance to know whether poll_fd() must be readable
    std::optional<Block> block_;
    std::optional<CpuRead> view_; ///< the CPU's access to block_
    int epoll_ = -1,
        event_ = -1; ///< epoll of the Reader's fd and of an eventfd for samples already read
};

std::size_t Capture::rest() const noexcept
{
    if (!view_)
        return 0;
    const auto* end = reinterpret_cast<const char*>(view_->bytes().data() + view_->bytes().size());
    return static_cast<std::size_t>(end - (samples_.data() + samples_.size()));
}

void Capture::let_go() noexcept
{
    samples_ = {};
    view_.reset();
    block_.reset();
}

// libiio lets programs write into captured samples, because its mapping is writable. On machines
// whose caches are not coherent, such a write can reach memory after the DMA's next samples.
ssize_t Capture::take_piece(std::span<const std::byte> bytes)
{
    auto* data = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    samples_ = {data, std::min(length_, bytes.size())};
    if (epoll_ >= 0)
        look_ahead();
    return static_cast<ssize_t>(samples_.size());
}

ssize_t Capture::refill()
try {
    if (cancelled_)
        return -EBADF;
    if (const std::size_t left = rest(); left > 0)
        return take_piece(view_->bytes().last(left));
    let_go();
    if (ahead_)
        block_ = std::exchange(ahead_, std::nullopt);
    else if (auto next = reader_.next(blocking_ ? timeout_of(layout_.device) : 0ns))
        block_ = std::move(*next);
    else
        return cancelled_ ? -EBADF : next.ended() ? -EIO : blocking_ ? -ETIMEDOUT : -EAGAIN;
    view_.emplace(*block_);
    return take_piece(view_->bytes());
} catch (const Error& error) {
    return cancelled_ ? -EBADF : -error.code().value();
}

// Reader::fd() is valid only after next() has returned nothing. libiio's descriptor is readable
// whenever there is a block, so this function reads one in advance and signals it.
void Capture::look_ahead()
{
    eventfd_t drained;
    (void)!eventfd_read(event_, &drained);
    if (rest() == 0 && !ahead_)
        if (auto next = reader_.next(0ns))
            ahead_ = std::move(*next);
    if (rest() > 0 || ahead_ || cancelled_)
        eventfd_write(event_, 1);
}

int Capture::poll_fd()
{
    if (epoll_ >= 0)
        return epoll_;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll_ < 0 || event_ < 0)
        return -errno;
    for (const int fd : {event_, reader_.fd()}) {
        epoll_event event{.events = EPOLLIN, .data = {}};
        epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    }
    try {
        look_ahead();
    } catch (const Error&) {
        eventfd_write(event_, 1); // refill() reports it
    }
    return epoll_;
}

} // namespace

std::unique_ptr<Stream> capture(Layout layout, std::size_t samples)
{
    return std::make_unique<Capture>(std::move(layout), samples);
}

} // namespace iio_stream::compat
