// SPDX-License-Identifier: MIT
#include "conformance/subject.hpp"

#include "core/memory/memory_backend.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/memory.hpp"

#include <algorithm>

namespace iio_stream::conformance {

namespace {

constexpr std::int64_t kBriefUseNs =
    500'000'000; ///< `info` and `doctor` open a device for a moment

void add_dmabuf(Subject& subject)
{
    if (!subject.buffer.dmabuf.value_or(false)) {
        subject.unusable.emplace_back("dmabuf", subject.buffer.dmabuf_reason);
        return;
    }
    if (subject.buffer.output) { // a sink takes the memory of its source
        subject.ways.push_back({"dmabuf", ""});
        return;
    }
    for (const MemoryChoice& choice : memory_choices()) {
        if (!detail::backend_of(choice.memory).attachable)
            continue;
        const Way way{"dmabuf", choice.memory.name()};
        if (choice.unavailable.empty())
            subject.ways.push_back(way);
        else
            subject.unusable.emplace_back(way.text(), choice.unavailable);
    }
}

} // namespace

std::size_t Subject::sample_bytes() const
{
    Format format;
    format.channels = buffer.channels;
    format.lay_out();
    return std::max<std::size_t>(format.sample_bytes, 1);
}

Uri Subject::uri(const Way& way) const
{
    Uri uri;
    uri.scheme = "iio";
    uri.rest = device.id();
    uri.options.set("path", way.path);
    if (!way.memory.empty())
        uri.options.set("memory", way.memory);
    if (buffer.index != 0)
        uri.options.set("buffer", std::to_string(buffer.index));
    return uri;
}

std::vector<Way> Subject::one_way_per_path() const
{
    std::vector<Way> best;
    for (const Way& way : ways)
        if (best.empty() || best.back().path != way.path)
            best.push_back(way);
    return best;
}

std::string use_of(const iio::Device& device, int buffer)
try {
    if (iio::is_enabled(device.id(), buffer))
        return "in use, not probed: its buffer is enabled";
    const iio::BufferFile file(device.id(), buffer, kBriefUseNs);
    return "";
} catch (const Error& error) {
    if (error.code() == std::errc::device_or_resource_busy)
        return std::string("in use, not probed: ") + error.what();
    return error.what();
}

void find_ways(Subject& subject)
{
    subject.ways.clear();
    subject.unusable.clear();
    subject.blocked = use_of(subject.device, subject.buffer.index);
    if (!subject.blocked.empty())
        return;
    if (subject.buffer.path.empty()) {
        subject.blocked = "its buffer could not be probed: " + subject.buffer.dmabuf_reason;
        return;
    }
    if (subject.buffer.channels.empty()) {
        subject.blocked = "none of its channels is understood";
        return;
    }
    subject.dma =
        iio::BufferDir(subject.device.id(), subject.device.name(), subject.buffer.index).is_dma();
    add_dmabuf(subject);
    if (subject.buffer.path == "mmap") { // the kernel's own blocks
        subject.ways.push_back({"mmap", ""});
        subject.unusable.emplace_back(
            "fileio", "read() is dangerous on this kernel: it offers legacy blocks, and "
                      "mixing both can corrupt its memory");
        return;
    }
    subject.unusable.emplace_back("mmap", "the kernel offers no legacy blocks");
    subject.ways.push_back({"fileio", ""});
}

} // namespace iio_stream::conformance
