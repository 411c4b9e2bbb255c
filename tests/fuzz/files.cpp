// SPDX-License-Identifier: MIT
// Files next to samples on a disk, which anyone could have written, and the description of a remote
// context.
#include "fuzz/files.hpp"

#include "core/base/text.hpp"
#include "file/journal/journal_reader.hpp"
#include "file/sigmf/archive.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/copied_metadata.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_merge.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "file/sigmf/timeline.hpp"
#include "file/wav/header.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace iio_stream::fuzz {

namespace {

/// A file with the input, for functions that read by path.
class InputFile {
public:
    explicit InputFile(std::span<const std::byte> input) : fd_(::memfd_create("input", MFD_CLOEXEC))
    {
        if (fd_ < 0 ||
            ::write(fd_, input.data(), input.size()) != static_cast<ssize_t>(input.size()))
            throw std::runtime_error("the input cannot be stored");
    }
    InputFile(const InputFile&) = delete;
    ~InputFile() { ::close(fd_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
    int fd_;
};

void holds_printable(const std::string& text, const char* what)
{
    holds(detail::printable(text, detail::Lines::many) == text, what);
}

void check_buffer(const BufferInfo& buffer)
{
    for (const Channel& channel : buffer.channels) {
        holds_printable(channel.id, "the name of a channel is printable");
        holds(channel.type.bytes() >= 1, "the values of a channel have a size");
    }
    for (const std::string& remark : buffer.remarks)
        holds_printable(remark, "a remark is printable");
    for (const auto& [option, places] : buffer.tuning)
        for (const std::string& place : places)
            holds_printable(place, "the attributes that an option sets are printable");
}

void check_losses(const std::vector<file::Loss>& losses)
{
    for (const file::Loss& loss : losses) {
        holds(loss.gap.offset_min <= loss.gap.offset_max, "a loss begins before it ends");
        holds(loss.gap.lost_min <= loss.gap.lost_max, "lost_min is not above lost_max");
    }
}

} // namespace

void sigmf(std::span<const std::byte> input)
{
    const InputFile file(input);
    unless_refused<Error>([&] {
        const file::Json metadata = file::load_metadata(file.path());
        const file::Inspection found = file::inspect(metadata);
        if (!found.obstacle.empty())
            return;
        const file::Json placed = file::by_position(found.repaired);
        const file::Contents contents = file::contents_of(placed);
        const file::Timeline timeline(placed);
        (void)timeline.end_ns_of(1000);
        StreamInfo stream;
        stream.format = contents.format;
        file::Json copy = file::describe(stream, "copy", 0, "");
        file::Outcome copied_outcome;
        copied_outcome.samples = 1000;
        copied_outcome.losses = contents.losses;
        const file::CopiedMetadata copied(placed.dump());
        copied.add_global(copy);
        copied.write_outcome(copy, copied_outcome, {10, 1010, true}, true);
        (void)file::text_of(copy);
        if (!found.problems.empty())
            return;
        holds(contents.format.sample_bytes != 0, "samples have a size");
        check_losses(contents.losses);
        file::Json again = metadata;
        file::Outcome outcome;
        outcome.state = file::State::recovered;
        outcome.samples = contents.samples.value_or(1000);
        outcome.losses = contents.losses;
        file::merge_into_edited(again, outcome);
        (void)file::text_of(again);
    });
}

void journal(std::span<const std::byte> input)
{
    const file::JournalContents left = file::parse_journal(std::string(text_of(input)));
    check_losses(left.losses);
    holds(left.losses.size() <= file::kMostLosses, "the losses of a journal have a limit");
}

void wav(std::span<const std::byte> input)
{
    const InputFile file(input);
    unless_refused<Error>([&] {
        const file::WavHeader header = file::read_wav_header(file.path());
        holds(header.format.sample_bytes != 0, "samples have a size");
        holds(header.format.sample_rate > 0, "samples have a rate");
        holds(header.begin <= header.end && header.end <= input.size(), "samples are in the file");
        const std::size_t stored =
            header.packed24 ? header.format.sample_bytes / 4 * 3 : header.format.sample_bytes;
        holds(header.samples() * stored == header.end - header.begin, "samples are whole");
        holds_printable(header.remark, "a remark is printable");
    });
}

void sigmf_archive(std::span<const std::byte> input)
{
    const InputFile file(input);
    unless_refused<Error>([&] {
        const file::SigmfArchive archive = file::read_archive(file.path());
        const auto is_inside = [&](std::uint64_t begin, std::uint64_t bytes) {
            return begin <= input.size() && bytes <= input.size() - begin;
        };
        holds(is_inside(archive.meta_begin, archive.meta_bytes), "metadata are in the archive");
        holds(is_inside(archive.data_begin, archive.data_bytes), "samples are in the archive");
        (void)file::parse_metadata(file::archived_metadata_text(file.path(), archive),
                                   file::archived_metadata_name(file.path(), archive));
    });
}

void context(std::span<const std::byte> input)
{
    const InputFile file(input);
    unless_refused<Error>([&] {
        for (const DeviceInfo& device : devices("xml:" + file.path())) {
            holds_printable(device.id + device.name + device.label,
                            "the names of a device are printable");
            for (const BufferInfo& buffer : device.buffers)
                check_buffer(buffer);
            for (const AttributeInfo& a : device.attributes)
                holds_printable(a.channel + a.name + a.value + a.error, "attributes are printable");
        }
    });
}

} // namespace iio_stream::fuzz
