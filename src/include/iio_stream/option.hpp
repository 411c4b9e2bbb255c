// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

/// The type of an option's value: decides how it is parsed, and what help and completions offer.
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
/// "text", "choice" …, the names used by Python and the tests.
IIO_STREAM_API std::string name_of(OptionType type);

/// On which side of a stream an endpoint takes the option.
enum class OptionSide {
    both,   ///< as source and as sink
    source, ///< only when samples come from it
    sink    ///< only when samples go to it
};

/// One option of an endpoint, stated once: parsing, "did you mean", help, the man page, completions
/// and the Python package are all made from it. All texts are literals and live forever.
struct Option {
    std::string_view key; ///< "rate"; a dot at the end ("attr.") covers all keys that start with it
    OptionType type = OptionType::text; ///< how a value is read
    std::string_view values;   ///< "auto|dmabuf|mmap|fileio"; placeholders are in capitals: "NAME"
    std::string_view unit;     ///< of a bare number: "Hz", "samples"; empty if there is none
    std::string_view standard; ///< the default: a value, or words that describe it
    std::string_view help;     ///< one sentence without a full stop
    OptionSide side = OptionSide::both; ///< where it may be given
    std::string_view alias = {};        ///< another spelling of the key

    /// Whether `text` means this option: dashes and underscores are the same.
    IIO_STREAM_API bool is(std::string_view text) const noexcept;
    /// What to write as the value: `values`, or "SIZE" and the like, depending on the type.
    IIO_STREAM_API std::string values_text() const;
    /// The values that can be typed as they are, in lower case; "on" and "off" for a switch.
    IIO_STREAM_API std::vector<std::string> words() const;
    /// Whether an endpoint takes it on that side.
    bool is_for(OptionSide wanted) const noexcept
    {
        return side == OptionSide::both || side == wanted;
    }
};

/// The options of an endpoint:
///
///     inline constexpr OptionTable table{
///         Option{"rate", OptionType::rate, "RATE", "S/s", "1M", "Samples per second"}};
///     const auto rate = uri.options.take(table["rate"]);
///
/// The compiler looks up table["rate"]: code that reads an option missing from the table does not
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

/// Several tables in a row: a Scheme's `options`.
template <typename... Tables>
std::vector<Option> join(const Tables&... tables)
{
    std::vector<Option> all;
    (all.insert(all.end(), tables.begin(), tables.end()), ...);
    return all;
}

/// The options every source takes (side source), or every sink (side sink), whatever its scheme.
IIO_STREAM_API const std::vector<Option>& common_options();

} // namespace iio_stream
