// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"

#include <array>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// The portable options that a host may be allowed. Not the rate: losses are counted by what it was
/// when the stream began. In the order in which they are set: the gain after its mode.
inline constexpr std::array kPortable{"frequency", "bandwidth", "antenna", "agc", "gain"};

/// What of a board's device its host may set and read: nothing but the names that the board's
/// command line allows. A name is a portable option of "iio:DEVICE" or "attr.DEVICE/…".
/// Thread: one at a time.
class Allowed {
public:
    /// Throws Error for a name that is none; reads none of them.
    static std::vector<std::string> parse(const std::string& list);

    Allowed() = default;
    /// Of that device, an endpoint, whose radio is set so. Throws Error where one cannot be read.
    Allowed(std::vector<std::string> names, std::string source, Tuning tuning);

    const std::vector<std::string>& names() const noexcept { return names_; }
    /// GET_ATTR's answer: value, or error. What became of the last set() is told first, and once.
    std::string answer(std::size_t number);
    void set(std::size_t number, const std::string& value);
    /// How the radio was set when something was last set, or asked of it.
    const Tuning& tuning() const noexcept { return tuning_; }

private:
    std::string tuned(const std::string& name) const;

    std::vector<std::string> names_;
    std::string source_, uri_;
    Tuning tuning_;
    std::vector<std::string> told_; ///< answers that the last set() of each has left; empty: none
};

/// GET_ATTR's answer that tells of an error.
std::string error_answer(const Error& error);

/// The value in GET_ATTR's answer. Throws the board's error, as that of setting `what`.
std::string value_of(const std::string& answer, const std::string& what);

} // namespace iio_stream::usb
