// SPDX-License-Identifier: MIT
#include "usb/board/endpoint_sender.hpp"

#include "iio_stream/error.hpp"
#include "sys/device/functionfs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace iio_stream::usb {

namespace {

/// Sends the header by AIO (FunctionFS copies it at once), and the block directly from its DMABUF.
class DmabufSender final : public EndpointSender {
public:
    DmabufSender(sys::UniqueFd endpoint, const std::string& path, std::size_t blocks,
                 std::size_t wire_bytes)
        : EndpointSender(std::move(endpoint), path, 2 * blocks),
          blocks_(blocks),
          wire_bytes_(wire_bytes)
    {}

    void announce(const WireBlock& wire_block) override;
    int send(WireBlock& wire_block) override;
    bool ended(WireBlock& wire_block) override;
    std::size_t most() const noexcept override { return blocks_; }
    bool may_block() const noexcept override { return false; }
    int wait_fd(const WireBlock& front) const noexcept override { return front.fence.fd(); }

private:
    std::size_t blocks_, wire_bytes_;
    std::size_t announced_ = 0;    ///< headers since completed ones were last collected
    std::int64_t last_end_ns_ = 0; ///< time at which the last block was sent
};

void DmabufSender::announce(const WireBlock& wire_block)
{
    if (wire_block.filled.offset() != 0)
        throw Error(Fault::device, ENOTSUP, "send", "a part of a block to " + path_,
                    "a DMABUF can only be sent from its beginning",
                    "path=write can send blocks that --on-gap zero-fill has split");
    std::array<std::byte, framing::kHeaderBytes> header;
    wire_block.header.encode(header);
    // Headers need no completion event, because they precede their blocks. The queue needs room,
    // however, for the headers written since completions were last collected, and for the headers
    // that were in flight then.
    if (announced_++ == blocks_) {
        announced_ = 1;
        while (queue_->take())
            ;
    }
    queue_->write(header, 0, 0, static_cast<std::size_t>(wire_block.number % depth_));
}

int DmabufSender::send(WireBlock& wire_block)
{
    return wire_block.fence.transfer(endpoint_.get(), path_, wire_block.filled.dmabuf(),
                                     wire_bytes_);
}

bool DmabufSender::ended(WireBlock& wire_block)
{
    const Transferred done = wire_block.fence.poll(last_end_ns_);
    wire_block.error = done.error;
    return done.ended;
}

constexpr std::size_t kWritten = 2; ///< blocks written ahead

/// Sends header and block by AIO writes, whose data FunctionFS copies.
class WriteSender final : public EndpointSender {
public:
    WriteSender(sys::UniqueFd endpoint, const std::string& path, std::size_t wire_bytes)
        : EndpointSender(std::move(endpoint), path, kWritten * requests_of(wire_bytes)),
          wire_bytes_(wire_bytes),
          staging_(kPiece)
    {}

    void announce(const WireBlock& wire_block) override;
    int send(WireBlock& wire_block) override;
    bool ended(WireBlock& wire_block) override;
    std::size_t most() const noexcept override { return kWritten; }
    bool may_block() const noexcept override { return true; }
    int wait_fd(const WireBlock&) const noexcept override { return queue_->fd(); }

private:
    static std::size_t requests_of(std::size_t wire_bytes)
    {
        return 1 + (wire_bytes + kPiece - 1) / kPiece;
    }
    void note(const sys::Completed& done);

    std::size_t wire_bytes_;
    std::vector<std::byte> staging_; ///< the last piece with samples, padded with zeros
    struct Count {
        std::size_t left = 0;
        int error = 0;
    };
    std::array<Count, kWritten> counts_;
};

void WriteSender::announce(const WireBlock& wire_block)
{
    const auto slot = static_cast<std::size_t>(wire_block.number % kWritten);
    std::array<std::byte, framing::kHeaderBytes> header;
    wire_block.header.encode(header);
    counts_[slot] = {requests_of(wire_bytes_), 0};
    queue_->write(header, 0, 0, slot * requests_of(wire_bytes_));
}

int WriteSender::send(WireBlock& wire_block)
{
    const auto slot = static_cast<std::size_t>(wire_block.number % kWritten);
    const std::size_t first = slot * requests_of(wire_bytes_);
    const CpuRead data{wire_block.filled};
    for (std::size_t at = 0, n = 1; at < wire_bytes_; at += kPiece, ++n) {
        const std::size_t bytes = std::min(kPiece, wire_bytes_ - at);
        std::span<const std::byte> piece{staging_.data(), bytes};
        if (at + bytes <= data.bytes().size()) {
            piece = data.bytes().subspan(at, bytes);
        } else { // zeros pad the block
            const auto rest = data.bytes().subspan(std::min(at, data.bytes().size()));
            std::fill(staging_.begin(), staging_.end(), std::byte{0});
            std::copy(rest.begin(), rest.end(), staging_.begin());
        }
        queue_->write(piece, 0, 0, first + n);
    }
    return 0;
}

void WriteSender::note(const sys::Completed& done)
{
    Count& count = counts_[std::min(done.tag / requests_of(wire_bytes_), kWritten - 1)];
    if (count.left != 0)
        --count.left;
    if (done.result < 0 && count.error == 0)
        count.error = static_cast<int>(-done.result);
}

bool WriteSender::ended(WireBlock& wire_block)
{
    while (const auto done = queue_->take())
        note(*done);
    const Count& count = counts_[wire_block.number % kWritten];
    wire_block.error = count.error;
    return count.left == 0;
}

} // namespace

EndpointSender::EndpointSender(sys::UniqueFd endpoint, std::string path, std::size_t depth)
    : endpoint_(std::move(endpoint)),
      path_(std::move(path)),
      depth_(depth),
      queue_(sys::make_aio_queue(endpoint_.get(), path_, depth))
{}

void EndpointSender::send_header(const framing::Header& header)
{
    std::array<std::byte, framing::kHeaderBytes> bytes;
    header.encode(bytes);
    last_out_ = false;
    queue_->write(bytes, 0, 0, depth_);
}

bool EndpointSender::last_header_out()
{
    while (const auto done = queue_->take())
        last_out_ = last_out_ || done->tag == depth_;
    return last_out_;
}

std::unique_ptr<EndpointSender> make_dmabuf_sender(const std::string& path, const BlockPool& pool,
                                                   std::size_t wire_bytes, int happened_fd,
                                                   bool fresh, int& error)
{
    sys::UniqueFd endpoint = sys::ffs_open_endpoint(path);
    error = attach_all(endpoint.get(), path, pool, happened_fd, fresh);
    if (error != 0)
        return nullptr;
    return std::make_unique<DmabufSender>(std::move(endpoint), path, pool.count(), wire_bytes);
}

std::unique_ptr<EndpointSender> make_write_sender(const std::string& path, std::size_t wire_bytes)
{
    return std::make_unique<WriteSender>(sys::ffs_open_endpoint(path), path, wire_bytes);
}

} // namespace iio_stream::usb
