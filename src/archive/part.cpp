// SPDX-License-Identifier: MIT
#include "archive/part.hpp"

#include "core/base/text.hpp"
#include "core/base/utc.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iio_stream::archive {

namespace {

using file::Json;

constexpr std::uint64_t kMostIndex = std::uint64_t{1}
                                     << 62; ///< so that the sum of two does not overflow

[[noreturn]] void refuse(const std::string& what)
{
    throw Error(Fault::storage, EBADMSG, "read", "", what);
}

std::optional<double> number_in(const Json& object, const char* key)
{
    const auto at = object.find(key);
    return at == object.end() || !at->is_number() ? std::nullopt : std::optional(at->get<double>());
}

std::uint64_t count_in(const Json& object, const char* key, std::uint64_t otherwise)
{
    const auto at = object.find(key);
    return at == object.end() ? otherwise : file::count_in(*at).value_or(otherwise);
}

/// Parses and repairs metadata. Throws an Error unless the samples are in one object, without other
/// bytes.
Json checked(std::string_view text)
{
    const Json parsed = file::parse_metadata(text, "");
    file::Inspection found = file::inspect(parsed);
    if (const std::string why = file::why_not_archived(parsed, found); !why.empty())
        refuse(why);
    Json metadata = std::move(found.repaired);
    for (const char* key : {"core:dataset", "core:metadata_only"})
        if (const auto at = metadata["global"].find(key);
            at != metadata["global"].end() && *at != Json(false))
            refuse(std::string("global: ") + key + " = " + at->dump().substr(0, 80) +
                   " is not supported");
    if (!file::contents_of(metadata).layout.is_plain())
        refuse("headers between the samples, and trailing bytes, are not supported");
    return metadata;
}

std::vector<Capture> captures_of(const Json& metadata)
{
    const Json& global = metadata["global"];
    const std::uint64_t offset = count_in(global, "core:offset", 0);
    const std::optional<double> rate = number_in(global, "core:sample_rate");
    std::vector<Capture> made;
    for (const Json& one : metadata["captures"]) {
        Capture capture;
        capture.start = count_in(one, "core:sample_start", 0) - offset;
        const std::uint64_t follows =
            made.empty() ? capture.start : made.back().index + (capture.start - made.back().start);
        capture.index = count_in(one, "core:global_index", follows);
        if ((!made.empty() && capture.index < follows) || capture.index >= kMostIndex)
            refuse("captures[" + std::to_string(made.size()) + "]: core:global_index = " +
                   std::to_string(capture.index) + " does not continue the previous capture");
        if (const auto at = one.find("core:datetime"); at != one.end())
            capture.utc_ns = detail::utc_of(at->get<std::string>());
        if (one.contains("core:datetime") && !capture.utc_ns)
            refuse("core:datetime = " + one["core:datetime"].get<std::string>() +
                   " is not a valid time");
        capture.frequency = number_in(one, "core:frequency");
        const std::optional<double> own = number_in(one, "iio_stream:sample_rate");
        capture.rate = own ? own : rate;
        made.push_back(capture);
    }
    if (!made.empty() && made[0].index < made[0].start)
        refuse("captures[0]: core:global_index = " + std::to_string(made[0].index) +
               " is less than core:sample_start");
    if (made.empty() || made[0].start > 0)
        made.insert(made.begin(),
                    {0, made.empty() ? 0 : made[0].index - made[0].start, {}, {}, rate});
    return made;
}

bool has_index(const Json& metadata)
{
    const Json& captures = metadata["captures"];
    return !captures.empty() && captures[0].contains("core:global_index");
}

std::vector<Zeros> zeros_of(const Json& metadata)
{
    const std::uint64_t offset = count_in(metadata["global"], "core:offset", 0);
    std::vector<Zeros> made;
    for (const Json& one : metadata["annotations"])
        if (const std::uint64_t filled = count_in(one, "iio_stream:filled", 0); filled != 0) {
            const std::uint64_t begin = count_in(one, "core:sample_start", 0) - offset;
            made.push_back({begin, begin + filled});
        }
    return made;
}

/// Returns the number of 4 to 18 digits at the end of a part's name.
std::optional<std::uint64_t> number_of(std::string_view name)
{
    constexpr std::size_t kFewest = 4, kMost = 18;
    const std::size_t point = name.rfind('.');
    if (point == std::string_view::npos || point == 0)
        return std::nullopt;
    const std::string_view digits = name.substr(point + 1);
    if (digits.size() < kFewest || digits.size() > kMost ||
        digits.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    return std::stoull(std::string(digits));
}

} // namespace

std::uint64_t Part::index_at(std::uint64_t place) const noexcept
{
    const auto after =
        std::upper_bound(captures.begin(), captures.end(), place,
                         [](std::uint64_t at, const Capture& one) { return at < one.start; });
    const Capture& capture = *std::prev(after);
    return capture.index + (place - capture.start);
}

std::optional<Part> part_of(const std::string& name, std::string_view text)
{
    const Json metadata = checked(text);
    const file::Contents contents = file::contents_of(metadata);
    if (contents.state == file::State::recording)
        return std::nullopt;
    Part part;
    part.name = name;
    // In the names of other programs' recordings the number can be a year.
    part.number = contents.state ? number_of(name) : std::nullopt;
    part.format = contents.format;
    part.device = detail::printable(contents.tuning.hardware);
    part.sha512 = contents.sha512;
    part.samples = contents.samples.value_or(kUnknown);
    part.captures = captures_of(metadata);
    if (part.number.value_or(0) != 0 && part.samples != 0 &&
        !has_index(metadata)) // a later part would have an index
        part.number.reset();
    part.zeros = zeros_of(metadata);
    if (contents.state) // in recordings by other programs the captures show the gaps
        part.gaps = contents.gaps;
    std::stable_sort(part.gaps.begin(), part.gaps.end(),
                     [](const Gap& a, const Gap& b) { return a.offset_max < b.offset_max; });
    return part;
}

void set_size(Part& part, std::uint64_t bytes)
{
    const std::uint64_t width = part.format.sample_bytes, there = bytes / width;
    if (part.samples == kUnknown)
        part.samples = there;
    if (part.samples > there)
        refuse(std::to_string(part.samples) + " samples of " + std::to_string(width) +
               " bytes, but its data have " + std::to_string(bytes) + " bytes");
    part.bytes = part.samples * width;
    part.data_bytes = bytes;
    const Capture& last = part.captures.back();
    if (last.start > part.samples || last.index + part.samples >= kMostIndex)
        refuse("its last capture begins at sample " + std::to_string(last.start) + ", index " +
               std::to_string(last.index) + ", and there are " + std::to_string(part.samples) +
               " samples");
    for (const Zeros& zeros : part.zeros)
        if (zeros.end > part.samples)
            refuse("zeros up to sample " + std::to_string(zeros.end) + ", but there are only " +
                   std::to_string(part.samples) + " samples");
}

} // namespace iio_stream::archive
