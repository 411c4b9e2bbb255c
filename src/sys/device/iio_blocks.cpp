// SPDX-License-Identifier: MIT
#include "sys/device/iio_blocks.hpp"

#include "sys/fail.hpp"

#include "uapi/iio_blocks.hpp"

#include <cerrno>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace iio_stream::sys {

static_assert(kMaxIioBlocks == uapi::kIioMaxBlocks && kMaxIioBlockBytes == uapi::kIioMaxBlockBytes);

namespace {

template <typename Argument>
int call(int fd, unsigned long request, Argument argument) noexcept
{
    int result;
    do
        result = ::ioctl(fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

IioBlock described_by(const uapi::iio_buffer_block& block) noexcept
{
    return {block.id, block.size, block.bytes_used, block.offset};
}

} // namespace

int iio_blocks_free(int fd) noexcept
{
    return call(fd, uapi::kIioBlockFree, 0);
}

std::size_t iio_blocks_alloc(int fd, std::size_t& bytes, std::size_t count, int& error) noexcept
{
    uapi::iio_buffer_block_alloc_req request{
        .type = 0, .size = static_cast<__u32>(bytes), .count = static_cast<__u32>(count), .id = 0};
    error = call(fd, uapi::kIioBlockAlloc, &request);
    // If the size becomes 0, the kernel leaves the count unchanged but allocates nothing.
    if (error != 0 || request.size == 0)
        return 0;
    bytes = request.size;
    return request.count;
}

IioBlock iio_block_query(int fd, std::uint32_t id)
{
    uapi::iio_buffer_block block{};
    block.id = id;
    if (const int error = call(fd, uapi::kIioBlockQuery, &block); error != 0)
        fail(error, "IIO_BLOCK_QUERY_IOCTL", "block " + std::to_string(id));
    return described_by(block);
}

int iio_block_enqueue(int fd, std::uint32_t id, std::size_t bytes, bool cyclic) noexcept
{
    uapi::iio_buffer_block block{};
    block.id = id;
    block.bytes_used = static_cast<__u32>(bytes);
    block.flags = cyclic ? uapi::kIioBlockCyclic : 0;
    return call(fd, uapi::kIioBlockEnqueue, &block);
}

std::optional<IioBlock> iio_block_dequeue(int fd, int& error) noexcept
{
    uapi::iio_buffer_block block{};
    error = call(fd, uapi::kIioBlockDequeue, &block);
    if (error == EAGAIN)
        error = 0;
    else if (error == 0)
        return described_by(block);
    return std::nullopt;
}

void* map_iio_block(int fd, const IioBlock& block, bool writable, void* place)
{
    // The kernel requires exactly the access of the buffer's direction: reading for input, writing
    // for output.
    const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* const data =
        ::mmap(place, block.bytes, access, MAP_SHARED | (place != nullptr ? MAP_FIXED : 0), fd,
               static_cast<off_t>(block.offset));
    if (data == MAP_FAILED)
        fail(errno, "mmap",
             "kernel block " + std::to_string(block.id) + " of " + std::to_string(block.bytes) +
                 " bytes");
    return data;
}

} // namespace iio_stream::sys
