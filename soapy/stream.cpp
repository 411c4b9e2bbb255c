// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include "iio_stream/units.hpp"

#include <algorithm>
#include <cctype>

namespace iio_stream::soapy {

namespace {

constexpr std::string_view kBuffers = "buffers", kBufferLength = "bufflen", kTime = "time",
                           kOnGap = "on_gap";

SoapySDR::ArgInfo argument(std::string_view key, const char* value, SoapySDR::ArgInfo::Type type,
                           const char* text)
{
    SoapySDR::ArgInfo info;
    info.key = info.name = key;
    info.value = value;
    info.type = type;
    info.description = text;
    return info;
}

SoapySDR::ArgInfo choice(std::string_view key, std::vector<std::string> values, const char* text)
{
    SoapySDR::ArgInfo info = argument(key, values[0].c_str(), SoapySDR::ArgInfo::STRING, text);
    info.options = std::move(values);
    return info;
}

// Returns the default to show. Programs pass it back, so text that only describes it is left out.
std::string default_of(const Option& option)
{
    const std::string text(option.standard);
    const std::vector<std::string> words = option.words();
    const bool chosen = std::find(words.begin(), words.end(), text) != words.end();
    const bool number = option.type != OptionType::text && !text.empty() &&
                        std::isdigit(static_cast<unsigned char>(text[0])) != 0;
    return chosen || number ? text : "";
}

SoapySDR::ArgInfoList own_args(Port::Way way)
{
    SoapySDR::ArgInfoList args{argument(kBuffers, "0", SoapySDR::ArgInfo::INT,
                                        "Blocks of the stream, which are also the buffers for "
                                        "direct access; 0: for 250 ms, 8 to 64"),
                               argument(kBufferLength, "0", SoapySDR::ArgInfo::INT,
                                        "Length of a block, the MTU; 0: about 10 ms")};
    args[1].units = "samples";
    if (way == Port::Way::receive) {
        args.push_back(
            choice(kTime, {"index", "block"},
                   "How samples are dated: by their index and the rate, or by each block's time"));
        args.push_back(choice(kOnGap, {"mark", "zero-fill"}, "Whether zeros replace lost samples"));
    }
    return args;
}

std::vector<std::string> keys_of(const SoapySDR::ArgInfoList& args)
{
    std::vector<std::string> keys;
    for (const SoapySDR::ArgInfo& info : args)
        keys.push_back(info.key);
    return keys;
}

bool set_own(PipelineConfig& config, const SoapySDR::ArgInfoList& own, const std::string& key,
             const std::string& value, std::size_t sample_bytes)
{
    const auto info =
        std::find_if(own.begin(), own.end(), [&](const auto& arg) { return arg.key == key; });
    if (info == own.end())
        return false;
    check_choice(*info, value);
    if (key == kBuffers)
        config.blocks = parse_memory_size(key, value);
    else if (key == kBufferLength)
        config.block_size = parse_memory_size(key, value) * sample_bytes;
    else if (key == kOnGap)
        config.on_gap = value == "mark" ? OnGap::mark : OnGap::zero_fill;
    return true;
}

} // namespace

int Stream::wait_inactive(Lock& lock, long timeout_us, int code)
{
    const auto deadline = std::chrono::steady_clock::now() + wait_of(timeout_us);
    while (never_.wait_until(lock, deadline) != std::cv_status::timeout)
        ;
    return code;
}

Stream::Lock Stream::interrupt()
{
    interrupted_ = true;
    Lock lock(busy_);
    interrupted_ = false;
    return lock;
}

void check_choice(const SoapySDR::ArgInfo& info, const std::string& value)
{
    if (!info.options.empty() &&
        std::find(info.options.begin(), info.options.end(), value) == info.options.end())
        fail_usage(info.key + "=" + value, suggest(value, info.options));
}

const Option* option_named(const std::vector<Option>& options, const std::string& key)
{
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&](const Option& option) { return option.is(key); });
    return found == options.end() ? nullptr : &*found;
}

SoapySDR::ArgInfo describe(const Option& option)
{
    SoapySDR::ArgInfo info;
    info.key = info.name = option.key;
    info.value = default_of(option);
    info.description = option.help;
    if (info.value.empty() && !option.standard.empty())
        info.description += "; default: " + std::string(option.standard);
    info.units = option.unit;
    info.type =
        option.type == OptionType::on_off ? SoapySDR::ArgInfo::BOOL : SoapySDR::ArgInfo::STRING;
    if (option.type == OptionType::on_off)
        info.value = option.standard == "on" ? "true" : "false";
    else if (option.type == OptionType::choice)
        info.options = option.words();
    return info;
}

SoapySDR::ArgInfoList stream_args(const Port& port)
{
    SoapySDR::ArgInfoList args = own_args(port.way());
    for (const Option& option : port.options())
        args.push_back(describe(option));
    return args;
}

PipelineConfig pipeline_of(const StreamRequest& request, const Port& port, Uri& endpoint)
{
    const SoapySDR::ArgInfoList own = own_args(port.way());
    const std::vector<Option> options = port.options();
    PipelineConfig config;
    for (const auto& [key, value] : request.args) {
        // SoapyRemote's server passes on its client's arguments for the network.
        if (value.empty() || key == "WIRE" || key.starts_with("remote:") ||
            set_own(config, own, key, value, port.sample_bytes(request.channels)))
            continue;
        const Option* const option = option_named(options, key);
        if (option == nullptr)
            fail_usage("stream argument '" + key + "'", suggest(key, keys_of(stream_args(port))));
        endpoint.options = with_option(endpoint.options, std::string(option->key), value);
    }
    return config;
}

} // namespace iio_stream::soapy
