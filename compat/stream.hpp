// SPDX-License-Identifier: MIT
#pragma once

#include "layout.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <sys/types.h>

namespace iio_stream::compat {

/// The implementation of one of the program's buffers. As in libiio, errors are negative errno
/// values. Thread: one at a time; cancel() on any.
class Stream {
public:
    explicit Stream(Layout layout) : layout_(std::move(layout)) {}
    virtual ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    const Layout& layout() const noexcept { return layout_; }
    /// The samples that the program can access.
    std::span<char> samples() const noexcept { return samples_; }
    void set_blocking(bool blocking) noexcept { blocking_ = blocking; }

    virtual ssize_t refill() = 0;
    virtual ssize_t push(std::size_t bytes) = 0;
    virtual void cancel() noexcept = 0;
    virtual int poll_fd() = 0;

protected:
    Layout layout_;
    std::span<char> samples_;
    bool blocking_ = true;
    std::atomic<bool> cancelled_ = false;
};

/// The engine's deadline for a block, which never expires in practice. The program's timeout
/// applies to refill() and push().
inline constexpr std::chrono::nanoseconds kNever = std::chrono::hours(24 * 365);

/// Make buffers of `samples` samples, filled by the device or played by it. Throw Error.
std::unique_ptr<Stream> capture(Layout layout, std::size_t samples);
std::unique_ptr<Stream> playback(Layout layout, std::size_t samples, bool cyclic);

} // namespace iio_stream::compat
