// SPDX-License-Identifier: MIT
#include "iio_stream/writer.hpp"
#include "losses.hpp"
#include "settings.hpp"
#include "stream.hpp"

#include <cerrno>
#include <vector>

namespace iio_stream::compat {

namespace {

using namespace std::chrono_literals;

/// Plays a program's samples on a device. push() copies the program's buffer into blocks, as
/// libiio's write() does. The buffer must not change, because some programs fill it once and push
/// it repeatedly.
class Playback final : public Stream {
public:
    Playback(Layout layout, std::size_t samples, bool cyclic)
        : Stream(std::move(layout)),
          buffer_(samples * layout_.format.sample_bytes),
          writer_({.sinks = {endpoint(cyclic)},
                   .block_size = layout_.whole_bytes(buffer_.size()),
                   .blocks = std::max(2u, kernel_buffers_of(layout_.device)),
                   .timeout = kNever},
                  layout_.format),
          losses_(iio_device_get_id(layout_.device), [this] { return writer_.stats(); }),
          cyclic_(cyclic)
    {
        samples_ = {buffer_.data(), buffer_.size()};
        losses_.begin(writer_.route());
        if (!cyclic_)
            writer_.start();
    }
    ~Playback() override
    {
        losses_.end();
        if (cyclic_ && !repeats_)
            return; // the stream has not started
        try {
            writer_.stop(); // like libiio, does not wait until the samples are played
            losses_.report(writer_.close().stats);
        } catch (const Error&) { // there is nothing left to report it to
        }
    }

    ssize_t refill() override { return -EPERM; }
    ssize_t push(std::size_t bytes) override;
    void cancel() noexcept override
    {
        cancelled_ = true;
        writer_.stop();
    }
    int poll_fd() override { return writer_.fd(); }

private:
    Uri endpoint(bool cyclic) const
    {
        Uri uri = layout_.endpoint();
        uri.options.set("powerdown", "keep"); // as with libiio, the program controls it
        if (cyclic)
            uri.options.set("cyclic", "on");
        return uri;
    }

    std::vector<char> buffer_;
    Writer writer_;
    Losses losses_;
    bool cyclic_, repeats_ = false;
    std::size_t begun_ = 0; ///< bytes that an incomplete push() has already written
};

ssize_t Playback::push(std::size_t bytes)
try {
    if (cancelled_)
        return -EBADF;
    if (repeats_)
        return -EBUSY;
    const std::span wanted = std::as_bytes(std::span(buffer_)).first(bytes).subspan(begun_);
    const std::size_t written = writer_.write(wanted, blocking_ ? timeout_of(layout_.device) : 0ns);
    if (written < wanted.size()) {
        begun_ += written; // the next push() continues with the same samples
        return cancelled_ ? -EBADF : blocking_ ? -ETIMEDOUT : -EAGAIN;
    }
    begun_ = 0;
    if (cyclic_) {
        writer_.end();
        repeats_ = true;
    }
    return static_cast<ssize_t>(bytes);
} catch (const Error& error) {
    return cancelled_ ? -EBADF : -error.code().value();
}

} // namespace

std::unique_ptr<Stream> playback(Layout layout, std::size_t samples, bool cyclic)
{
    return std::make_unique<Playback>(std::move(layout), samples, cyclic);
}

} // namespace iio_stream::compat
