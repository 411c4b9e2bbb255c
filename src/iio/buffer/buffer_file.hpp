// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::iio {

/// The open device and buffer files of a local buffer; before Linux 5.11 they are the same file.
/// Owns both; while they are open, the kernel does not let other programs open them.
class BufferFile {
public:
    /// Whether the kernel offers blocks of its own memory in place of DMABUFs.
    enum class Blocks {
        none,
        usable, ///< offered, as far as there is memory for them
        /// Offered, but the kernel keeps the block of an earlier read() or write() and makes no
        /// others.
        busy
    };

    /// `device_id` is an id such as "iio:device0". While the device is in use, waits for up to
    /// `wait_ns`, because a program that inspects it (`info`, `doctor`) holds it open for a moment.
    /// Throws EBUSY if the device is still in use after that, with the holder's name if it can be
    /// found. If the buffer takes no DMABUFs and a killed program has left it enabled, switches it
    /// off.
    BufferFile(const std::string& device_id, int index, std::int64_t wait_ns);

    int fd() const noexcept { return buffer_.valid() ? buffer_.get() : device_.get(); }
    const std::string& path() const noexcept { return path_; } ///< "/dev/iio:device0"
    /// Returns 0 if the buffer takes DMABUFs, otherwise the errno of the kernel's refusal.
    int dmabuf_refusal() const noexcept { return dmabuf_refusal_; }
    /// The constructor determines this by making a block, and only if the buffer takes no DMABUFs.
    /// If the kernel has blocks, read() and write() are dangerous (docs/kernels.md).
    Blocks blocks() const noexcept { return blocks_; }
    /// Throws EBUSY if the kernel offers blocks of its own but makes none now.
    void require_blocks() const;

private:
    void open(int index);
    void spare_other_stream() const;
    void find_blocks();

    std::string path_;
    std::string enable_; ///< path of the buffer's enable file
    sys::UniqueFd device_;
    sys::UniqueFd buffer_; ///< invalid if device_ is also the file of its only buffer
    int dmabuf_refusal_ = 0;
    Blocks blocks_ = Blocks::none;
};

/// Returns text such as "in use by process 1234 iiod" about the programs that use `path`
/// ("/dev/iio:device0"). Programs that cannot be found are left out.
std::string in_use_text(const std::string& path);

/// Whether a buffer is enabled. If it is, a program is streaming through it, or was killed while
/// streaming.
bool is_enabled(const std::string& device_id, int index);

/// How long a stream waits for a device that is in use.
inline constexpr std::int64_t kInUseWaitNs = 500'000'000;

/// Explains an errno of dmabuf_refusal() in words that a user can act on; "" for 0.
std::string dmabuf_refusal_text(int error);
/// Returns why the buffer takes no DMABUFs; "" if it takes them.
std::string why_no_dmabufs(const BufferFile& file);
/// The reason if the kernel offers blocks of its own in place of DMABUFs.
inline constexpr const char* kHasBlocks =
    "the kernel offers blocks of its own in place of DMABUFs (CONFIG_IIO_DMA_BUF_MMAP_LEGACY)";

} // namespace iio_stream::iio
