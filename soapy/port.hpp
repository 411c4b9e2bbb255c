// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/device.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/option.hpp"
#include "iio_stream/uri.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// Returns the options with one of them set to `value`.
Options with_option(const Options& options, const std::string& key, const std::string& value);

/// One direction of a SoapySDR device: an endpoint of the library, its channels and its tuning.
///
/// An IIO device is tuned by its attributes, even while it streams. Other endpoints are tuned by
/// their options, which take effect when a stream is opened. options_changed() counts their
/// changes, so that streams can be reopened. Throws: Error, from every function. Thread: any; calls
/// to the same port wait for each other.
class Port {
public:
    enum class Way { receive, transmit };

    /// Opens the endpoint to read its channels.
    Port(Way way, Uri endpoint);

    Way way() const noexcept { return way_; }
    Uri endpoint() const; ///< the endpoint with all options that were set
    /// libiio's URI of the device's context; empty for other endpoints.
    const std::string& context() const noexcept { return context_; }

    std::size_t channels() const noexcept { return channels_.size(); }
    /// The values of a SoapySDR channel: I and Q, or one value. Throws a usage Error if there is no
    /// such channel.
    const std::vector<Channel>& channel(std::size_t number) const;
    /// The bytes of a sample in a stream of these channels.
    std::size_t sample_bytes(const std::vector<std::size_t>& channels) const;
    /// The endpoint for a stream of these channels.
    Uri endpoint(const std::vector<std::size_t>& channels) const;
    /// The options of the endpoint that a program may set.
    std::vector<Option> options() const;
    std::string option(const std::string& key) const; ///< the value of an option, or its default
    void set_option(const std::string& key, const std::string& value);
    unsigned options_changed() const;

    /// Whether `what` (frequency, gain, agc, bandwidth, rate, antenna) can be set.
    bool tunes(const std::string& what) const;
    /// The current settings of a channel.
    Tuning tuning(std::size_t channel) const;
    void tune(std::size_t channel, TuningRequest wanted);
    /// Stores the settings that a stream has reported, for an endpoint that is not an IIO device.
    void learn(const Tuning& tuning, double rate);
    /// The attribute that sets `what`: "ad9361-phy/in_voltage0/hardwaregain"; empty if there is
    /// none.
    std::string attribute(const std::string& what, std::size_t channel) const;
    /// The content of that attribute's …_available; empty if there is none.
    std::string available(const std::string& what, std::size_t channel) const;

    bool is_device() const noexcept { return device_.has_value(); }
    /// Returns an attribute of the device or of another device in its context.
    std::string get_attribute(const std::string& path) const;
    void set_attribute(const std::string& path, const std::string& value);
    std::string name() const; ///< name of the front end, or else of the device or endpoint

private:
    void open_device();
    void open_other();
    void add_channels(const std::vector<Channel>& all);

    Way way_;
    Uri endpoint_;
    std::string context_;
    mutable std::optional<iio_stream::Device> device_; ///< mutable, because reading changes it
    int buffer_ = 0;
    std::map<std::string, std::vector<std::string>> attributes_; ///< BufferInfo::tuning
    std::vector<std::vector<Channel>> channels_;
    std::size_t sample_bytes_ = 0; ///< bytes of all channels, unless it is an IIO device
    Tuning learned_;               ///< known settings, unless it is an IIO device
    unsigned changes_ = 0;
    mutable std::mutex mutex_;
};

} // namespace iio_stream::soapy
