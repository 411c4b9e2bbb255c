// SPDX-License-Identifier: MIT
#include "ranges.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace iio_stream::soapy {

namespace {

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> words(1);
    for (const char c : text)
        if (c == ' ' || c == '\n' || c == '\t' || c == '[' || c == ']')
            words.emplace_back();
        else
            words.back() += c;
    std::erase(words, "");
    return words;
}

std::optional<double> number(const std::string& word)
{
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() ? std::optional(value)
                                                                    : std::nullopt;
}

} // namespace

std::string text_of(double value)
{
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

SoapySDR::RangeList ranges_of(const std::string& available)
{
    std::vector<double> values;
    for (const std::string& word : split(available))
        if (const auto value = number(word))
            values.push_back(*value);
    if (available.starts_with('[') && values.size() == 3)
        return {SoapySDR::Range(values[0], values[2], values[1])};
    std::sort(values.begin(), values.end());
    SoapySDR::RangeList ranges;
    for (const double value : values)
        ranges.emplace_back(value, value);
    return ranges;
}

SoapySDR::Range whole_range(const SoapySDR::RangeList& ranges, double otherwise)
{
    if (ranges.empty())
        return {otherwise, otherwise};
    return {ranges.front().minimum(), ranges.back().maximum(),
            ranges.size() == 1 ? ranges[0].step() : 0};
}

std::vector<std::string> words_of(const std::string& available)
{
    return available.starts_with('[') ? std::vector<std::string>{} : split(available);
}

} // namespace iio_stream::soapy
