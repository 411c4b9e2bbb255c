// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::usb {

/// Size of the pieces of a copy: FunctionFS allocates as much for each read and write.
inline constexpr std::size_t kPiece = 64 * 1024;

/// Attaches the whole pool. Returns 0, or the errno: EAGAIN if ep0 has events to handle first; EIO
/// and ENOMEM if these blocks cannot be mapped, EFAULT if the kernel would bounce them; others if
/// the controller refuses DMABUFs. Throws for anything else. Fresh blocks are checked for bouncing,
/// which overwrites them.
int attach_all(int endpoint_fd, const std::string& path, const BlockPool& pool, int happened_fd,
               bool fresh);

/// Whether the error concerns the endpoint, not the request: the cable, or a closed file.
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
    /// FUNCTIONFS_DMABUF_TRANSFER; ep0 must have been read. Returns 0, or the errno of a disabled
    /// endpoint.
    int transfer(int endpoint_fd, const std::string& path, int dmabuf_fd, std::size_t bytes);
    /// `last_end_ns`: when the endpoint's previous one ended; they end in order.
    Transferred poll(std::int64_t& last_end_ns) const;
    int fd() const noexcept { return fence_.get(); }
    void close() noexcept { fence_ = {}; }

private:
    sys::UniqueFd fence_;
    std::int64_t asked_ns_ = 0;    ///< before the TRANSFER
    std::int64_t exported_ns_ = 0; ///< after it
};

} // namespace iio_stream::usb
