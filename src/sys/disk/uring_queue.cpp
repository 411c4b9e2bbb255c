// SPDX-License-Identifier: MIT
#include "sys/disk/io_queue.hpp"
#include "sys/fail.hpp"
#include "sys/uring.hpp"

#include <cerrno>
#include <fcntl.h>
#include <vector>

namespace iio_stream::sys {

namespace {

class UringQueue final : public IoQueue {
public:
    UringQueue(int fd, const std::string& path, std::size_t depth, Buffers buffers);
    ~UringQueue() override;

    bool may_block() const noexcept override { return false; }
    void write(std::span<const std::byte> data, std::uint64_t offset, std::size_t buffer,
               std::size_t tag) override;
    void read(std::span<std::byte> data, std::uint64_t offset, std::size_t buffer,
              std::size_t tag) override;
    void allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag) override;
    void sync(std::size_t tag) override;
    std::optional<Completed> take() override;
    int fd() const noexcept override { return owner_.ring.ring_fd; }
    int register_error() const noexcept override { return register_error_; }

private:
    io_uring_sqe* next();
    void submit(io_uring_sqe* request, std::size_t tag);

    std::string path_;
    Uring owner_;
    io_uring& ring_ = owner_.ring;
    int fd_;
    std::size_t in_flight_ = 0;
    int register_error_ = 0;
    bool file_registered_ = false, buffers_registered_ = false;
};

UringQueue::UringQueue(int fd, const std::string& path, std::size_t depth, Buffers buffers)
    : path_(path),
      owner_(path, depth + 2), // in addition to the writes, one allocation and one sync can be in
                               // flight
      fd_(fd)
{
    std::vector<iovec> pieces;
    pieces.reserve(buffers.size());
    for (const auto buffer : buffers)
        pieces.push_back({buffer.data(), buffer.size()});
    // Registered memory is pinned once, not for each write.
    const int refused =
        ::io_uring_register_buffers(&ring_, pieces.data(), static_cast<unsigned>(pieces.size()));
    buffers_registered_ = refused == 0;
    register_error_ = -refused;
    file_registered_ = ::io_uring_register_files(&ring_, &fd_, 1) == 0;
}

// If the file stayed registered, the kernel would close it some milliseconds after the ring, in a
// work queue. Until then, its file system cannot be unmounted. Requests in flight can delay the
// call without a limit, so that their file is left to the work queue.
UringQueue::~UringQueue()
{
    if (file_registered_ && in_flight_ == 0)
        (void)::io_uring_unregister_files(&ring_);
}

io_uring_sqe* UringQueue::next()
{
    io_uring_sqe* request = ::io_uring_get_sqe(&ring_);
    if (request == nullptr)
        fail(EBUSY, "io_uring_get_sqe", path_);
    return request;
}

void UringQueue::submit(io_uring_sqe* request, std::size_t tag)
{
    if (file_registered_) {
        request->fd = 0; // index in the table of registered files
        request->flags |= IOSQE_FIXED_FILE;
    }
    ::io_uring_sqe_set_data64(request, tag);
    int result;
    do
        result = ::io_uring_submit(&ring_);
    while (result == -EINTR);
    if (result < 0)
        fail(-result, "io_uring_enter", path_);
    ++in_flight_;
}

void UringQueue::write(std::span<const std::byte> data, std::uint64_t offset, std::size_t buffer,
                       std::size_t tag)
{
    io_uring_sqe* request = next();
    const auto bytes = static_cast<unsigned>(data.size());
    if (buffers_registered_)
        ::io_uring_prep_write_fixed(request, fd_, data.data(), bytes, offset,
                                    static_cast<int>(buffer));
    else
        ::io_uring_prep_write(request, fd_, data.data(), bytes, offset);
    submit(request, tag);
}

void UringQueue::read(std::span<std::byte> data, std::uint64_t offset, std::size_t buffer,
                      std::size_t tag)
{
    io_uring_sqe* request = next();
    const auto bytes = static_cast<unsigned>(data.size());
    if (buffers_registered_)
        ::io_uring_prep_read_fixed(request, fd_, data.data(), bytes, offset,
                                   static_cast<int>(buffer));
    else
        ::io_uring_prep_read(request, fd_, data.data(), bytes, offset);
    submit(request, tag);
}

void UringQueue::allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag)
{
    io_uring_sqe* request = next();
    ::io_uring_prep_fallocate(request, fd_, 0, static_cast<off_t>(offset),
                              static_cast<off_t>(bytes));
    submit(request, tag);
}

void UringQueue::sync(std::size_t tag)
{
    io_uring_sqe* request = next();
    ::io_uring_prep_fsync(request, fd_, IORING_FSYNC_DATASYNC);
    submit(request, tag);
}

std::optional<Completed> UringQueue::take()
{
    io_uring_cqe* done = nullptr;
    if (::io_uring_peek_cqe(&ring_, &done) != 0)
        return std::nullopt;
    const Completed completed{static_cast<std::size_t>(::io_uring_cqe_get_data64(done)), done->res};
    ::io_uring_cqe_seen(&ring_, done);
    --in_flight_;
    return completed;
}

} // namespace

std::unique_ptr<IoQueue> make_uring_queue(int fd, const std::string& path, std::size_t depth,
                                          Buffers buffers)
{
    return std::make_unique<UringQueue>(fd, path, depth, buffers);
}

} // namespace iio_stream::sys
