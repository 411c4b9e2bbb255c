// SPDX-License-Identifier: MIT
#include "sys/direct_io.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"
#include "sys/io_queue.hpp"

#include <cerrno>
#include <libaio.h>
#include <vector>

namespace iio_stream::sys {

namespace {

struct Context {
    Context(const std::string& path, std::size_t requests)
    {
        const int error = ::io_setup(static_cast<int>(requests), &context);
        if (error < 0)
            fail(-error, "io_setup", path,
                 error == -EAGAIN ? "fs.aio-max-nr limits the requests of all processes" : "");
    }
    Context(const Context&) = delete;
    ~Context() { ::io_destroy(context); }

    io_context_t context = nullptr;
};

class AioQueue final : public IoQueue {
public:
    AioQueue(int fd, const std::string& path, std::size_t depth);

    bool may_block() const noexcept override
    {
        return true;
    } // io_submit() may, and allocate() does
    void write(std::span<const std::byte> data, std::uint64_t offset, std::size_t buffer,
               std::size_t tag) override;
    void read(std::span<std::byte> data, std::uint64_t offset, std::size_t buffer,
              std::size_t tag) override;
    void allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag) override;
    void sync(std::size_t tag) override;
    std::optional<Completed> take() override;
    int fd() const noexcept override { return done_.fd(); }

private:
    void submit(iocb& request, std::size_t tag);

    int fd_;
    std::string path_;
    Context owner_;
    std::vector<iocb> requests_; ///< by tag
    std::vector<io_event> events_;
    std::size_t next_ = 0, count_ = 0;   ///< the events_ not taken yet
    std::optional<Completed> allocated_; ///< the same for an allocation
    Event done_;
};

AioQueue::AioQueue(int fd, const std::string& path, std::size_t depth)
    : fd_(fd), path_(path), owner_(path, depth + 2), requests_(depth + 2), events_(depth + 2)
{}

void AioQueue::submit(iocb& request, std::size_t tag)
{
    ::io_set_eventfd(&request, done_.fd());
    request.data = reinterpret_cast<void*>(tag);
    iocb* list[] = {&request};
    int result;
    do
        result = ::io_submit(owner_.context, 1, list);
    while (result == -EINTR || result == -EAGAIN);
    if (result < 0)
        fail(-result, "io_submit", path_);
}

void AioQueue::write(std::span<const std::byte> data, std::uint64_t offset, std::size_t,
                     std::size_t tag)
{
    ::io_prep_pwrite(&requests_[tag], fd_, const_cast<std::byte*>(data.data()), data.size(),
                     static_cast<long long>(offset));
    submit(requests_[tag], tag);
}

void AioQueue::read(std::span<std::byte> data, std::uint64_t offset, std::size_t, std::size_t tag)
{
    ::io_prep_pread(&requests_[tag], fd_, data.data(), data.size(), static_cast<long long>(offset));
    submit(requests_[tag], tag);
}

void AioQueue::allocate(std::uint64_t offset, std::uint64_t bytes, std::size_t tag)
{
    allocated_ = {tag, -allocate_file(fd_, offset, bytes)};
    done_.set();
}

void AioQueue::sync(std::size_t tag)
{
    ::io_prep_fdsync(&requests_[tag], fd_);
    submit(requests_[tag], tag);
}

std::optional<Completed> AioQueue::take()
{
    if (allocated_)
        return std::exchange(allocated_, std::nullopt);
    if (next_ == count_) {
        done_.clear(); // before looking: a later completion sets it again
        timespec at_once{};
        const int count = ::io_getevents(owner_.context, 0, static_cast<long>(events_.size()),
                                         events_.data(), &at_once);
        next_ = 0;
        count_ = static_cast<std::size_t>(std::max(count, 0));
        if (count_ == 0)
            return std::nullopt;
    }
    const io_event& event = events_[next_++];
    return Completed{reinterpret_cast<std::size_t>(event.data),
                     static_cast<std::ptrdiff_t>(event.res)};
}

} // namespace

std::unique_ptr<IoQueue> make_aio_queue(int fd, const std::string& path, std::size_t depth)
{
    return std::make_unique<AioQueue>(fd, path, depth);
}

} // namespace iio_stream::sys
