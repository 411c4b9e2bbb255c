// SPDX-License-Identifier: MIT
#include "sys/disk/aio.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/disk/io_queue.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"

#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

namespace iio_stream::sys {

namespace {

struct Context {
    Context(const std::string& path, std::size_t requests)
    {
        if (const int error = aio_setup(requests, context); error != 0)
            fail(error, "io_setup", path,
                 error == EAGAIN ? "fs.aio-max-nr limits the requests of all processes" : "");
    }
    Context(const Context&) = delete;
    ~Context() { aio_destroy(context); }

    aio_context_t context = 0;
};

class AioQueue final : public IoQueue {
public:
    AioQueue(int fd, const std::string& path, std::size_t depth);

    bool may_block() const noexcept override
    {
        return true;
    } // io_submit() can block, and allocate() does
    void write(std::span<const std::byte> data, std::uint64_t offset, std::size_t buffer,
               std::size_t tag) override;
    void read(std::span<std::byte> data, std::uint64_t offset, std::size_t buffer,
              std::size_t tag) override;
    void allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag) override;
    void sync(std::size_t tag) override;
    std::optional<Completed> take() override;
    int fd() const noexcept override { return done_.fd(); }

private:
    void submit(int command, std::span<const std::byte> data, std::uint64_t offset,
                std::size_t tag);

    int fd_;
    std::string path_;
    Context owner_;
    std::vector<iocb> requests_; ///< indexed by tag
    std::vector<io_event> events_;
    std::size_t next_ = 0, count_ = 0;   ///< the range of events_ that has not been taken
    std::optional<Completed> allocated_; ///< a completed allocation that has not been taken
    Event done_;
};

AioQueue::AioQueue(int fd, const std::string& path, std::size_t depth)
    : fd_(fd), path_(path), owner_(path, depth + 2), requests_(depth + 2), events_(depth + 2)
{}

void AioQueue::submit(int command, std::span<const std::byte> data, std::uint64_t offset,
                      std::size_t tag)
{
    iocb& request = requests_[tag];
    request = {};
    request.aio_data = tag;
    request.aio_lio_opcode = static_cast<std::uint16_t>(command);
    request.aio_fildes = static_cast<std::uint32_t>(fd_);
    request.aio_buf = reinterpret_cast<std::uintptr_t>(data.data());
    request.aio_nbytes = data.size();
    request.aio_offset = static_cast<std::int64_t>(offset);
    request.aio_flags = IOCB_FLAG_RESFD;
    request.aio_resfd = static_cast<std::uint32_t>(done_.fd());
    int error;
    do
        error = aio_submit(owner_.context, request);
    while (error == EINTR || error == EAGAIN);
    if (error != 0)
        fail(error, "io_submit", path_);
}

void AioQueue::write(std::span<const std::byte> data, std::uint64_t offset, std::size_t,
                     std::size_t tag)
{
    submit(IOCB_CMD_PWRITE, data, offset, tag);
}

void AioQueue::read(std::span<std::byte> data, std::uint64_t offset, std::size_t, std::size_t tag)
{
    submit(IOCB_CMD_PREAD, data, offset, tag);
}

void AioQueue::allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag)
{
    allocated_ = {tag, -allocate_file(fd_, offset, bytes)};
    done_.set();
}

void AioQueue::sync(std::size_t tag)
{
    submit(IOCB_CMD_FDSYNC, {}, 0, tag);
}

std::optional<Completed> AioQueue::take()
{
    if (allocated_)
        return std::exchange(allocated_, std::nullopt);
    if (next_ == count_) {
        done_.clear(); // before the call, because a later completion sets it again
        next_ = 0;
        count_ = aio_take(owner_.context, events_);
        if (count_ == 0)
            return std::nullopt;
    }
    const io_event& event = events_[next_++];
    return Completed{static_cast<std::size_t>(event.data), static_cast<std::ptrdiff_t>(event.res)};
}

} // namespace

std::unique_ptr<IoQueue> make_aio_queue(int fd, const std::string& path, std::size_t depth)
{
    return std::make_unique<AioQueue>(fd, path, depth);
}

} // namespace iio_stream::sys
