// SPDX-License-Identifier: MIT
#include "support/flock_hook.hpp"

#include <array>
#include <atomic>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace iio_stream::test {

namespace {

std::atomic<const FlockHook*> armed{nullptr};

} // namespace

FlockHook::FlockHook(std::function<bool(const std::string&, int)> when, std::function<void()> act)
    : when_(std::move(when)), act_(std::move(act))
{
    armed = this;
}

FlockHook::~FlockHook()
{
    armed = nullptr;
}

bool FlockHook::has_acted() const noexcept
{
    return armed != this;
}

bool FlockHook::accepts(int fd, int operation) const
{
    std::array<char, 4096> target;
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    return length > 0 &&
           when_({target.data(), static_cast<std::size_t>(length)}, operation & ~LOCK_NB);
}

} // namespace iio_stream::test

// Replaces the function of libc in this program.
extern "C" int flock(int fd, int operation) noexcept
{
    using iio_stream::test::armed;
    const iio_stream::test::FlockHook* hook = armed;
    if (hook != nullptr &&
        (!hook->accepts(fd, operation) || !armed.compare_exchange_strong(hook, nullptr)))
        hook = nullptr;
    const bool unlocks = (operation & LOCK_UN) != 0;
    if (hook != nullptr && !unlocks)
        hook->act();
    const auto result = static_cast<int>(::syscall(SYS_flock, fd, operation));
    if (hook != nullptr && unlocks)
        hook->act();
    return result;
}
