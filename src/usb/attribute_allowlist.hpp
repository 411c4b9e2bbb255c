// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"

#include <array>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// The portable options a host may be allowed. Not the rate: losses are counted by the rate at the
/// start of the stream. In the order in which they are set: the gain after its mode.
inline constexpr std::array kPortable{"frequency", "bandwidth", "antenna", "agc", "gain"};

/// The names that a host may set and read on the board's device: only those that the board's
/// command line allows. A name is a portable option of "iio:DEVICE" or "attr.DEVICE/…". Thread: one
/// at a time.
class AttributeAllowlist {
public:
    /// Throws Error for an invalid name; reads no values.
    static std::vector<std::string> parse(const std::string& list);

    AttributeAllowlist() = default;
    /// For that device, an endpoint, with its radio's current settings. Throws Error if one cannot
    /// be read.
    AttributeAllowlist(std::vector<std::string> names, Uri source, Tuning tuning);

    const std::vector<std::string>& names() const noexcept { return names_; }
    /// GET_ATTR's answer: a value or an error. The result of the last set() comes first, once.
    std::string answer(std::size_t number);
    void set(std::size_t number, const std::string& value);
    /// The radio's settings when something was last set or read.
    const Tuning& tuning() const noexcept { return tuning_; }

private:
    std::string tuned(const std::string& name) const;

    std::vector<std::string> names_;
    Uri source_;
    std::string uri_;
    Tuning tuning_;
    std::vector<std::string> unread_answers_; ///< by the last set() of each name; empty: none
};

/// GET_ATTR's answer that carries an error.
std::string error_answer(const Error& error);

/// The value in GET_ATTR's answer. Throws the board's error, as one of setting `what`.
std::string value_of(const std::string& answer, const std::string& what);

} // namespace iio_stream::usb
