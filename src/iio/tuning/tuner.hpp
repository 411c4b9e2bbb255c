// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/tuning/front_end.hpp"
#include "iio_stream/endpoint.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// Applies a URI's options to the front end (or the converter itself, if it is its own): frequency=
/// agc= gain= bandwidth= rate= antenna= for the chosen channels, attr.[DEVICE/][CHANNEL/]
/// NAME=VALUE as they are. Everything is read back.
class Tuner {
public:
    /// `phy` is "auto" or the front end's name.
    Tuner(const Device& converter, const std::string& uri, const std::string& phy,
          Direction direction, const std::vector<Channel>& channels);

    /// Takes its options out of `options`, which must have no others left, and applies them; with
    /// rate=auto only at follow().
    void take(Options& options);
    /// The samples per second that rate=auto means, 0 = unknown; only the first call counts.
    /// Throws a usage Error if the device cannot run at that rate.
    void follow(double rate);
    /// Samples per second; empty if the hardware does not say.
    std::optional<double> rate() const;
    /// The attribute the rate comes from, as a sysfs path of a local device; empty if there is
    /// none.
    std::string rate_file() const;
    /// The current settings, as far as the hardware reports them, and where they differ from the
    /// request.
    Tuning read() const;
    /// Those differences as one text; empty if there are none.
    std::string differences() const;
    const FrontEnd& front() const noexcept { return front_; }

private:
    bool awaits_rate() const noexcept;
    std::optional<TuningTarget> rate_place() const;
    void apply(double rate);
    void set(const std::string& option, const std::string& value);
    void set_number(const std::string& option, const TuningTarget& place, double value);
    void set_text(const std::string& option, const TuningTarget& place, const std::string& value);
    void choose_manual_gain(const TuningTarget& gain);
    std::string first_text(const std::string& option) const;
    void set_rate(double wanted);
    bool set_decimated_rate(double wanted);
    void match_rate(double wanted);
    void set_attribute(const std::string& path, const std::string& value);
    void remark(const std::string& option, const std::string& wanted, const TuningTarget& place,
                const std::string& made);

    Device converter_;
    std::string uri_;
    Direction direction_;
    FrontEnd front_;
    std::vector<std::pair<std::string, std::string>> wanted_, attributes_;
    std::vector<std::string> remarks_;
};

} // namespace iio_stream::iio
