// SPDX-License-Identifier: MIT
// What is next to samples on a disk, where anyone may have written it, and what a remote context
// says of itself.
#include "fuzz/files.hpp"

#include "core/text.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/read_journal.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace iio_stream::fuzz {

namespace {

/// A file of the input, for what reads by path.
class InputFile {
public:
    explicit InputFile(std::span<const std::byte> input) : fd_(::memfd_create("input", MFD_CLOEXEC))
    {
        if (fd_ < 0 ||
            ::write(fd_, input.data(), input.size()) != static_cast<ssize_t>(input.size()))
            throw std::runtime_error("there is no room for the input");
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
        holds_printable(channel.id, "a channel's name is fit for a terminal");
        holds(channel.type.bytes() >= 1, "and its values have a size");
    }
    for (const std::string& remark : buffer.remarks)
        holds_printable(remark, "so is a remark");
    for (const auto& [option, places] : buffer.tuning)
        for (const std::string& place : places)
            holds_printable(place, "and what an option sets");
}

void check_losses(const std::vector<file::Loss>& losses)
{
    for (const file::Loss& loss : losses) {
        holds(loss.gap.offset_min <= loss.gap.offset_max, "a loss begins before it ends");
        holds(loss.gap.lost_min <= loss.gap.lost_max, "at least is no more than at most");
    }
}

} // namespace

void sigmf(std::span<const std::byte> input)
{
    const InputFile file(input);
    unless_refused<Error>([&] {
        const file::Json metadata = file::load_metadata(file.path());
        for (const std::string& problem : file::problems_of(metadata))
            if (!problem.empty())
                return;
        const file::Contents contents = file::contents_of(metadata);
        holds(contents.format.sample_bytes != 0, "samples have a size");
        check_losses(contents.losses);
        file::Json again = metadata;
        file::Outcome outcome;
        outcome.state = file::State::recovered;
        outcome.samples = contents.samples.value_or(1000);
        outcome.losses = contents.losses;
        file::conclude_again(again, outcome);
        (void)file::text_of(again);
    });
}

void journal(std::span<const std::byte> input)
{
    const file::JournalContents left = file::parse_journal(std::string(text_of(input)));
    check_losses(left.losses);
    holds(left.losses.size() <= file::kMostLosses, "what a journal makes of itself has a limit");
}

void context(std::span<const std::byte> input)
{
    const InputFile file(input);
    unless_refused<Error>([&] {
        for (const DeviceInfo& device : devices("xml:" + file.path())) {
            holds_printable(device.id + device.name + device.label,
                            "a device's names are fit for a terminal");
            for (const BufferInfo& buffer : device.buffers)
                check_buffer(buffer);
            for (const AttributeInfo& a : device.attributes)
                holds_printable(a.channel + a.name + a.value + a.error, "so are its attributes");
        }
    });
}

} // namespace iio_stream::fuzz
