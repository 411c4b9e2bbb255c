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

/// The options given to one endpoint, each as "key=value". The endpoint takes those in its table,
/// then calls finish(): whatever is left is a usage Error.
///
///     static const Option& kRate = kOptions["rate"];
///     const std::string rate = uri.options.take_or_standard(kRate);
///
/// Throws: a usage Error if an option was given twice, or if a choice is not one of its values.
class IIO_STREAM_API Options {
public:
    void set(std::string key, std::string value); ///< throws if the key is already set
    /// Removes the option and returns its value; nullopt if it was not given.
    std::optional<std::string> take(const Option& option);
    /// The same, with the table's default if it was not given.
    std::string take_or_standard(const Option& option);
    /// All keys that start with the option's key ("attr."), without that prefix, in order.
    std::vector<std::pair<std::string, std::string>> take_prefixed(const Option& option);
    /// The value, left in place; the table's default if it was not given.
    std::string get(const Option& option) const;
    /// The value of a key that is in no table at hand.
    std::string get(const std::string& key, std::string_view otherwise) const;
    bool has(const Option& option) const; ///< whether it was given
    /// Throws if an option is left, with the nearest one that the endpoint has. `endpoint` is for
    /// the message.
    void finish(const std::string& endpoint) const;
    const std::map<std::string, std::string>& values() const noexcept
    {
        return values_;
    } ///< by key

private:
    std::map<std::string, std::string>::const_iterator find(const Option& option) const;

    std::map<std::string, std::string> values_;
    std::vector<std::string> known_; ///< keys that were asked for
};

/// An endpoint's address, "scheme:rest?key=value&key=value". A string becomes one where one is
/// expected:
///
///     Reader rx({.source = "iio:cf-ad9361-lpc?frequency=2.4G"});
///
///     Uri adc("iio:cf-ad9361-lpc");
///     adc.options.set("frequency", "2.4G");
///
/// Text without a known scheme is taken as the path of a file. `rest` and the values are
/// percent-decoded. Throws: a usage Error if the text cannot be an address, such as "simm:" or
/// "null".
struct IIO_STREAM_API Uri {
    std::string scheme, rest; ///< "iio" and "cf-ad9361-lpc"
    Options options;

    Uri() = default; ///< of no endpoint: empty(), as of an empty string
    Uri(const char* text) : Uri(std::string(text)) {}
    Uri(const std::string& text) : Uri(text.empty() ? Uri() : parse(text)) {}
    /// Of an endpoint that the program brings itself: a name for messages.
    static Uri named(std::string scheme);
    static Uri parse(std::string_view text);

    bool empty() const noexcept { return scheme.empty(); }
    std::string text() const; ///< scheme:rest and the options, encoded; "" if empty
};

/// The address of a device as `play` uses it: at the recording's rate unless the address sets one.
IIO_STREAM_API Uri play_sink(Uri device);

} // namespace iio_stream
