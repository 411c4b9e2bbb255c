// SPDX-License-Identifier: MIT
#include "iio_stream/memory.hpp"

#include "core/memory_backend.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>

namespace iio_stream {

namespace {

using detail::MemoryBackend;

// If this machine has none at all, the name is not the problem: opening it will report that.
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
    fail_usage(said + " is not a memory", spellings());
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
