// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cctype>

namespace iio_stream {

namespace {

// "rate_bytes" and "rate-bytes" are the same key. Names of attributes come from the kernel and must
// match exactly.
bool same_key(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char one, char other) {
        return one == other || ((one == '-' || one == '_') && (other == '-' || other == '_'));
    });
}

bool is_capital(char c)
{
    return std::isupper(static_cast<unsigned char>(c)) != 0;
}

// Whether only the listed values are valid. If "on" is listed, its synonyms are valid too, and
// parse_switch() checks the value. A value with capitals, such as NAME, stands for any text.
bool is_closed(const Option& option)
{
    if (option.type != OptionType::choice)
        return false;
    const std::vector<std::string> values = detail::split(std::string(option.values), '|');
    return std::none_of(values.begin(), values.end(), [](const std::string& value) {
        return value == "on" || std::any_of(value.begin(), value.end(), is_capital);
    });
}

void check_choice(const Option& option, const std::string& value)
{
    if (!is_closed(option))
        return;
    const std::vector<std::string> words = option.words();
    if (std::find(words.begin(), words.end(), value) != words.end())
        return;
    std::string possible = words[0];
    for (std::size_t i = 1; i < words.size(); ++i)
        possible += (i + 1 == words.size() ? " or " : ", ") + words[i];
    const std::string close = nearest(value, words);
    fail_usage(std::string(option.key) + "=" + value + " is not " + possible,
               close.empty() ? "" : "did you mean '" + close + "'?");
}

template <auto parse>
auto parsed(const Option& option, const std::optional<std::string>& text)
    -> std::optional<decltype(parse(option.key, *text))>
{
    if (!text)
        return std::nullopt;
    return parse(option.key, *text);
}

} // namespace

std::string name_of(OptionType type)
{
    static constexpr std::array kNames{"text", "choice", "number", "size",
                                       "rate", "time",   "switch"};
    return kNames[static_cast<std::size_t>(type)];
}

std::string Option::values_text() const
{
    static constexpr std::array kUsual{"TEXT", "TEXT", "N", "SIZE", "RATE", "TIME", "on|off"};
    return values.empty() ? kUsual[static_cast<std::size_t>(type)] : std::string(values);
}

bool Option::is(std::string_view text) const noexcept
{
    if (key.ends_with('.'))
        return text.starts_with(key) && text.size() > key.size();
    return same_key(text, key) || (!alias.empty() && same_key(text, alias));
}

std::vector<std::string> Option::words() const
{
    if (type == OptionType::on_off)
        return {"on", "off"};
    std::vector<std::string> words = detail::split(std::string(values), '|');
    std::erase_if(words, [](const std::string& word) {
        return word.empty() || std::any_of(word.begin(), word.end(), is_capital);
    });
    return words;
}

void Options::set(std::string key, std::string value)
{
    const auto [at, fresh] = values_.try_emplace(std::move(key), std::move(value));
    if (!fresh)
        fail_usage("option " + at->first + " is given twice");
}

std::map<std::string, std::string>::const_iterator Options::find(const Option& option) const
{
    const auto is_it = [&](const auto& entry) { return option.is(entry.first); };
    const auto at = std::find_if(values_.begin(), values_.end(), is_it);
    if (at != values_.end() && std::find_if(std::next(at), values_.end(), is_it) != values_.end())
        fail_usage("option " + std::string(option.key) + " is given twice");
    return at;
}

std::optional<std::string> Options::take(const Option& option)
{
    const auto at = find(option);
    if (at == values_.end())
        return std::nullopt;
    std::string value = at->second;
    values_.erase(at);
    check_choice(option, value);
    return value;
}

std::optional<std::uint64_t> Options::take_size(const Option& option)
{
    return parsed<&parse_size>(option, take(option));
}

std::optional<std::size_t> Options::take_memory_size(const Option& option)
{
    return parsed<&parse_memory_size>(option, take(option));
}

std::optional<double> Options::take_rate(const Option& option)
{
    return parsed<&parse_rate>(option, take(option));
}

std::optional<std::chrono::nanoseconds> Options::take_duration(const Option& option)
{
    return parsed<&parse_duration>(option, take(option));
}

std::optional<bool> Options::take_switch(const Option& option)
{
    return parsed<&parse_switch>(option, take(option));
}

std::string Options::take_or_standard(const Option& option)
{
    return take(option).value_or(std::string(option.standard));
}

std::uint64_t Options::take_size_or_standard(const Option& option)
{
    return parse_size(option.key, take_or_standard(option));
}

double Options::take_rate_or_standard(const Option& option)
{
    return parse_rate(option.key, take_or_standard(option));
}

std::chrono::nanoseconds Options::take_duration_or_standard(const Option& option)
{
    return parse_duration(option.key, take_or_standard(option));
}

bool Options::take_switch_or_standard(const Option& option)
{
    return parse_switch(option.key, take_or_standard(option));
}

std::string Options::get(const Option& option) const
{
    const auto at = find(option);
    return at == values_.end() ? std::string(option.standard) : at->second;
}

std::string Options::get(const std::string& key, std::string_view otherwise) const
{
    const auto at = values_.find(key);
    return at == values_.end() ? std::string(otherwise) : at->second;
}

bool Options::has(const Option& option) const
{
    return find(option) != values_.end();
}

std::vector<std::pair<std::string, std::string>> Options::take_prefixed(const Option& option)
{
    std::vector<std::pair<std::string, std::string>> taken;
    for (auto at = values_.begin(); at != values_.end();) {
        if (!option.is(at->first)) {
            ++at;
            continue;
        }
        taken.emplace_back(at->first.substr(option.key.size()), at->second);
        at = values_.erase(at);
    }
    return taken;
}

} // namespace iio_stream
