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
    /// Whether the kernel offers blocks of its own memory in place of DMABUFs.
    enum class Blocks {
        none,
        usable, ///< it does, as far as it has memory for them
        busy    ///< it does, but keeps a block of an earlier read() or write() and makes no others
    };

    /// `device_id` is "iio:device0". Throws EBUSY, with the holder's name if it can be found, after
    /// it was in use for `wait_ns`: a program that inspects the device (`info`, `doctor`) has it
    /// open for a moment. Switches off a buffer that a killed program has left enabled.
    BufferFile(const std::string& device_id, int index, std::int64_t wait_ns);

    int fd() const noexcept { return buffer_.valid() ? buffer_.get() : device_.get(); }
    const std::string& path() const noexcept { return path_; } ///< "/dev/iio:device0"
    /// 0 if the buffer takes DMABUFs, otherwise the errno of the kernel's refusal.
    int dmabuf_refusal() const noexcept { return dmabuf_refusal_; }
    /// Found out by making a block, when this was opened: only where the buffer takes no DMABUFs,
    /// and not of a buffer that was enabled. Where there are blocks, read() and write() are
    /// dangerous: docs/kernels.md.
    Blocks blocks() const noexcept { return blocks_; }
    /// Throws EBUSY if the kernel offers blocks of its own but makes none now.
    void require_blocks() const;

private:
    void open(int index);
    void spare_other_stream() const;
    void find_blocks();

    std::string path_;
    std::string enable_; ///< the buffer's file of that name
    sys::UniqueFd device_;
    sys::UniqueFd buffer_; ///< invalid if the device file is that of its only buffer
    int dmabuf_refusal_ = 0;
    Blocks blocks_ = Blocks::none;
};

/// "in use by process 1234 iiod", with what can be found out about who uses "/dev/iio:device0".
std::string in_use_text(const std::string& path);

/// Whether a buffer is enabled, which means that a program streams from it, or that one was killed.
bool is_enabled(const std::string& device_id, int index);

/// How long a stream waits for a device that is in use.
inline constexpr std::int64_t kInUseWaitNs = 500'000'000;

/// "the driver has no DMABUF support (EPERM)", in words a user can act on.
std::string dmabuf_refusal_text(int error);
/// Why the buffer takes no DMABUFs; "" if it does.
std::string why_no_dmabufs(const BufferFile& file);
/// The same where the kernel offers blocks of its own in their place.
inline constexpr const char* kHasBlocks =
    "the kernel offers blocks of its own in place of DMABUFs (CONFIG_IIO_DMA_BUF_MMAP_LEGACY)";

} // namespace iio_stream::iio
