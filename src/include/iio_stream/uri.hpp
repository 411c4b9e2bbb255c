// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/option.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iio_stream {

/// The options given to one endpoint, each as "key=value". The endpoint takes the options in its
/// table and then calls finish(), which throws a usage Error if any option is left.
///
///     static const Option& kRate = kOptions["rate"];
///     const std::string rate = uri.options.take_or_standard(kRate);
///
/// Throws: a usage Error if an option is given twice or if the value of a choice is not valid.
class IIO_STREAM_API Options {
public:
    void set(std::string key, std::string value); ///< throws if the key is already set
    /// Removes the option and returns its value; nullopt if it was not given.
    std::optional<std::string> take(const Option& option);
    /// The same, but returns the table's default if the option was not given.
    std::string take_or_standard(const Option& option);
    /// Removes and returns all options whose keys start with the option's key ("attr."). The
    /// returned keys do not have that prefix and are in order.
    std::vector<std::pair<std::string, std::string>> take_prefixed(const Option& option);
    /// Returns the value without removing the option; the table's default if it was not given.
    std::string get(const Option& option) const;
    /// Returns the value of a key whose option table is not available here, or `otherwise` if it
    /// was not given.
    std::string get(const std::string& key, std::string_view otherwise) const;
    bool has(const Option& option) const; ///< whether the option was given
    /// Throws if an option is left; the message names `endpoint` and its nearest valid option.
    void finish(const std::string& endpoint) const;
    const std::map<std::string, std::string>& values() const noexcept
    {
        return values_;
    } ///< values by key

private:
    std::map<std::string, std::string>::const_iterator find(const Option& option) const;

    std::map<std::string, std::string> values_;
    std::vector<std::string> known_; ///< keys that the endpoint has requested
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
