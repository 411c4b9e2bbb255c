// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::usb {

/// What of a board's device its host may set and read: nothing but the names that the board's
/// command line allows. A name is a portable option of "iio:DEVICE" or "attr.DEVICE/…".
/// Thread: one at a time.
class Allowed {
public:
    /// Throws Error for a name that is none; reads none of them.
    static std::vector<std::string> parse(const std::string& list);

    Allowed() = default;
    /// Of that device, an endpoint; reads all of them. Throws Error where one cannot be read.
    Allowed(std::vector<std::string> names, std::string source);

    const std::vector<std::string>& names() const noexcept { return names_; }
    /// GET_ATTR's answer: value, or error. An error of the last set() is told first, and once.
    std::string answer(std::size_t number);
    void set(std::size_t number, const std::string& value);
    /// How the device is set now; nothing where it cannot be tuned.
    Tuning tuning() const;

private:
    std::string read(const std::string& name) const;
    void write(const std::string& name, const std::string& value) const;

    std::vector<std::string> names_;
    std::string source_, uri_;
    std::vector<std::string> refused_; ///< answers of the last set(); empty: it was done
};

/// The value in GET_ATTR's answer. Throws the board's error, as that of setting `what`.
std::string value_of(const std::string& answer, const std::string& what);

} // namespace iio_stream::usb
