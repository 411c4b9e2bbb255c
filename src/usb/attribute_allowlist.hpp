// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"

#include <array>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// The portable options that a host can be allowed to set, in the order in which they are set: the
/// gain after its mode. The rate is not among them, because losses are counted with the rate at the
/// start of the stream.
inline constexpr std::array kPortable{"frequency", "bandwidth", "antenna", "agc", "gain"};

/// The attributes of the board's device that the board's command line allows a host to set and
/// read. Each name is a portable option of "iio:DEVICE" or "attr.DEVICE/…". Thread: one at a time.
class AttributeAllowlist {
public:
    /// Parses a comma-separated list of names. Throws Error for an invalid name; reads no values.
    static std::vector<std::string> parse(const std::string& list);

    AttributeAllowlist() = default;
    /// `source` is the endpoint of the device, and `tuning` has the current settings of its radio.
    /// Throws Error if one of `names` cannot be read.
    AttributeAllowlist(std::vector<std::string> names, Uri source, Tuning tuning);

    const std::vector<std::string>& names() const noexcept { return names_; }
    /// Returns the answer to GET_ATTR: a value or an error. The first call after set() returns the
    /// result of set().
    std::string answer(std::size_t number);
    void set(std::size_t number, const std::string& value);
    /// The radio's settings at the last set() or answer().
    const Tuning& tuning() const noexcept { return tuning_; }

private:
    std::string tuned(const std::string& name) const;

    std::vector<std::string> names_;
    Uri source_;
    std::string uri_;
    Tuning tuning_;
    /// Results of the last set() of each name; empty: none.
    std::vector<std::string> unread_answers_;
};

/// Returns an answer to GET_ATTR that carries an error.
std::string error_answer(const Error& error);

/// Returns the value in an answer to GET_ATTR. Throws the board's error, or EPROTO if the answer is
/// invalid, with "set" and `what` as its operation and object.
std::string value_of(const std::string& answer, const std::string& what);

} // namespace iio_stream::usb
