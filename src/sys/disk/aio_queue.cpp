// SPDX-License-Identifier: MIT
#include "sys/disk/aio.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/disk/polling_queue.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"

#include <cerrno>
#include <cstdint>
#include <span>
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

class AioQueue final : public PollingQueue {
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
    int fd() noexcept override
    {
        polls_event_ = true;
        return done_.fd();
    }

private:
    // A kernel before 5.16 can miss the event of a poll request, so it is not waited for without a
    // limit.
    bool can_wait(int timeout_ms) const noexcept override { return timeout_ms >= 0; }
    bool request_poll(std::size_t number, int fd, short events) noexcept override;
    bool wait_and_receive(int timeout_ms) noexcept override;
    bool has_result() const noexcept override { return allocated_ || next_ < count_; }
    void receive(std::size_t count) noexcept;
    std::size_t first_poll() const noexcept { return requests_.size() - kMostPolls; }
    void start(int command, std::span<const std::byte> data, std::uint64_t offset, std::size_t tag);

    int fd_;
    std::string path_;
    Context owner_;
    std::vector<iocb> requests_; ///< indexed by tag
    std::vector<io_event> events_;
    std::size_t next_ = 0, count_ = 0;   ///< the range of events_ that has not been taken
    bool polls_event_ = true;            ///< the next wait can be for done_
    std::optional<Completed> allocated_; ///< a completed allocation that has not been taken
    Event done_;
};

AioQueue::AioQueue(int fd, const std::string& path, std::size_t depth)
    : fd_(fd),
      path_(path),
      owner_(path, depth + 2 + kMostPolls),
      requests_(depth + 2 + kMostPolls),
      events_(requests_.size())
{}

void AioQueue::start(int command, std::span<const std::byte> data, std::uint64_t offset,
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
    start(IOCB_CMD_PWRITE, data, offset, tag);
}

void AioQueue::read(std::span<std::byte> data, std::uint64_t offset, std::size_t, std::size_t tag)
{
    start(IOCB_CMD_PREAD, data, offset, tag);
}

void AioQueue::allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag)
{
    allocated_ = {tag, -allocate_file(fd_, offset, bytes)};
    done_.set();
}

void AioQueue::sync(std::size_t tag)
{
    start(IOCB_CMD_FDSYNC, {}, 0, tag);
}

std::optional<Completed> AioQueue::take()
{
    if (allocated_)
        return std::exchange(allocated_, std::nullopt);
    if (next_ == count_) {
        if (polls_event_)
            done_.clear(); // before the call, because a later completion sets it again
        receive(aio_take(owner_.context, events_));
        if (count_ == 0)
            return std::nullopt;
    }
    const io_event& event = events_[next_++];
    return Completed{static_cast<std::size_t>(event.data), static_cast<std::ptrdiff_t>(event.res)};
}

// Removes the completions of poll requests from the first `count` events.
void AioQueue::receive(std::size_t count) noexcept
{
    next_ = count_ = 0;
    for (const io_event& event : std::span(events_).first(count))
        if (event.data < first_poll())
            events_[count_++] = event;
        else
            complete_poll(static_cast<std::size_t>(event.data) - first_poll(), event.res);
}

bool AioQueue::request_poll(std::size_t number, int fd, short events) noexcept
{
    const std::size_t tag = first_poll() + number;
    iocb& request = requests_[tag];
    request = {};
    request.aio_data = tag;
    request.aio_lio_opcode = IOCB_CMD_POLL;
    request.aio_fildes = static_cast<std::uint32_t>(fd);
    request.aio_buf = static_cast<std::uint16_t>(events);
    return aio_submit(owner_.context, request) == 0; // EINVAL before Linux 4.18
}

bool AioQueue::wait_and_receive(int timeout_ms) noexcept
{
    polls_event_ = false;
    const long count = aio_wait(owner_.context, events_, timeout_ms);
    receive(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (count < 0)
        errno = static_cast<int>(-count);
    return count >= 0;
}

} // namespace

std::unique_ptr<IoQueue> make_aio_queue(int fd, const std::string& path, std::size_t depth)
{
    return std::make_unique<AioQueue>(fd, path, depth);
}

} // namespace iio_stream::sys
