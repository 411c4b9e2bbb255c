// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace iio_stream::usb {

/// What FunctionFS' copies are cut into: it allocates as much for each read and write.
inline constexpr std::size_t kPiece = 64 * 1024;

sys::UniqueFd open_endpoint(const std::string& path);

/// Attaches all of the pool. 0, or the errno: EAGAIN where ep0 has news that come first; EIO and
/// ENOMEM where these blocks cannot be mapped, and EFAULT where the kernel would bounce them; others
/// where the controller refuses DMABUFs. Throws for what is none of these.
/// Fresh blocks are looked at for being bounced, which takes their content.
int attach_all(int endpoint_fd, const std::string& path, const BlockPool& pool, int ep0_fd,
               bool fresh);

/// Whether the endpoint, not the request, is what failed: the cable, or a closed file.
bool is_endpoints(int error) noexcept;

/// What is known of a DMABUF's transfer.
struct Transferred {
    bool ended = false;
    int error = 0;
    bool unverified = false; ///< its status was gone before it could be had
};

/// The fence of the transfer that was queued last of a DMABUF.
class TransferFence {
public:
    /// FUNCTIONFS_DMABUF_TRANSFER; ep0 has been read. 0, or the errno of a disabled endpoint.
    int transfer(int endpoint_fd, const std::string& path, int dmabuf_fd, std::size_t bytes);
    /// `last_end_ns`: when the last one of this endpoint was through; they end in order.
    Transferred look(std::int64_t& last_end_ns) const;
    int fd() const noexcept { return fence_.get(); }
    void close() noexcept { fence_ = {}; }

private:
    sys::UniqueFd fence_;
    std::int64_t asked_ns_ = 0;    ///< before the TRANSFER
    std::int64_t exported_ns_ = 0; ///< after it
};

} // namespace iio_stream::usb
