// SPDX-License-Identifier: MIT
#include "usb/board/endpoint_receiver.hpp"

#include "sys/device/functionfs.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kRead = 2; ///< blocks that are read ahead

} // namespace

std::unique_ptr<EndpointReceiver> EndpointReceiver::by_dmabuf(const std::string& path,
                                                              const BlockPool& pool,
                                                              int happened_fd, bool fresh,
                                                              int& error)
{
    sys::UniqueFd endpoint = sys::ffs_open_endpoint(path);
    error = attach_all(endpoint.get(), path, pool, happened_fd, fresh);
    if (error != 0)
        return nullptr;
    return std::unique_ptr<EndpointReceiver>(
        new EndpointReceiver(std::move(endpoint), path, pool.count(), 0, pool.block_size()));
}

std::unique_ptr<EndpointReceiver> EndpointReceiver::by_read(const std::string& path,
                                                            std::size_t wire_bytes)
{
    return std::unique_ptr<EndpointReceiver>(new EndpointReceiver(
        sys::ffs_open_endpoint(path), path, kRead, (wire_bytes + kPiece - 1) / kPiece, wire_bytes));
}

EndpointReceiver::EndpointReceiver(sys::UniqueFd endpoint, std::string path, std::size_t slots,
                                   std::size_t pieces, std::size_t wire_bytes)
    : endpoint_(std::move(endpoint)),
      path_(std::move(path)),
      pieces_(pieces),
      wire_bytes_(wire_bytes),
      slots_(slots),
      queue_(sys::make_aio_queue(endpoint_.get(), path_, slots * (1 + pieces)))
{}

EndpointReceiver::~EndpointReceiver() = default;

void EndpointReceiver::ask_header(std::uint64_t number)
{
    Slot& s = slot(number);
    s.headed = false;
    s.error = 0;
    queue_->read(s.bytes, 0, 0, place(number) * (1 + pieces_));
}

int EndpointReceiver::ask_block(std::uint64_t number, const EmptyBlock& block)
{
    Slot& s = slot(number);
    if (pieces_ == 0)
        return s.fence.transfer(endpoint_.get(), path_, block.dmabuf(), wire_bytes_);
    s.pieces_left = pieces_;
    s.access.emplace(block);
    const std::size_t first = place(number) * (1 + pieces_) + 1;
    for (std::size_t n = 0; n < pieces_; ++n) {
        const std::size_t at = n * kPiece;
        queue_->read(s.access->bytes().subspan(at, std::min(kPiece, wire_bytes_ - at)), 0, 0,
                     first + n);
    }
    return 0;
}

void EndpointReceiver::take()
{
    while (const auto done = queue_->take())
        note(*done);
}

void EndpointReceiver::note(const sys::Completed& done)
{
    Slot& s = slots_[done.tag / (1 + pieces_)];
    const std::size_t piece = done.tag % (1 + pieces_);
    if (piece == 0) {
        s.headed = true;
        s.head = done.result;
        return;
    }
    const std::size_t wanted = std::min(kPiece, wire_bytes_ - (piece - 1) * kPiece);
    if (done.result < 0 && s.error == 0)
        s.error = static_cast<int>(-done.result);
    else if (static_cast<std::size_t>(done.result) != wanted && s.error == 0)
        s.error = EBADMSG; // a short read: out of step with the host
    if (--s.pieces_left == 0)
        s.access.reset();
}

EndpointReceiver::Head EndpointReceiver::head(std::uint64_t number) const
{
    const Slot& s = slot(number);
    if (!s.headed)
        return {};
    if (s.head < 0)
        return {true, static_cast<int>(-s.head), {}};
    return {true, 0, std::span(s.bytes).first(static_cast<std::size_t>(s.head))};
}

Transferred EndpointReceiver::body(std::uint64_t number)
{
    Slot& s = slot(number);
    if (pieces_ == 0)
        return s.fence.poll(last_end_ns_);
    return {s.pieces_left == 0, s.error, false};
}

} // namespace iio_stream::usb
