// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <string>

namespace iio_stream::iio {

/// The open device and buffer files of a local buffer, which are one before Linux 5.11. Owns both;
/// the kernel lets nobody else open them meanwhile.
class BufferFile {
public:
    /// `device_id` is "iio:device0". Throws EBUSY with the holder's name where it can be found.
    BufferFile(const std::string& device_id, int index);

    int fd() const noexcept { return buffer_.valid() ? buffer_.get() : device_.get(); }
    const std::string& path() const noexcept { return path_; } ///< "/dev/iio:device0"
    /// 0 where the buffer takes DMABUFs, or the errno that the kernel says no with.
    int dmabuf_refusal() const noexcept { return dmabuf_refusal_; }

private:
    std::string path_;
    sys::UniqueFd device_;
    sys::UniqueFd buffer_; ///< invalid where the device's file is that of its only buffer
    int dmabuf_refusal_ = 0;
};

/// "the driver has no DMABUF support (EPERM)", in words a user can act on.
std::string dmabuf_refusal_text(int error);

} // namespace iio_stream::iio
