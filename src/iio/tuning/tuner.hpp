// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/attributes.hpp"
#include "iio/context/context.hpp"
#include "iio/tuning/front_end.hpp"
#include "iio_stream/endpoint.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// Applies a URI's options to the front end, or to the converter itself if it has no separate one.
/// The options frequency=, agc=, gain=, bandwidth=, rate= and antenna= apply to the chosen
/// channels. attr.[DEVICE/][CHANNEL/]NAME=VALUE is written unchanged. Every setting is read back.
class Tuner {
public:
    /// `phy` is "auto" or the name of the front end.
    Tuner(const Device& converter, const std::string& uri, const std::string& phy,
          Direction direction, const std::vector<Channel>& channels);

    /// Takes the tuning options out of `options` and applies them; with rate=auto, only follow()
    /// applies them.
    void take(Options& options);
    /// Sets the rate that rate=auto stands for, in samples per second; 0 = unknown. Only the first
    /// call has an effect.
    /// Throws a usage Error if the device cannot run at that rate.
    void follow(double rate);
    /// Samples per second; nullopt if the hardware does not report a rate.
    std::optional<double> rate() const;
    /// The sysfs path, on a local device, of the attribute that holds the rate; empty if there is
    /// none.
    std::string rate_file() const;
    /// The current settings, as far as the hardware reports them, and where they differ from the
    /// request.
    Tuning read() const;
    /// The differences from the request as one text; empty if there are none.
    std::string differences() const;
    const FrontEnd& front() const noexcept { return front_; }

private:
    bool awaits_rate() const noexcept;
    struct Rate {
        TuningTarget place;
        double value; ///< samples per second
    };
    std::optional<Rate> read_rate() const;
    void apply(double rate);
    /// A requested setting.
    struct Request {
        std::string option, text;
        /// Empty: the setting is a text, the rate of the samples, or a bandwidth that follows the
        /// rate.
        std::optional<double> number;
    };
    Request request_of(const std::string& option, const std::string& text) const;
    void set(const Request& request);
    void set_number(const std::string& option, const TuningTarget& place, double value);
    void set_bandwidth_for_rate(const TuningTarget& place);
    void set_text(const std::string& option, const TuningTarget& place, const std::string& value);
    void choose_manual_gain(const TuningTarget& gain);
    std::string first_text(const std::string& option) const;
    void set_rate(double wanted);
    std::optional<NumberRange> range_of_rates() const;
    bool set_decimated_rate(double wanted);
    void match_rate(double wanted);
    void set_attribute(const std::string& path, const std::string& value);
    void remark(const std::string& option, const std::string& wanted, const TuningTarget& place,
                const std::string& made);

    Device converter_;
    std::string uri_;
    Direction direction_;
    FrontEnd front_;
    std::vector<Request> wanted_;
    std::vector<std::pair<std::string, std::string>> attributes_;
    std::vector<std::string> remarks_;
};

} // namespace iio_stream::iio
