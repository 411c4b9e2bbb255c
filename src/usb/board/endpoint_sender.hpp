// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "framing/header.hpp"
#include "iio_stream/block.hpp"
#include "sys/disk/io_queue.hpp"
#include "sys/unique_fd.hpp"
#include "usb/board/endpoint_file.hpp"

#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// A block on its way to the host.
struct WireBlock {
    Block filled;
    framing::Header header;
    TransferFence fence{};    ///< of its DMABUF
    std::uint64_t number = 0; ///< consecutive number of the block
    int error = 0;            ///< the first error of its transfers
};

/// Sends WireBlocks through the endpoint's file.
/// Owns: the endpoint's file.
/// Thread: one at a time.
class EndpointSender {
public:
    virtual ~EndpointSender() = default;
    /// Queues the header of a block.
    virtual void announce(const WireBlock& wire_block) = 0;
    /// Sends the block, after its header. Returns 0, or the errno of a disabled endpoint; throws
    /// Error for any other.
    virtual int send(WireBlock& wire_block) = 0;
    /// Returns whether a block that was submitted has been sent (error 0) or has failed.
    virtual bool ended(WireBlock& wire_block) = 0;
    /// The maximum number of blocks in flight.
    virtual std::size_t most() const noexcept = 0;
    virtual bool may_block() const noexcept = 0;
    /// Returns a descriptor that becomes readable when `front`, the oldest block in flight, may
    /// have ended.
    virtual int wait_fd(const WireBlock& front) const noexcept = 0;
    /// Sends a header without a block; last_header_out() returns whether it has been sent.
    void send_header(const framing::Header& header);
    bool last_header_out();
    int header_fd() const noexcept { return queue_->fd(); }

protected:
    EndpointSender(sys::UniqueFd endpoint, std::string path, std::size_t depth);

    sys::UniqueFd endpoint_;
    std::string path_;
    std::size_t depth_;
    std::unique_ptr<sys::IoQueue> queue_; ///< destroyed before the file closes
    bool last_out_ = false;
};

/// Attaches the whole pool. Returns null if that fails, with the errno of attach_all() in `error`.
std::unique_ptr<EndpointSender> make_dmabuf_sender(const std::string& path, const BlockPool& pool,
                                                   std::size_t wire_bytes, int happened_fd,
                                                   bool fresh, int& error);
std::unique_ptr<EndpointSender> make_write_sender(const std::string& path, std::size_t wire_bytes);

} // namespace iio_stream::usb
