// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::usb {

/// Size of one read or write, if blocks are copied. FunctionFS allocates this much memory for each
/// of them.
inline constexpr std::size_t kPiece = 64 * 1024;

/// Attaches the whole pool. Returns 0 or an errno. EAGAIN: events of ep0 have to be handled first.
/// EIO or ENOMEM: these blocks cannot be mapped. EFAULT: the kernel bounces them or might do so.
/// Any other errno: the controller refuses DMABUFs. Throws Error for any other failure. If `fresh`,
/// the blocks are checked for bouncing, which overwrites them.
int attach_all(int endpoint_fd, const std::string& path, const BlockPool& pool, int happened_fd,
               bool fresh);

/// Returns whether the error concerns the endpoint rather than one request: the cable is
/// disconnected, or the file is closed.
bool is_endpoints(int error) noexcept;

/// The state of a DMABUF's transfer.
struct Transferred {
    bool ended = false;
    int error = 0;
    bool unverified = false; ///< its status was lost before it could be read
};

/// The fence of a DMABUF's last transfer.
class TransferFence {
public:
    /// Calls FUNCTIONFS_DMABUF_TRANSFER. The events of ep0 must have been read. Returns 0, or the
    /// errno of a disabled endpoint.
    int transfer(int endpoint_fd, const std::string& path, int dmabuf_fd, std::size_t bytes);
    /// `last_end_ns` is the time at which the endpoint's previous transfer ended; poll() updates
    /// it. Transfers end in order.
    Transferred poll(std::int64_t& last_end_ns) const;
    int fd() const noexcept { return fence_.get(); }
    void close() noexcept { fence_ = {}; }

private:
    sys::UniqueFd fence_;
    std::int64_t asked_ns_ = 0;    ///< time before the TRANSFER
    std::int64_t exported_ns_ = 0; ///< time after the fence was exported
};

} // namespace iio_stream::usb
