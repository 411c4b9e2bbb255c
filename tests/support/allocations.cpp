// SPDX-License-Identifier: MIT
#include "support/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> g_allocations{0}, g_until_failure{0};

bool must_fail() noexcept
{
    std::size_t left = g_until_failure.load(std::memory_order_relaxed);
    while (left != 0 && !g_until_failure.compare_exchange_weak(left, left - 1))
        ;
    return left == 1;
}

void* count_and_allocate(std::size_t bytes, std::size_t align)
{
    g_allocations.fetch_add(1, std::memory_order_relaxed);
    if (must_fail())
        return nullptr;
    const std::size_t rounded = (bytes + align - 1) / align * align;
    return align <= alignof(std::max_align_t) ? std::malloc(bytes == 0 ? 1 : bytes)
                                              : std::aligned_alloc(align, rounded);
}

void* allocate_or_throw(std::size_t bytes, std::size_t align = alignof(std::max_align_t))
{
    if (void* memory = count_and_allocate(bytes, align))
        return memory;
    throw std::bad_alloc();
}

} // namespace

namespace iio_stream::test {

std::size_t allocations() noexcept
{
    return g_allocations.load(std::memory_order_relaxed);
}

void fail_allocation(std::size_t n) noexcept
{
    g_until_failure.store(n);
}

std::size_t allocations_until_failure() noexcept
{
    return g_until_failure.load();
}

} // namespace iio_stream::test

// The array forms are replaced as well: a sanitizer's own array forms do not call the forms for
// single objects, as the library's forms do.
void* operator new(std::size_t bytes)
{
    return allocate_or_throw(bytes);
}

void* operator new[](std::size_t bytes)
{
    return allocate_or_throw(bytes);
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    return count_and_allocate(bytes, alignof(std::max_align_t));
}

void* operator new(std::size_t bytes, std::align_val_t align)
{
    return allocate_or_throw(bytes, static_cast<std::size_t>(align));
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::size_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}
