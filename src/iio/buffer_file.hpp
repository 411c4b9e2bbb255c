// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::iio {

/// The open device and buffer files of a local buffer; before Linux 5.11 they are the same file.
/// Owns both; meanwhile the kernel lets no one else open them.
class BufferFile {
public:
    /// `device_id` is "iio:device0". Throws EBUSY, with the holder's name if it can be found, after it was in use
    /// for `wait_ns`: a program that inspects the device (`info`, `doctor`) has it open for a moment.
    BufferFile(const std::string& device_id, int index, std::int64_t wait_ns);

    int fd() const noexcept { return buffer_.valid() ? buffer_.get() : device_.get(); }
    const std::string& path() const noexcept { return path_; } ///< "/dev/iio:device0"
    /// 0 if the buffer takes DMABUFs, otherwise the errno of the kernel's refusal.
    int dmabuf_refusal() const noexcept { return dmabuf_refusal_; }

private:
    void open(int index);

    std::string path_;
    sys::UniqueFd device_;
    sys::UniqueFd buffer_; ///< invalid if the device file is that of its only buffer
    int dmabuf_refusal_ = 0;
};

/// How long a stream waits for a device that is in use.
inline constexpr std::int64_t kLookedAtNs = 500'000'000;

/// "the driver has no DMABUF support (EPERM)", in words a user can act on.
std::string dmabuf_refusal_text(int error);

} // namespace iio_stream::iio
