// SPDX-License-Identifier: MIT
#include "serve/wire.hpp"

#include "sys/event.hpp"
#include "sys/network/tcp.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>

namespace iio_stream::serve {

Wire::Wire(sys::UniqueFd fd, int stop, bool in_place)
    : fd_(std::move(fd)), in_place_(in_place), stop_(stop), peer_(sys::peer_of(fd_.get()))
{
    sys::configure_connection(fd_.get(), kSilenceNs);
}

Wire::~Wire()
{
    if (zero_copy_)
        zero_copy_->abandon();
}

sys::ZeroCopy& Wire::zero_copy()
{
    return zero_copy_ ? *zero_copy_ : zero_copy_.emplace(fd_.get(), in_place_);
}

std::string Wire::host() const
{
    return peer_.substr(0, peer_.rfind(':'));
}

void Wire::fail_disconnected(int error, const char* operation) const
{
    throw Disconnected(Fault::other, error, operation, peer_);
}

void Wire::wait(short events, std::int64_t deadline_ns)
{
    for (;;) {
        pollfd fds[] = {{fd_.get(), events, 0}, {stop_, POLLIN, 0}, {completions_fd(), POLLIN, 0}};
        if (!sys::wait_for(fds, deadline_ns))
            fail_disconnected(ETIMEDOUT, "wait for");
        if (fds[1].revents != 0)
            fail_disconnected(ECANCELED, "serve");
        if (fds[2].revents != 0)
            zero_copy_->read_completions();
        if (fds[0].revents != 0)
            return;
    }
}

bool Wire::await(int ready, std::int64_t deadline_ns)
{
    for (;;) {
        pollfd fds[] = {{ready, POLLIN, 0},
                        {fd_.get(), POLLRDHUP, 0},
                        {stop_, POLLIN, 0},
                        {completions_fd(), POLLIN, 0}};
        if (!sys::wait_for(fds, deadline_ns))
            return false;
        if (fds[3].revents != 0)
            zero_copy_->read_completions(); // can free the block that the caller waits for
        if (fds[1].revents != 0 || fds[2].revents != 0)
            fail_disconnected(fds[2].revents != 0 ? ECANCELED : ECONNRESET, "serve");
        if (fds[0].revents != 0)
            return true;
    }
}

std::size_t Wire::receive_some(std::span<std::byte> bytes, std::int64_t deadline_ns)
{
    for (;;) {
        wait(POLLIN, deadline_ns);
        const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got >= 0)
            return static_cast<std::size_t>(got);
        if (errno != EAGAIN && errno != EINTR)
            fail_disconnected(errno, "receive from");
    }
}

std::optional<std::string> Wire::line()
{
    // A client can be silent without limit between two lines, but not within a line.
    std::int64_t deadline = INT64_MAX;
    std::size_t searched = begin_;
    for (;;) {
        const auto* newline =
            std::find(input_.data() + searched, input_.data() + end_, std::byte{'\n'});
        const auto at = static_cast<std::size_t>(newline - input_.data());
        if (at < end_) {
            std::string text(reinterpret_cast<const char*>(input_.data()) + begin_, at - begin_);
            begin_ = at + 1;
            return text;
        }
        std::copy(input_.data() + begin_, input_.data() + end_, input_.data());
        end_ -= begin_;
        begin_ = 0;
        searched = end_;
        if (end_ == input_.size())
            fail_disconnected(E2BIG, "read a line from");
        if (end_ > 0 && deadline == INT64_MAX)
            deadline = sys::after(kSilenceNs);
        const std::size_t got = receive_some(std::span(input_).subspan(end_), deadline);
        if (got == 0)
            return std::nullopt;
        end_ += got;
    }
}

void Wire::receive(std::span<std::byte> bytes, std::int64_t deadline_ns)
{
    const std::size_t here = std::min(bytes.size(), end_ - begin_);
    std::copy_n(input_.data() + begin_, here, bytes.data());
    begin_ += here;
    for (bytes = bytes.subspan(here); !bytes.empty();) {
        const std::size_t got = receive_some(bytes, std::min(deadline_ns, sys::after(kSilenceNs)));
        if (got == 0)
            fail_disconnected(ECONNRESET, "receive from");
        bytes = bytes.subspan(got);
    }
}

void Wire::send(std::string_view text, std::span<const std::byte> bytes, int flags)
{
    while (!text.empty() || !bytes.empty()) {
        iovec parts[] = {{const_cast<char*>(text.data()), text.size()},
                         {const_cast<std::byte*>(bytes.data()), bytes.size()}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        const ssize_t sent = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL | flags);
        if (!has_sent(sent))
            continue;
        const std::size_t of_text = std::min(text.size(), static_cast<std::size_t>(sent));
        text.remove_prefix(of_text);
        bytes = bytes.subspan(static_cast<std::size_t>(sent) - of_text);
    }
}

// A client that acknowledges bytes, however slowly, stays connected.
template <typename Done>
void Wire::await_kernel(Done done)
{
    constexpr std::int64_t kLookNs = 1'000'000'000;
    zero_copy_->read_completions();
    if (done())
        return;
    std::int64_t deadline = sys::after(kSilenceNs);
    std::uint64_t taken = sys::acknowledged(fd_.get());
    for (; !done(); zero_copy_->read_completions()) {
        pollfd fds[] = {{fd_.get(), 0, 0}, {stop_, POLLIN, 0}, {completions_fd(), POLLIN, 0}};
        (void)sys::wait_for(fds, sys::after(kLookNs));
        if (fds[1].revents != 0)
            fail_disconnected(ECANCELED, "serve");
        if (fds[0].revents != 0)
            fail_disconnected(ECONNRESET, "send to");
        if (const std::uint64_t now = sys::acknowledged(fd_.get()); now != taken) {
            taken = now;
            deadline = sys::after(kSilenceNs);
        }
        if (sys::monotonic_ns() >= deadline)
            fail_disconnected(ETIMEDOUT, "wait for");
    }
}

void Wire::send_in_place(std::string_view text, std::span<const std::byte> bytes,
                         const sys::ZeroCopy::Buffer& buffer, const sys::Lease& lease)
{
    if (bytes.size() < sys::ZeroCopy::kFewestBytes || !zero_copy().is_on())
        return send(text, bytes);
    send(text, {}, MSG_MORE);
    while (!bytes.empty() && zero_copy_->is_on()) {
        zero_copy_->start(bytes, buffer, lease);
        await_kernel([&] { return zero_copy_->result().has_value(); });
        const int result = *zero_copy_->result();
        if (result > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(result));
        else if (result == -ENOMEM || result == -ENOBUFS)
            await_kernel([&] { return zero_copy_->held() == 0; });
        else if (zero_copy_->is_on())
            fail_disconnected(-result, "send to");
    }
    send({}, bytes);
}

void Wire::await_kernel_releases(std::size_t most)
{
    if (zero_copy_)
        await_kernel([&] { return zero_copy_->held() <= most; });
}

void Wire::forget_buffers()
{
    if (zero_copy_)
        zero_copy_->forget();
}

// Evaluates the result of the last sendmsg(). Returns false if the call has to be repeated.
bool Wire::has_sent(ssize_t sent)
{
    if (sent < 0 && errno == EAGAIN)
        wait(POLLOUT, sys::after(kSilenceNs));
    else if (sent < 0 && errno != EINTR)
        fail_disconnected(errno, "send to");
    return sent > 0;
}

} // namespace iio_stream::serve
