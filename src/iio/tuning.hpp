// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"
#include "iio_stream/endpoint.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

enum class Direction { receive, transmit };

/// Sets what a URI asks for on the front end (or the converter itself, where there is none):
/// frequency= gain= bandwidth= rate= antenna= by one table, attr.[DEVICE/][CHANNEL/]NAME=VALUE as
/// they are. All of it is read back.
class Tuner {
public:
    /// `phy` is "auto" or the front end's name.
    Tuner(const Device& converter, const std::string& uri, const std::string& phy,
          Direction direction);

    /// Takes its options out of `options`, in which nothing else may be left by then.
    void apply(Options& options);
    /// What the hardware says now, as far as it says anything.
    Tuning read() const;

private:
    struct Place {
        Device device;
        std::string channel, attribute;
    };

    std::optional<Place> find(const std::string& option) const;
    void set(const std::string& option, const std::string& value);
    void set_attribute(const std::string& path, const std::string& value);

    Device converter_;
    std::string uri_;
    std::optional<Device> phy_;
    Direction direction_;
};

/// Splits "[DEVICE/][CHANNEL/]NAME", where the parts are counted from the back.
struct AttributePath {
    std::string device, channel, name;
    static AttributePath parse(const std::string& path, const ContextPtr& context);
};

} // namespace iio_stream::iio
