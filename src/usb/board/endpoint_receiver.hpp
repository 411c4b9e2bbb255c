// SPDX-License-Identifier: MIT
#pragma once

#include "framing/header.hpp"
#include "iio_stream/block.hpp"
#include "sys/disk/io_queue.hpp"
#include "sys/unique_fd.hpp"
#include "usb/board/endpoint_file.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// Receives the host's blocks from the endpoint's file: each header by AIO, then the block, either
/// directly into its DMABUF or by AIO reads, whose data FunctionFS copies. Several blocks are
/// requested ahead, in order; consecutive numbers identify them.
/// Owns: the endpoint's file and its attachments; borrows the blocks until it is destroyed.
/// Thread: one at a time.
class EndpointReceiver {
public:
    /// Attaches the whole pool. Returns null if that fails, with the errno of attach_all() in
    /// `error`.
    static std::unique_ptr<EndpointReceiver> by_dmabuf(const std::string& path,
                                                       const BlockPool& pool, int happened_fd,
                                                       bool fresh, int& error);
    static std::unique_ptr<EndpointReceiver> by_read(const std::string& path,
                                                     std::size_t wire_bytes);
    EndpointReceiver(const EndpointReceiver&) = delete;
    ~EndpointReceiver();

    /// The maximum number of blocks that can be requested ahead.
    std::size_t most() const noexcept { return slots_.size(); }

    void ask_header(std::uint64_t number);
    /// Requests a block; call it after ask_header(). The events of ep0 must have been read. Returns
    /// 0, or the errno of a disabled endpoint.
    int ask_block(std::uint64_t number, const EmptyBlock& block);

    void take(); ///< collects completed AIO requests
    struct Head {
        bool ended = false;
        int error = 0;
        std::span<const std::byte> bytes{};
    };
    Head head(std::uint64_t number) const;
    Transferred body(std::uint64_t number);

    /// Returns a descriptor that is readable when a header or, with read(), a piece of a block has
    /// arrived.
    int fd() const noexcept { return queue_->fd(); }
    /// Returns a descriptor that is readable when that block has arrived; -1 if fd() reports it.
    int fence(std::uint64_t number) const noexcept { return slot(number).fence.fd(); }

private:
    struct Slot {
        std::array<std::byte, framing::kPacketBytes> bytes;
        std::ptrdiff_t head = 0; ///< length of the header, or a negative errno
        bool headed = false;
        TransferFence fence;
        std::size_t pieces_left = 0;
        int error = 0;
        std::optional<CpuWrite> access;
    };

    EndpointReceiver(sys::UniqueFd endpoint, std::string path, std::size_t slots,
                     std::size_t pieces, std::size_t wire_bytes);
    std::size_t place(std::uint64_t number) const noexcept
    {
        return static_cast<std::size_t>(number % slots_.size());
    }
    Slot& slot(std::uint64_t number) noexcept { return slots_[place(number)]; }
    const Slot& slot(std::uint64_t number) const noexcept { return slots_[place(number)]; }
    void note(const sys::Completed& done);

    sys::UniqueFd endpoint_; ///< closed last: the fences' locks belong to its attachments
    std::string path_;
    std::size_t pieces_; ///< pieces per block with read(); 0 with DMABUFs
    std::size_t wire_bytes_;
    std::int64_t last_end_ns_ = 0;
    std::vector<Slot> slots_;
    std::unique_ptr<sys::IoQueue> queue_; ///< cancels its requests before their memory is freed
};

} // namespace iio_stream::usb
