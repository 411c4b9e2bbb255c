// SPDX-License-Identifier: MIT
#include "iio_stream/memory.hpp"

#include "core/memory/memory_backend.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/fail.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/memory/dmabuf.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream {

namespace {

using detail::MemoryBackend;

// If this machine has no such memory at all, the name is not the problem. Opening the memory then
// reports the cause.
void check_name(const MemoryBackend& backend, const Memory& memory, const std::string& said)
{
    const std::vector<Memory> all = backend.all();
    if (all.empty() || std::find(all.begin(), all.end(), memory) != all.end())
        return;
    std::vector<std::string> names;
    for (const Memory& other : all)
        names.push_back(other.heap);
    fail_usage(said + ": there is no such memory on this machine", suggest(memory.heap, names));
}

std::string spellings()
{
    std::vector<std::string> all;
    for (const MemoryBackend& backend : detail::memory_backends())
        if (const std::string spelling = backend.spelling; !spelling.empty())
            all.push_back(spelling + (spelling.back() == ':' ? "NAME" : ""));
    std::string text;
    for (const std::string& one : all)
        text += (text.empty() ? "" : &one == &all.back() ? " or " : ", ") + one;
    return text;
}

} // namespace

Memory Memory::parse(std::string_view option, std::string_view text)
{
    const std::string said = std::string(option) + "=" + std::string(text);
    for (const MemoryBackend& backend : detail::memory_backends()) {
        const std::string_view spelling = backend.spelling;
        const bool named = spelling.ends_with(':');
        if (spelling.empty() ||
            (named ? !text.starts_with(spelling) || text.size() == spelling.size()
                   : text != spelling))
            continue;
        Memory memory;
        memory.kind = backend.kind;
        if (named) {
            memory.heap = text.substr(spelling.size());
            check_name(backend, memory, said);
        }
        return memory;
    }
    fail_usage(said + " is not a kind of memory", spellings());
}

Memory Memory::import(std::vector<int> dmabuf_fds)
{
    Memory memory;
    memory.kind = MemoryKind::given;
    memory.fds = std::move(dmabuf_fds);
    return memory;
}

std::string Memory::name() const
{
    const std::string spelling = detail::backend_of(*this).spelling;
    return spelling.empty() ? "given" : spelling + heap;
}

std::vector<MemoryChoice> memory_choices()
{
    std::vector<MemoryChoice> choices;
    for (const MemoryBackend& backend : detail::memory_backends()) {
        for (Memory& memory : detail::choices_of(backend)) {
            std::string why = backend.unavailable(memory);
            choices.push_back({std::move(memory), std::move(why)});
        }
    }
    return choices;
}

} // namespace iio_stream

namespace iio_stream::detail {

namespace {

constexpr const char* kHeaps = "/dev/dma_heap";
constexpr const char* kUdmabuf = "/dev/udmabuf";

std::string why_not_open(const std::string& path)
{
    try {
        (void)sys::open_file(path, O_RDWR);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

std::string device_of(const Memory& heap)
{
    return std::string(kHeaps) + "/" + heap.heap;
}

// "system" exists wherever there are heaps and is the fastest to allocate. Others (CMA) are
// small and shared, and used only on request or if `doctor --probe` found them better.
std::vector<Memory> heaps()
{
    auto names = sys::list_directory(kHeaps);
    std::stable_partition(names.begin(), names.end(), [](const auto& n) { return n == "system"; });
    std::vector<Memory> all;
    for (std::string& name : names)
        all.push_back({.kind = MemoryKind::heap, .heap = std::move(name), .fds = {}});
    return all;
}

std::string heap_unavailable(const Memory& heap)
{
    return why_not_open(device_of(heap));
}

Buffers make_heap_buffers(const Memory& memory, const BufferRequest& request)
{
    const std::string path = device_of(memory);
    const sys::UniqueFd heap = sys::open_file(path, O_RDWR);
    Buffers made;
    made.dmabufs.reserve(request.count);
    for (std::size_t i = 0; i < request.count; ++i)
        made.dmabufs.push_back(sys::dma_heap_alloc(heap.get(), path, request.bytes));
    return made;
}

// Small pages are used if no huge pages are reserved. The kernel can often form huge pages from
// small ones, which makes writing them to a disk much cheaper. This must happen before a udmabuf
// pins the pages.
void take_small_pages(Buffers& made, std::size_t bytes, const BufferRequest& request)
{
    const bool form = request.use != CpuUse::none && !request.page_bytes;
    const std::size_t huge = form ? sys::transparent_huge_page_bytes() : 0;
    bytes = round_up(bytes, std::max<std::size_t>(huge, 1));
    made.memfd = sys::sealed_memfd(bytes, 0);
    if (request.use == CpuUse::none)
        return;
    made.whole =
        sys::Mapping::of_file(made.memfd.get(), bytes, 0, sys::Access::read_write, "memfd", huge);
    if (huge != 0 && made.whole.make_huge())
        made.page_bytes = huge;
}

std::vector<Memory> udmabuf()
{
    return {{.kind = MemoryKind::udmabuf, .heap = {}, .fds = {}}};
}

std::string udmabuf_unavailable(const Memory&)
{
    return why_not_open(kUdmabuf);
}

Buffers make_udmabuf_buffers(const Memory&, const BufferRequest& request)
{
    const sys::UniqueFd device = sys::open_file(kUdmabuf, O_RDWR);
    Buffers made = make_memfd_buffers(request);
    made.dmabufs.reserve(request.count);
    for (std::size_t i = 0; i < request.count; ++i)
        made.dmabufs.push_back(
            sys::udmabuf_create(device.get(), made.memfd.get(), i * request.bytes, request.bytes));
    return made;
}

std::vector<Memory> pages()
{
    return {Memory{}};
}

Buffers make_page_buffers(const Memory&, const BufferRequest& request)
{
    Buffers made;
    const std::size_t bytes = request.bytes * request.count;
    if (const std::size_t huge = sys::huge_page_bytes(); huge != 0) {
        made.whole = sys::Mapping::of_pages(round_up(bytes, huge), huge);
        if (made.whole.valid()) {
            made.page_bytes = huge;
            return made;
        }
    }
    const std::size_t huge = sys::transparent_huge_page_bytes();
    if (huge == 0 || bytes < huge) {
        made.whole = sys::Mapping::of_pages(bytes);
        return made;
    }
    made.whole = sys::Mapping::of_transparent_pages(round_up(bytes, huge), huge);
    if (made.whole.make_huge()) // forms huge pages where the kernel has not done so yet
        made.page_bytes = huge;
    return made;
}

Buffers make_given_buffers(const Memory& memory, const BufferRequest& request)
{
    if (memory.fds.size() != request.count)
        fail_usage(std::to_string(memory.fds.size()) + " DMABUFs were given for " +
                   std::to_string(request.count) + " blocks");
    Buffers made;
    made.dmabufs.reserve(request.count);
    for (const int fd : memory.fds) {
        sys::UniqueFd own = sys::dmabuf_duplicate(fd);
        if (const std::size_t size = sys::dmabuf_size(own.get()); size < request.bytes)
            fail_usage("given DMABUF fd " + std::to_string(fd) + " has " + std::to_string(size) +
                       " bytes, less than a block of " + std::to_string(request.bytes));
        made.dmabufs.push_back(std::move(own));
    }
    return made;
}

// The source maps its blocks into the reserved range.
Buffers reserve_kernel_buffers(const Memory&, const BufferRequest& request)
{
    Buffers made;
    made.whole = sys::Mapping::reserved(request.bytes * request.count);
    return made;
}

constexpr std::array kBackends = {
    MemoryBackend{.kind = MemoryKind::heap,
                  .spelling = "heap:",
                  .attachable = true,
                  .sync_reaches_devices = true,
                  .usual = "system",
                  .all = heaps,
                  .unavailable = heap_unavailable,
                  .make = make_heap_buffers},
    MemoryBackend{.kind = MemoryKind::udmabuf,
                  .spelling = "udmabuf",
                  .attachable = true,
                  .in_memfd = true,
                  .direct_io = true,
                  .module = "udmabuf",
                  .all = udmabuf,
                  .unavailable = udmabuf_unavailable,
                  .largest = sys::udmabuf_limit_bytes,
                  .limited_by = "/sys/module/udmabuf/parameters/size_limit_mb",
                  .make = make_udmabuf_buffers},
    MemoryBackend{.kind = MemoryKind::pages,
                  .spelling = "pages",
                  .direct_io = true,
                  .all = pages,
                  .make = make_page_buffers},
    MemoryBackend{.kind = MemoryKind::given, .attachable = true, .make = make_given_buffers},
    MemoryBackend{.kind = MemoryKind::kernel,
                  .spelling = "kernel",
                  .only_source = true,
                  .make = reserve_kernel_buffers},
};

} // namespace

std::span<const MemoryBackend> memory_backends() noexcept
{
    return kBackends;
}

const MemoryBackend& backend_of(const Memory& memory) noexcept
{
    return *std::find_if(kBackends.begin(), kBackends.end(),
                         [&](const MemoryBackend& b) { return b.kind == memory.kind; });
}

std::vector<Memory> choices_of(const MemoryBackend& backend)
{
    std::vector<Memory> all = backend.all();
    if (all.empty() && backend.usual != nullptr)
        all.push_back({.kind = backend.kind, .heap = backend.usual, .fds = {}});
    return all;
}

MemoryTraits traits_of(const Memory& memory, std::size_t block_size)
{
    const MemoryBackend& backend = backend_of(memory);
    MemoryTraits traits;
    traits.memory = memory;
    traits.block_size = block_size;
    traits.attachable = backend.attachable;
    traits.direct_io = backend.direct_io;
    return traits;
}

Buffers make_memfd_buffers(const BufferRequest& request)
{
    Buffers made;
    const std::size_t bytes = request.bytes * request.count;
    const std::size_t huge = request.page_bytes.value_or(sys::huge_page_bytes());
    if (huge != 0 && huge != kPage) {
        const std::size_t whole =
            round_up(bytes, huge); // a mapping of huge pages ends with a whole page
        made.memfd = sys::sealed_memfd(whole, huge);
        if (made.memfd.valid()) {
            made.page_bytes = huge;
            if (request.use != CpuUse::none)
                made.whole = sys::Mapping::of_file(made.memfd.get(), whole, 0,
                                                   sys::Access::read_write, "memfd");
            return made;
        }
        if (request.page_bytes)
            sys::fail(ENOMEM, "memfd_create",
                      format_size(whole) + " in pages of " + format_size(huge),
                      "sysctl vm.nr_hugepages=" + std::to_string(whole / huge) + " reserves them");
    }
    take_small_pages(made, bytes, request);
    return made;
}

} // namespace iio_stream::detail
