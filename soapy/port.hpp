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

/// The same options, but for that one.
Options with_option(const Options& options, const std::string& key, const std::string& value);

/// One direction of a SoapySDR device: an endpoint of the library, its channels, and how it is
/// tuned.
///
/// A device of the kernel is tuned by its attributes, while it streams. Another endpoint is tuned
/// by its options, which take effect when a stream is opened: options_changed() counts their
/// changes, so that streams can be opened again. Throws: Error, from everything. Thread: any; calls
/// of one port wait for each other.
class Port {
public:
    enum class Way { receive, transmit };

    /// Opens the device to learn its channels.
    Port(Way way, Uri endpoint);

    Way way() const noexcept { return way_; }
    Uri endpoint() const; ///< with the options set until now
    /// libiio's URI of the context the device is in; empty for other endpoints.
    const std::string& context() const noexcept { return context_; }

    std::size_t channels() const noexcept { return channels_.size(); }
    /// The values of SoapySDR's channel: I and Q, or one. Throws a usage Error if there is no such
    /// channel.
    const std::vector<Channel>& channel(std::size_t number) const;
    /// Bytes of a sample of a stream of these channels.
    std::size_t sample_bytes(const std::vector<std::size_t>& channels) const;
    /// The endpoint for a stream of these channels.
    Uri endpoint(const std::vector<std::size_t>& channels) const;
    /// The options of the endpoint that a program may set.
    std::vector<Option> options() const;
    std::string option(const std::string& key) const; ///< its value, or the default
    void set_option(const std::string& key, const std::string& value);
    unsigned options_changed() const;

    /// Whether `what` (frequency, gain, agc, bandwidth, rate, antenna) can be set.
    bool tunes(const std::string& what) const;
    /// The current settings of a channel.
    Tuning tuning(std::size_t channel) const;
    void tune(std::size_t channel, TuningRequest wanted);
    /// What a stream has found out about the settings of an endpoint that is no device of the
    /// kernel.
    void learn(const Tuning& tuning, double rate);
    /// The attribute that sets `what`: "ad9361-phy/in_voltage0/hardwaregain"; empty if there is
    /// none.
    std::string attribute(const std::string& what, std::size_t channel) const;
    /// The content of that attribute's …_available; empty if there is none.
    std::string available(const std::string& what, std::size_t channel) const;

    bool is_device() const noexcept { return device_.has_value(); }
    /// An attribute of the device or of another one in its context.
    std::string get_attribute(const std::string& path) const;
    void set_attribute(const std::string& path, const std::string& value);
    std::string name() const; ///< of the front end, or else of the device or endpoint

private:
    void open_device();
    void open_other();
    void add_channels(const std::vector<Channel>& all);

    Way way_;
    Uri endpoint_;
    std::string context_;
    mutable std::optional<iio_stream::Device> device_; ///< reading needs it, too
    int buffer_ = 0;
    std::map<std::string, std::vector<std::string>> attributes_; ///< BufferInfo::tuning
    std::vector<std::vector<Channel>> channels_;
    std::size_t sample_bytes_ = 0; ///< of all channels, if it is no device
    Tuning learned_;               ///< if it is no device
    unsigned changes_ = 0;
    mutable std::mutex mutex_;
};

} // namespace iio_stream::soapy
