// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/option.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iio_stream {

/// The options given to one endpoint, each as "key=value". They are checked against the endpoint's
/// table before the endpoint is created. The endpoint then takes each option once, and gets its
/// value in the type that the table gives it:
///
///     const std::optional<std::uint64_t> skip = uri.options.take_size(kOptions["skip"]);
///     const double rate = uri.options.take_rate_or_standard(kOptions["rate"]);
///
/// Throws: a usage Error if an option is given twice or if its value is not valid.
class IIO_STREAM_API Options {
public:
    void set(std::string key, std::string value); ///< throws if the key is already set
    /// Removes the option and returns its text; nullopt if it was not given.
    std::optional<std::string> take(const Option& option);
    /// The same, parsed: as parse_size(), parse_memory_size(), parse_rate(), parse_duration() and
    /// parse_switch() do.
    std::optional<std::uint64_t> take_size(const Option& option);
    std::optional<std::size_t> take_memory_size(const Option& option);
    std::optional<double> take_rate(const Option& option);
    std::optional<std::chrono::nanoseconds> take_duration(const Option& option);
    std::optional<bool> take_switch(const Option& option);
    /// The same, but the table's default if the option was not given.
    std::string take_or_standard(const Option& option);
    std::uint64_t take_size_or_standard(const Option& option);
    double take_rate_or_standard(const Option& option);
    std::chrono::nanoseconds take_duration_or_standard(const Option& option);
    bool take_switch_or_standard(const Option& option);
    /// Removes and returns all options whose keys start with the option's key ("attr."). The
    /// returned keys do not have that prefix and are in order.
    std::vector<std::pair<std::string, std::string>> take_prefixed(const Option& option);
    /// Returns the value without removing the option; the table's default if it was not given.
    std::string get(const Option& option) const;
    /// Returns the value of a key whose option table is not available here, or `otherwise` if it
    /// was not given.
    std::string get(const std::string& key, std::string_view otherwise) const;
    bool has(const Option& option) const; ///< whether the option was given
    const std::map<std::string, std::string>& values() const noexcept
    {
        return values_;
    } ///< values by key

private:
    std::map<std::string, std::string>::const_iterator find(const Option& option) const;

    std::map<std::string, std::string> values_;
};

/// An endpoint's address, "scheme:rest?key=value&key=value". A string converts to a Uri implicitly:
///
///     Reader rx({.source = "iio:cf-ad9361-lpc?frequency=2.4G"});
///
///     Uri adc("iio:cf-ad9361-lpc");
///     adc.options.set("frequency", "2.4G");
///
/// Text without a known scheme is interpreted as the path of a file. `rest` and the values are
/// percent-decoded. Throws: a usage Error if the text is not a valid address, such as "simm:" or
/// "null".
struct IIO_STREAM_API Uri {
    std::string scheme, rest; ///< "iio" and "cf-ad9361-lpc"
    Options options;

    Uri() = default; ///< no endpoint: empty() returns true, as for an empty string
    Uri(const char* text) : Uri(std::string(text)) {}
    Uri(const std::string& text) : Uri(text.empty() ? Uri() : parse(text)) {}
    /// Returns the address of an endpoint that the program provides itself: only a name for
    /// messages.
    static Uri named(std::string scheme);
    static Uri parse(std::string_view text);

    bool empty() const noexcept { return scheme.empty(); }
    std::string text() const; ///< scheme:rest and the options, percent-encoded; "" if empty
};

/// Returns the address of a device as the command `play` uses it: with the recording's rate unless
/// the address sets a rate.
IIO_STREAM_API Uri play_sink(Uri device);

} // namespace iio_stream
