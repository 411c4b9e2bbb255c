// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

/// The type of an option's value. It determines how the value is parsed and what help and
/// completions offer.
enum class OptionType {
    /// Any text, such as a name.
    text,
    /// One of Option::values.
    choice,
    /// A count or a decimal number.
    number,
    /// A number of bytes or samples, with an optional suffix k M G T or Ki Mi Gi Ti.
    size,
    /// A frequency in hertz or a rate in samples per second, with an optional suffix k M G.
    rate,
    /// A duration, with a unit such as ms, s, min or h; in seconds without one.
    time,
    on_off, ///< on or off
};
/// Returns the type's name, "text", "choice" …, as Python and the tests use it.
IIO_STREAM_API std::string name_of(OptionType type);

/// The side of a stream on which an endpoint accepts an option.
enum class OptionSide {
    both,   ///< as source and as sink
    source, ///< only as source
    sink    ///< only as sink
};

/// The single definition of an option of an endpoint. Parsing, "did you mean", help, the man page,
/// completions and the Python package are all derived from it. All texts are string literals, which
/// are never freed.
struct Option {
    std::string_view key; ///< "rate"; a key that ends in a dot ("attr.") covers all keys that start
                          ///< with it
    OptionType type = OptionType::text; ///< type of the value
    std::string_view values;   ///< "auto|dmabuf|mmap|fileio"; placeholders are in capitals: "NAME"
    std::string_view unit;     ///< unit of a bare number: "Hz", "samples"; empty if it has none
    std::string_view standard; ///< the default: a value, or words that describe it
    std::string_view help;     ///< one sentence without a full stop
    OptionSide side = OptionSide::both; ///< side on which it is accepted
    std::string_view alias = {};        ///< another spelling of the key

    /// Returns whether `text` is the name of this option. Dashes and underscores are equivalent.
    IIO_STREAM_API bool is(std::string_view text) const noexcept;
    /// Returns the placeholder for the value in help texts: `values`, or one that depends on the
    /// type, such as "SIZE".
    IIO_STREAM_API std::string values_text() const;
    /// Returns the literal values, in lower case; "on" and "off" for a switch.
    IIO_STREAM_API std::vector<std::string> words() const;
    /// Returns whether an endpoint accepts the option on that side.
    bool is_for(OptionSide wanted) const noexcept
    {
        return side == OptionSide::both || side == wanted;
    }
};

/// The table of an endpoint's options:
///
///     inline constexpr OptionTable table{
///         Option{"rate", OptionType::rate, "RATE", "S/s", "1M", "Samples per second"}};
///     const auto rate = uri.options.take_rate(table["rate"]);
///
/// The compiler evaluates table["rate"], so code that reads an option missing from the table does
/// not compile.
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

/// Concatenates several tables into a Scheme's `options`.
template <typename... Tables>
std::vector<Option> join(const Tables&... tables)
{
    std::vector<Option> all;
    (all.insert(all.end(), tables.begin(), tables.end()), ...);
    return all;
}

/// Returns the options that every source (side source) or every sink (side sink) accepts, whatever
/// its scheme.
IIO_STREAM_API const std::vector<Option>& common_options();

} // namespace iio_stream
