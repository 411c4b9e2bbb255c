// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

/// What an option's value is: decides how it is read, and what help and completions offer.
enum class OptionType {
    /// Anything, such as a name.
    text,
    /// One of Option::values.
    choice,
    /// A count, or a decimal number.
    number,
    /// Bytes or samples, with k M G T or Ki Mi Gi Ti.
    size,
    /// Hertz or samples per second, with k M G.
    rate,
    /// A duration, with ms s min h.
    time,
    on_off, ///< on or off
};
/// "text", "choice" …, as Python and the tests see it.
IIO_STREAM_API std::string name_of(OptionType type);

/// As what an endpoint takes the option.
enum class OptionSide {
    both,   ///< as source and as sink
    source, ///< only where samples come from it
    sink    ///< only where samples go to it
};

/// One option of an endpoint, stated once: parsing, "did you mean", help, the man page, completions
/// and the Python package are all made from it. All texts are literals and live forever.
struct Option {
    std::string_view key;      ///< "rate"; with a dot at its end ("attr.") all keys that begin with it
    OptionType type = OptionType::text; ///< how a value is read
    std::string_view values;   ///< "auto|dmabuf|fileio"; what the user fills in is in capitals: "NAME"
    std::string_view unit;     ///< of a bare number: "Hz", "samples"; empty where there is none
    std::string_view standard; ///< the default: a value, or words that say what it is
    std::string_view help;     ///< one sentence without a full stop
    OptionSide side = OptionSide::both; ///< where it may be given
    std::string_view alias = {}; ///< another key that means the same

    /// Whether `text` means this option: dashes and underscores are the same.
    IIO_STREAM_API bool is(std::string_view text) const noexcept;
    /// What the value is to be, for a user: `values`, or "SIZE" and the like, by the type.
    IIO_STREAM_API std::string values_text() const;
    /// The values in lower case, which can be given as they are; "on", "off" for a switch.
    IIO_STREAM_API std::vector<std::string> words() const;
    /// Whether an endpoint takes it as that.
    bool is_for(OptionSide wanted) const noexcept
    {
        return side == OptionSide::both || side == wanted;
    }
};

/// An endpoint's options:
///
///     inline constexpr OptionTable table{
///         Option{"rate", OptionType::rate, "RATE", "S/s", "1M", "Samples per second"}};
///     const auto rate = uri.options.take(table["rate"]);
///
/// table["rate"] is looked up by the compiler: an option that is read but not in the table does not
/// compile.
template <std::size_t count>
struct OptionTable : std::array<Option, count> {
    consteval const Option& operator[](std::string_view key) const
    {
        for (const Option& option : *this)
            if (option.key == key)
                return option;
        throw "no such option in this table"; // never runs: a constant expression cannot throw
    }
};
// Deduces the number of options: OptionTable{Option{…}, Option{…}}.
template <typename... Options>
OptionTable(Options...) -> OptionTable<sizeof...(Options)>;

/// Several tables, one after another: what a Scheme states as its `options`.
template <typename... Tables>
std::vector<Option> join(const Tables&... tables)
{
    std::vector<Option> all;
    (all.insert(all.end(), tables.begin(), tables.end()), ...);
    return all;
}

/// The options that every source takes (side source) or every sink (side sink), whatever its scheme.
IIO_STREAM_API const std::vector<Option>& common_options();

} // namespace iio_stream
