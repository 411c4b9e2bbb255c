// SPDX-License-Identifier: MIT
#include "sys/disk/polling_queue.hpp"
#include "sys/fail.hpp"
#include "sys/uring.hpp"

#include <cerrno>
#include <fcntl.h>
#include <utility>
#include <vector>

namespace iio_stream::sys {

namespace {

class UringQueue final : public PollingQueue {
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
    int fd() noexcept override { return ring_.ring_fd; }
    void submit() noexcept override;
    int register_error() const noexcept override { return register_error_; }

private:
    bool can_wait(int) const noexcept override
    {
        return (ring_.features & IORING_FEAT_EXT_ARG) != 0; // since Linux 5.11: a wait with a limit
    }
    bool request_poll(std::size_t number, int fd, short events) noexcept override;
    bool wait_and_receive(int timeout_ms) noexcept override;
    bool has_result() const noexcept override { return error_ != 0 || next_ < done_.size(); }
    void receive() noexcept;
    io_uring_sqe* next();
    void make(io_uring_sqe* request, std::size_t tag);
    /// The tag of the first poll request. The file's requests have lower ones: those of reads or
    /// writes are below depth_, followed by the allocation's and the sync's.
    std::size_t first_poll() const noexcept { return depth_ + 2; }

    std::string path_;
    Uring owner_;
    io_uring& ring_ = owner_.ring;
    int fd_;
    std::size_t depth_;
    std::size_t in_flight_ = 0;   ///< requests for the file, including those held back
    std::vector<Completed> done_; ///< completions that have been received
    std::size_t next_ = 0;        ///< the first of them that has not been taken
    int error_ = 0;               ///< errno of a failed submission, which take() reports
    int register_error_ = 0;
    bool file_registered_ = false, buffers_registered_ = false;
};

UringQueue::UringQueue(int fd, const std::string& path, std::size_t depth, Buffers buffers)
    : path_(path),
      owner_(path, depth + 2), // in addition to the writes, one allocation and one sync can be in
                               // flight
      fd_(fd),
      depth_(depth)
{
    done_.reserve(depth + 2);
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

void UringQueue::submit() noexcept
{
    while (::io_uring_sq_ready(&ring_) != 0) {
        const int result = ::io_uring_submit(&ring_);
        if (result < 0 && result != -EINTR) {
            error_ = -result;
            return;
        }
    }
}

// Submits the request. If the disk has enough other requests meanwhile, the request is held back
// until the next poll(), which saves a system call.
void UringQueue::make(io_uring_sqe* request, std::size_t tag)
{
    if (file_registered_) {
        request->fd = 0; // index in the table of registered files
        request->flags |= IOSQE_FIXED_FILE;
    }
    ::io_uring_sqe_set_data64(request, tag);
    if (++in_flight_ > (depth_ + 1) / 2 && tag < depth_)
        return;
    submit();
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
    make(request, tag);
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
    make(request, tag);
}

void UringQueue::allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag)
{
    io_uring_sqe* request = next();
    ::io_uring_prep_fallocate(request, fd_, 0, static_cast<off_t>(offset),
                              static_cast<off_t>(bytes));
    make(request, tag);
}

void UringQueue::sync(std::size_t tag)
{
    io_uring_sqe* request = next();
    ::io_uring_prep_fsync(request, fd_, IORING_FSYNC_DATASYNC);
    make(request, tag);
}

std::optional<Completed> UringQueue::take()
{
    if (error_ != 0)
        fail(std::exchange(error_, 0), "io_uring_enter", path_);
    if (next_ == done_.size())
        receive();
    if (next_ == done_.size())
        return std::nullopt;
    return done_[next_++];
}

void UringQueue::receive() noexcept
{
    done_.clear();
    next_ = 0;
    unsigned head = 0, count = 0;
    const io_uring_cqe* done = nullptr;
    io_uring_for_each_cqe(&ring_, head, done)
    {
        const auto tag = static_cast<std::size_t>(done->user_data);
        if (tag < first_poll())
            done_.push_back({tag, done->res});
        else
            complete_poll(tag - first_poll(), done->res);
        ++count;
    }
    ::io_uring_cq_advance(&ring_, count);
    in_flight_ -= done_.size();
}

bool UringQueue::request_poll(std::size_t number, int fd, short events) noexcept
{
    io_uring_sqe* request = ::io_uring_get_sqe(&ring_);
    if (request == nullptr) {
        submit();
        request = ::io_uring_get_sqe(&ring_);
    }
    if (request == nullptr)
        return false;
    ::io_uring_prep_poll_add(request, fd, static_cast<unsigned>(events));
    ::io_uring_sqe_set_data64(request, first_poll() + number);
    return true;
}

bool UringQueue::wait_and_receive(int timeout_ms) noexcept
{
    __kernel_timespec limit{.tv_sec = timeout_ms / 1000,
                            .tv_nsec = std::int64_t{timeout_ms} % 1000 * 1'000'000};
    io_uring_cqe* first = nullptr;
    const int result = timeout_ms < 0
                           ? ::io_uring_submit_and_wait(&ring_, 1)
                           : ::io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr);
    if (result == -EINTR) {
        errno = EINTR;
        return false;
    }
    if (result < 0 && result != -ETIME)
        error_ = -result;
    receive();
    return true;
}

} // namespace

std::unique_ptr<IoQueue> make_uring_queue(int fd, const std::string& path, std::size_t depth,
                                          Buffers buffers)
{
    return std::make_unique<UringQueue>(fd, path, depth, buffers);
}

} // namespace iio_stream::sys
