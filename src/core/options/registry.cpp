// SPDX-License-Identifier: MIT
#include "core/options/registry.hpp"

#include "core/base/text.hpp"
#include "core/options/common_options.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream {

namespace {

std::vector<Scheme>& table()
{
    static std::vector<Scheme> schemes = detail::builtin_schemes();
    return schemes;
}

const Scheme& find(const std::string& name)
{
    const auto at = std::find_if(table().begin(), table().end(),
                                 [&](const Scheme& scheme) { return scheme.name == name; });
    if (at == table().end())
        fail_usage("there is no endpoint '" + name + ":'");
    if (at->missing)
        throw Error(Fault::usage, ENOTSUP, "open", name + ":", at->missing->why, at->missing->fix);
    return *at;
}

std::string those_with(bool (*can)(const Scheme&))
{
    std::string names;
    for (const Scheme& scheme : table())
        if (can(scheme))
            detail::add_item(names, scheme.name + ":");
    return names;
}

bool knows(const std::vector<Option>& options, const std::string& key)
{
    return std::any_of(options.begin(), options.end(),
                       [&](const Option& option) { return option.is(key); });
}

// Names of options in other programs (GNU Radio, UHD, SoapySDR, libiio), and our names.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"samp_rate", "rate"},
    {"sampling_frequency", "rate"},
    {"samplerate", "rate"},
    {"fs", "rate"},
    {"center_freq", "frequency"},
    {"lo", "frequency"},
    {"lo_freq", "frequency"},
    {"bw", "bandwidth"},
    {"rf_bandwidth", "bandwidth"},
    {"hardwaregain", "gain"},
    {"gain_mode", "agc"},
    {"gain_control_mode", "agc"},
    {"ant", "antenna"},
    {"buffer_size", "block-size"},
    {"num_samples", "samples"},
    {"num_samps", "samples"},
    {"nsamps", "samples"}};

// Options of the whole stream, which do not belong to an endpoint.
constexpr std::string_view kOfTheStream[] = {"samples", "bytes",  "duration",   "timeout",
                                             "blocks",  "on-gap", "block-size", "reconnect"};

std::string suggest_option(const std::string& key, const std::vector<std::string>& known)
{
    const std::vector<std::string> of_the_stream(std::begin(kOfTheStream), std::end(kOfTheStream));
    std::string wanted = key;
    for (const auto& [other, ours] : kOtherNames)
        if (key == other)
            wanted = ours;
    if (wanted != key && std::find(known.begin(), known.end(), wanted) != known.end())
        return "did you mean '" + wanted + "'?";
    std::replace(wanted.begin(), wanted.end(), '_', '-');
    if (nearest(key, known).empty())
        wanted = nearest(wanted, of_the_stream);
    if (std::find(of_the_stream.begin(), of_the_stream.end(), wanted) != of_the_stream.end())
        return "it is an option of the stream: --" + wanted;
    return suggest(key, known);
}

// Whether `key` is an option of a source, written after the sink by mistake: "sim: null: loop=on".
bool is_of_a_source(const std::string& key)
{
    return std::ranges::any_of(table(), [&](const Scheme& scheme) {
        return scheme.source && knows(options_of(scheme, OptionSide::source), key);
    });
}

// Whether `key` is an option of a file, written before the file by mistake: "sim: overwrite=on
// a.ci16".
bool is_of_a_file(const std::string& key)
{
    return std::any_of(table().begin(), table().end(), [&](const Scheme& scheme) {
        return scheme.name == "file" && knows(options_of(scheme, OptionSide::sink), key);
    });
}

[[noreturn]] void refuse_option(const std::string& key, const Scheme& scheme, const Uri& uri,
                                const std::vector<Option>& possible, OptionSide side,
                                const std::string& kind)
{
    const std::string refusal = uri.scheme + ":" + uri.rest + " has no option '" + key + "'";
    const bool sink = side == OptionSide::sink;
    if (knows(options_of(scheme, side), key))
        fail_usage(refusal + ": it is " + kind,
                   "iio-stream help " + scheme.name + " explains the option");
    if (knows(options_of(scheme), key))
        fail_usage(refusal + " as a " + (sink ? "sink" : "source"),
                   sink ? "only as a source: an option follows the endpoint that it belongs to"
                        : "only as a sink");
    if (!sink && is_of_a_file(key))
        fail_usage(refusal, "write it after the file it applies to; in Python, use "
                            "file_options={'" +
                                key + "': …}");
    std::vector<std::string> known;
    for (const Option& option : possible)
        known.emplace_back(option.key);
    if (sink && nearest(key, known).empty() && is_of_a_source(key))
        fail_usage(refusal, "write it after the source that it belongs to");
    fail_usage(refusal, suggest_option(key, known));
}

// Throws if the endpoint has not taken an option of its table: it would ignore the option.
void require_all_taken(const Uri& uri)
{
    for (const auto& [key, value] : uri.options.values())
        throw Error(Fault::other, EINVAL, "create", uri.scheme + ":" + uri.rest,
                    "it does not read its option '" + key + "'");
}

// Returns the options of `own` and the common options, as far as they apply to that side.
std::vector<Option> with_common(std::vector<Option> own, OptionSide side)
{
    for (const Option& option : common_options())
        if (!knows(own, std::string(option.key)))
            own.push_back(option);
    std::erase_if(own, [&](const Option& option) {
        return side != OptionSide::both && !option.is_for(side);
    });
    return own;
}

} // namespace

void register_scheme(Scheme scheme)
{
    std::erase_if(table(), [&](const Scheme& old) { return old.name == scheme.name; });
    table().push_back(std::move(scheme));
}

const std::vector<Scheme>& schemes()
{
    return table();
}

const std::vector<Option>& common_options()
{
    static const std::vector<Option> options = join(detail::kCommon);
    return options;
}

std::vector<Option> options_of(const Scheme& scheme, OptionSide side)
{
    std::vector<Option> options = with_common(scheme.options, side);
    std::erase_if(options, [&](const Option& option) {
        return (option.side == OptionSide::source && !scheme.source) ||
               (option.side == OptionSide::sink && !scheme.sink);
    });
    return options;
}

namespace detail {

bool has_own_option(const std::string& scheme, const Option& option)
{
    return knows(find(scheme).options, std::string(option.key));
}

void require_options(const Uri& uri, const std::vector<Option>& own, OptionSide side,
                     const std::string& kind)
{
    const std::vector<Option> possible = with_common(own, side);
    for (const auto& [key, value] : uri.options.values())
        if (!knows(possible, key))
            refuse_option(key, find(uri.scheme), uri, possible, side, kind);
}

std::unique_ptr<Source> make_source(Uri& uri)
{
    const Scheme& scheme = find(uri.scheme);
    if (!scheme.source)
        fail_usage(uri.scheme + ": cannot be read from",
                   "sources are " + those_with([](auto& s) { return s.source != nullptr; }));
    if (!scheme.has_kinds)
        require_options(uri, scheme.options, OptionSide::source);
    auto source = scheme.source(uri);
    require_all_taken(uri);
    return source;
}

std::unique_ptr<Sink> make_sink(Uri& uri)
{
    const Scheme& scheme = find(uri.scheme);
    if (!scheme.sink)
        fail_usage(uri.scheme + ": cannot be written to",
                   "sinks are " + those_with([](auto& s) { return s.sink != nullptr; }));
    if (!scheme.has_kinds)
        require_options(uri, scheme.options, OptionSide::sink);
    auto sink = scheme.sink(uri);
    require_all_taken(uri);
    return sink;
}

} // namespace detail

} // namespace iio_stream
