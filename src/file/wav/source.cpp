// SPDX-License-Identifier: MIT
#include "file/wav/source.hpp"

#include "core/format/format_options.hpp"
#include "file/options.hpp"
#include "file/sigmf/file_pair.hpp"
#include "file/wav/header.hpp"
#include "iio_stream/error.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace iio_stream::file {

namespace {

class Packed24Input final : public Input {
public:
    Packed24Input(const OpenInput& file, std::size_t blocks)
        : file_(file), ranges_(file.ranges.value_or(std::vector<ByteRange>{}))
    {
        queue_.reset(blocks);
        if (!ranges_.empty())
            at_ = ranges_.front().begin;
    }

    void submit(EmptyBlock block, std::size_t bytes) override
    {
        queue_.push({std::move(block), bytes});
    }
    Got take() override;
    Wait wait() override { return {-1, 0, 0, !queue_.empty()}; }
    std::size_t pending() const noexcept override { return queue_.size(); }

private:
    std::size_t read(std::span<std::byte> out);
    bool at_end() const noexcept { return range_ == ranges_.size(); }

    OpenInput file_;
    std::vector<ByteRange> ranges_;
    std::size_t range_ = 0; ///< number of the range being read
    std::uint64_t at_ = 0;  ///< place in the file, in that range
    detail::FillQueue queue_;
};

// Fills `out` up to the end of the samples, and returns how many bytes it has read.
std::size_t Packed24Input::read(std::span<std::byte> out)
{
    std::size_t done = 0;
    while (done < out.size() && !at_end()) {
        const ByteRange& range = ranges_[range_];
        const auto most =
            static_cast<std::size_t>(std::min<std::uint64_t>(out.size() - done, range.end - at_));
        if (sys::read_at(file_.fd, file_.path, at_, out.subspan(done, most)) != most)
            throw Error(Fault::storage, ENODATA, "read", file_.path,
                        "it was truncated while it was read");
        done += most;
        at_ += most;
        if (at_ != range.end)
            continue;
        ++range_;
        if (at_end() && file_.loop)
            range_ = 0;
        if (!at_end())
            at_ = ranges_[range_].begin;
    }
    return done;
}

// Reads the 24-bit values into the end of the block, and writes the 32-bit values to its front.
// Each value is read before its place is overwritten.
Got Packed24Input::take()
{
    if (at_end())
        return {std::nullopt, true};
    if (queue_.empty())
        return {};
    detail::FillRequest order = queue_.pop();
    const CpuWrite out{order.block};
    const auto packed = out.bytes().first(order.bytes).subspan(order.bytes / 4);
    const std::size_t values = read(packed) / 3;
    const std::byte* from = packed.data();
    std::byte* to = out.bytes().data();
    for (std::size_t n = 0; n < values; ++n, from += 3, to += 4) {
        const std::byte value[] = {std::byte{0}, from[0], from[1], from[2]};
        std::memcpy(to, value, sizeof value);
    }
    order.bytes = values * 4;
    return {std::move(order), at_end()};
}

} // namespace

std::unique_ptr<Input> make_packed24_input(const OpenInput& file, std::size_t blocks)
{
    return std::make_unique<Packed24Input>(file, blocks);
}

bool is_wav(const FileTarget& target)
{
    if (target.is_special || has_sigmf_suffix(target.path))
        return false;
    return target.suffix.kind == FileKind::wav || begins_with_riff(target.path);
}

SourceSettings settings_of_wav(Uri& uri, FileTarget target)
{
    SourceSettings s;
    s.target = std::move(target);
    refuse_unfinished_file(s.target.path);
    const WavHeader header = read_wav_header(s.target.path);
    const std::string found = header.format.name();
    Format stated = detail::format_from_options(
        uri.options, found, std::to_string(header.format.channels.size()), "", "");
    // The header does not state whether two channels are I and Q, so the first letter is not
    // compared.
    if (stated.name().substr(1) != found.substr(1))
        fail_usage(s.target.path + ": the header says " + found + ", but format= says " +
                       stated.name(),
                   "leave format= out; convert= converts the samples");
    if (stated.channels.size() != header.format.channels.size())
        fail_usage(s.target.path + ": the header says " +
                   std::to_string(header.format.channels.size()) + " channels, not " +
                   std::to_string(stated.channels.size()));
    if (stated.sample_rate <= 0)
        stated.sample_rate = header.format.sample_rate;
    s.format = std::move(stated);
    s.set_place(header.begin, header.end, header.file_bytes);
    s.packed24 = header.packed24;
    s.remark = header.remark;
    s.tuning.frequency = header.frequency;
    s.utc_ns = header.utc_ns;
    s.take_circumstances(uri.options, facts_in_name(s.target.path));
    s.take_reading(uri.options);
    s.describe_samples();
    return s;
}

} // namespace iio_stream::file
