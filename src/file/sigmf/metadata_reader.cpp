// SPDX-License-Identifier: MIT
#include "file/sigmf/metadata_reader.hpp"

#include "core/loss/losses.hpp"
#include "iio_stream/recording.hpp"
#include "sys/disk/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr int kDeepest = 64; ///< levels of JSON; no metadata need that many, and stacks are finite

// The number of nested levels in a JSON text.
int levels_of(std::string_view text)
{
    int open = 0, most = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (in_string && letter == '\\')
            ++i;
        else if (letter == '"')
            in_string = !in_string;
        else if (!in_string && (letter == '{' || letter == '['))
            most = std::max(most, ++open);
        else if (!in_string && (letter == '}' || letter == ']'))
            --open;
    }
    return most;
}

std::optional<double> number(const Json& object, const char* key)
{
    const auto at = object.find(key);
    if (at == object.end() || !at->is_number())
        return std::nullopt;
    return at->get<double>();
}

// The value in all captures; nullopt if one of them differs.
std::optional<double> common_number(const Json& captures, const char* key)
{
    const auto first = number(captures[0], key);
    const bool same = std::all_of(captures.begin(), captures.end(), [&](const Json& capture) {
        return number(capture, key) == first;
    });
    return same ? first : std::nullopt;
}

std::string text(const Json& object, const char* key)
{
    const auto at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

std::uint64_t count(const Json& object, const char* key, std::uint64_t otherwise)
{
    const auto at = object.find(key);
    return at != object.end() ? count_in(*at).value_or(otherwise) : otherwise;
}

std::optional<State> state_of(const std::string& name)
{
    for (const State state :
         {State::recording, State::complete, State::interrupted, State::recovered})
        if (name == name_of(state))
            return state;
    return std::nullopt;
}

std::vector<Loss> own_losses(const Json& annotations, std::uint64_t offset)
{
    std::vector<Loss> losses;
    for (const Json& a : annotations) {
        const std::uint64_t begin = count(a, "core:sample_start", 0) - offset;
        const std::uint64_t end = begin + count(a, "core:sample_count", 0);
        if (a.contains("iio_stream:filled"))
            losses.push_back(zeros_at(begin, begin + count(a, "iio_stream:filled", 0)));
        if (!a.contains("iio_stream:lost_min"))
            continue;
        const std::string evidence = text(a, "iio_stream:evidence");
        losses.push_back({{begin, end, count(a, "iio_stream:lost_min", 0),
                           count(a, "iio_stream:lost_max", kUnknown),
                           detail::parse_evidence(evidence).value_or(Evidence::counter)},
                          evidence == "dropped" ? Loss::Kind::dropped : Loss::Kind::gap});
    }
    return losses;
}

// Gaps in recordings by other programs, where the stream's index jumps ahead of the file's.
std::vector<Loss> jumps_of(const Json& captures, std::uint64_t offset)
{
    std::vector<Loss> gaps;
    std::uint64_t before = 0, index = 0; // start and index of the previous capture
    bool first = true;
    for (const Json& capture : captures) {
        const std::uint64_t start = count(capture, "core:sample_start", 0);
        const std::uint64_t follows = first ? start : index + (start - before);
        index = count(capture, "core:global_index", follows);
        if (!first && index > follows)
            gaps.push_back({{start - offset, start - offset, index - follows, index - follows,
                             Evidence::counter}});
        if (std::exchange(first, false))
            index = std::max(index, start);
        before = start;
    }
    return gaps;
}

DataLayout layout_of(const Json& metadata, std::uint64_t offset)
{
    DataLayout layout;
    layout.trailing_bytes = count(metadata.at("global"), "core:trailing_bytes", 0);
    for (const Json& capture : metadata.at("captures"))
        if (const std::uint64_t bytes = count(capture, "core:header_bytes", 0); bytes != 0)
            layout.headers.push_back({count(capture, "core:sample_start", 0) - offset, bytes});
    return layout;
}

} // namespace

void refuse_long_metadata(std::uint64_t bytes, const std::string& path)
{
    if (bytes > kMostMetadata)
        throw Error(Fault::storage, EBADMSG, "read", path, kMetadataTooLong);
}

std::string load_metadata_text(const std::string& path)
{
    auto text = sys::read_whole(path, kMostMetadata + 1);
    if (!text)
        throw Error(
            Fault::storage, ENOENT, "open", path, {},
            "a SigMF recording is a pair: NAME.sigmf-meta, NAME.sigmf-data; for raw samples "
            "give format=ci16_le; an IIO device is iio:NAME");
    refuse_long_metadata(text->size(), path);
    return std::move(*text);
}

Json load_metadata(const std::string& path)
{
    return parse_metadata(load_metadata_text(path), path);
}

// With a callback, the library's parser visits all elements of an array again after each of them,
// which takes quadratic time. It therefore gets a callback only if the text is nested too deeply.
Json parse_metadata(std::string_view text, const std::string& path)
try {
    if (levels_of(text) <= kDeepest)
        return Json::parse(text);
    return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
        if (depth > kDeepest)
            throw Error(Fault::storage, EBADMSG, "read", "", "it is nested too deeply");
        return true;
    });
} catch (const Error& error) {
    throw Error(Fault::storage, EBADMSG, "read", path, error.detail());
} catch (const Json::parse_error& error) {
    throw Error(Fault::storage, EBADMSG, "read", path,
                "not valid JSON at byte " + std::to_string(error.byte));
} catch (const Json::exception&) {
    throw Error(Fault::storage, EBADMSG, "read", path, "not valid JSON: a number is out of range");
}

Settings settings_in(const Json& metadata)
{
    const Json& global = metadata.at("global");
    const Json& first = metadata.at("captures").at(0);
    const auto either = [&](const char* key) {
        const auto all = number(global, key);
        return all ? all : number(first, key);
    };
    const auto rate = number(global, "core:sample_rate");
    return {number(first, "core:frequency"), either("iio_stream:gain_db"),
            either("iio_stream:bandwidth_hz"),
            rate ? rate : number(first, "iio_stream:sample_rate")};
}

Contents contents_of(const Json& metadata, const std::optional<Format>& stated)
{
    const Json& global = metadata.at("global");
    const Json& captures = metadata.at("captures");
    Contents c;
    c.format = stated ? *stated
                      : format_of({global.at("core:datatype").get<std::string>(),
                                   count(global, "core:num_channels", 1)},
                                  global.value("iio_stream:channels", Json()));
    c.format.sample_rate = number(global, "core:sample_rate").value_or(0);
    if (!captures.empty()) {
        c.tuning.frequency = common_number(captures, "core:frequency");
        // Samples before the first capture belong to it.
        const std::uint64_t index = count(captures[0], "core:global_index", 0);
        const std::uint64_t start = count(captures[0], "core:sample_start", 0);
        const std::uint64_t skipped = count(global, "core:offset", 0);
        c.first_index = index - std::min(index, start - std::min(start, skipped));
        c.first_exact = captures[0].value("iio_stream:index_exact", Json(true)) != Json(false);
    }
    c.tuning.rate = number(global, "core:sample_rate");
    c.tuning.gain = number(global, "iio_stream:gain_db");
    c.tuning.bandwidth = number(global, "iio_stream:bandwidth_hz");
    c.tuning.antenna = text(global, "iio_stream:antenna");
    c.tuning.hardware = text(global, "core:hw");
    c.dataset = text(global, "core:dataset");
    c.metadata_only = global.value("core:metadata_only", false);
    c.sha512 = text(global, "core:sha512");
    c.state = state_of(text(global, "iio_stream:state"));
    if (global.contains("iio_stream:samples"))
        c.samples = count(global, "iio_stream:samples", 0);
    const std::uint64_t offset = count(global, "core:offset", 0);
    c.layout = layout_of(metadata, offset);
    c.losses =
        c.state ? own_losses(metadata.at("annotations"), offset) : jumps_of(captures, offset);
    for (const Loss& loss : c.losses)
        if (loss.kind != Loss::Kind::filled)
            c.gaps.push_back(loss.gap);
    for (const Gap& gap : c.gaps) // included in the first index
        if (gap.offset_max == 0)
            c.first_index -= std::min(c.first_index, gap.lost_min);
    return c;
}

} // namespace iio_stream::file
