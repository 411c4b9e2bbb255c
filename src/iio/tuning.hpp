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

    /// Takes its options out of `options`, in which nothing else may be left by then, and sets
    /// them; with rate=auto that waits for follow().
    void take(Options& options);
    /// The samples per second that rate=auto stands for, 0 = unknown; only the first call counts. A
    /// device that cannot make them is a usage Error.
    void follow(double rate);
    /// Samples per second; unknown where the hardware does not say.
    std::optional<double> rate() const;
    /// What the hardware says now, as far as it says anything.
    Tuning read() const;

private:
    struct Place {
        Device device;
        std::string channel, attribute;
    };

    std::optional<Place> find(const std::string& option) const;
    std::optional<double> number(const char* option) const;
    bool awaits_rate() const noexcept;
    void apply(double rate);
    void set(const std::string& option, const std::string& value);
    void match_rate(double wanted);
    void set_attribute(const std::string& path, const std::string& value);

    Device converter_;
    std::string uri_;
    std::optional<Device> phy_;
    Direction direction_;
    std::vector<std::pair<std::string, std::string>> wanted_, attributes_;
};

/// Splits "[DEVICE/][CHANNEL/]NAME", where the parts are counted from the back.
struct AttributePath {
    std::string device, channel, name;
    static AttributePath parse(const std::string& path, const ContextPtr& context);
};

} // namespace iio_stream::iio
