// SPDX-License-Identifier: MIT
#include "iio_stream/memory.hpp"

#include "core/storage.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <fcntl.h>

namespace iio_stream {

namespace {

constexpr const char* kHeaps = "/dev/dma_heap";

std::string why_not_open(const std::string& path)
{
    try {
        (void)sys::open_file(path, O_RDWR);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

} // namespace

Memory Memory::parse(std::string_view option, std::string_view text)
{
    Memory memory;
    if (text == "pages")
        return memory;
    if (text == "udmabuf") {
        memory.kind = MemoryKind::udmabuf;
        return memory;
    }
    if (text.starts_with("heap:") && text.size() > 5) {
        memory.kind = MemoryKind::heap;
        memory.heap = text.substr(5);
        const auto heaps = sys::list_directory(kHeaps);
        // If there are no heaps at all, the name is not the problem: opening it will report that.
        if (!heaps.empty() && std::find(heaps.begin(), heaps.end(), memory.heap) == heaps.end())
            fail_usage(std::string(option) + "=" + std::string(text) + ": there is no " + kHeaps +
                           "/" + memory.heap,
                       suggest(memory.heap, heaps));
        return memory;
    }
    fail_usage(std::string(option) + "=" + std::string(text) + " is not a memory",
               "heap:NAME, udmabuf or pages");
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
    switch (kind) {
    case MemoryKind::heap:
        return "heap:" + heap;
    case MemoryKind::udmabuf:
        return "udmabuf";
    case MemoryKind::pages:
        return "pages";
    case MemoryKind::given:
        return "given";
    }
    return "";
}

std::vector<MemoryChoice> memory_choices()
{
    std::vector<MemoryChoice> choices;
    auto heaps = sys::list_directory(kHeaps);
    // "system" exists wherever there are heaps and is the fastest to allocate. Others (CMA) are
    // small and shared, and used only on request or if `doctor --probe` found them better.
    std::stable_partition(heaps.begin(), heaps.end(), [](const auto& h) { return h == "system"; });
    for (const std::string& heap : heaps)
        choices.push_back({{.kind = MemoryKind::heap, .heap = heap, .fds = {}},
                           why_not_open(std::string(kHeaps) + "/" + heap)});
    if (heaps.empty())
        choices.push_back({{.kind = MemoryKind::heap, .heap = "system", .fds = {}},
                           why_not_open(std::string(kHeaps) + "/system")});
    choices.push_back(
        {{.kind = MemoryKind::udmabuf, .heap = {}, .fds = {}}, why_not_open("/dev/udmabuf")});
    choices.push_back({{}, ""});
    return choices;
}

namespace detail {

MemoryTraits traits_of(const Memory& memory, std::size_t block_size)
{
    MemoryTraits traits;
    traits.memory = memory;
    traits.block_size = block_size;
    traits.attachable = memory.kind != MemoryKind::pages;
    traits.direct_io = memory.kind == MemoryKind::udmabuf || memory.kind == MemoryKind::pages;
    return traits;
}

} // namespace detail

} // namespace iio_stream
