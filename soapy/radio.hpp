// SPDX-License-Identifier: MIT
#pragma once

#include "port.hpp"
#include "stream.hpp"

#include <SoapySDR/Device.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// A source and a sink of this library as a SoapySDR device.
///
/// Functions for setup and tuning throw exceptions, which SoapySDR's bindings report as errors. The
/// functions of a stream return codes and log the errors. Thread: any; one at a time for a stream.
class Radio final : public SoapySDR::Device {
public:
    /// "uri" and "tx" name the source and the sink; other arguments are options of the source.
    explicit Radio(const SoapySDR::Kwargs& args);
    ~Radio() override; ///< closes the streams that are still open

    // Identification and channels
    std::string getDriverKey() const override { return "iiostream"; }
    std::string getHardwareKey() const override;
    SoapySDR::Kwargs getHardwareInfo() const override;
    size_t getNumChannels(int direction) const override;
    SoapySDR::Kwargs getChannelInfo(int direction, size_t channel) const override;
    bool getFullDuplex(int direction, size_t channel) const override;

    // Streams
    std::vector<std::string> getStreamFormats(int direction, size_t channel) const override;
    std::string getNativeStreamFormat(int direction, size_t channel,
                                      double& full_scale) const override;
    SoapySDR::ArgInfoList getStreamArgsInfo(int direction, size_t channel) const override;
    SoapySDR::Stream* setupStream(int direction, const std::string& format,
                                  const std::vector<size_t>& channels,
                                  const SoapySDR::Kwargs& args) override;
    void closeStream(SoapySDR::Stream* stream) override;
    size_t getStreamMTU(SoapySDR::Stream* stream) const override;
    int activateStream(SoapySDR::Stream* stream, int flags, long long time_ns,
                       size_t elements) override;
    int deactivateStream(SoapySDR::Stream* stream, int flags, long long time_ns) override;
    int readStream(SoapySDR::Stream* stream, void* const* out, size_t elements, int& flags,
                   long long& time_ns, long timeout_us) override;
    int writeStream(SoapySDR::Stream* stream, const void* const* in, size_t elements, int& flags,
                    long long time_ns, long timeout_us) override;
    int readStreamStatus(SoapySDR::Stream* stream, size_t& channels, int& flags, long long& time_ns,
                         long timeout_us) override;
    size_t getNumDirectAccessBuffers(SoapySDR::Stream* stream) override;
    int acquireReadBuffer(SoapySDR::Stream* stream, size_t& handle, const void** out, int& flags,
                          long long& time_ns, long timeout_us) override;
    void releaseReadBuffer(SoapySDR::Stream* stream, size_t handle) override;
    int acquireWriteBuffer(SoapySDR::Stream* stream, size_t& handle, void** out,
                           long timeout_us) override;
    void releaseWriteBuffer(SoapySDR::Stream* stream, size_t handle, size_t elements, int& flags,
                            long long time_ns) override;

    // The radio
    std::vector<std::string> listAntennas(int direction, size_t channel) const override;
    void setAntenna(int direction, size_t channel, const std::string& name) override;
    std::string getAntenna(int direction, size_t channel) const override;
    std::vector<std::string> listGains(int direction, size_t channel) const override;
    bool hasGainMode(int direction, size_t channel) const override;
    void setGainMode(int direction, size_t channel, bool automatic) override;
    bool getGainMode(int direction, size_t channel) const override;
    void setGain(int direction, size_t channel, double value) override;
    void setGain(int direction, size_t channel, const std::string& name, double value) override;
    double getGain(int direction, size_t channel) const override;
    double getGain(int direction, size_t channel, const std::string& name) const override;
    SoapySDR::Range getGainRange(int direction, size_t channel) const override;
    SoapySDR::Range getGainRange(int direction, size_t channel,
                                 const std::string& name) const override;
    void setFrequency(int direction, size_t channel, const std::string& name, double frequency,
                      const SoapySDR::Kwargs& args) override;
    double getFrequency(int direction, size_t channel, const std::string& name) const override;
    std::vector<std::string> listFrequencies(int direction, size_t channel) const override;
    SoapySDR::RangeList getFrequencyRange(int direction, size_t channel,
                                          const std::string& name) const override;
    void setSampleRate(int direction, size_t channel, double rate) override;
    double getSampleRate(int direction, size_t channel) const override;
    std::vector<double> listSampleRates(int direction, size_t channel) const override;
    SoapySDR::RangeList getSampleRateRange(int direction, size_t channel) const override;
    void setBandwidth(int direction, size_t channel, double bandwidth) override;
    double getBandwidth(int direction, size_t channel) const override;
    std::vector<double> listBandwidths(int direction, size_t channel) const override;
    SoapySDR::RangeList getBandwidthRange(int direction, size_t channel) const override;
    using SoapySDR::Device::getFrequency;
    using SoapySDR::Device::getFrequencyRange;
    using SoapySDR::Device::setFrequency;

    // Time, sensors and settings
    bool hasHardwareTime(const std::string& what) const override;
    long long getHardwareTime(const std::string& what) const override;
    std::vector<std::string> listSensors() const override;
    SoapySDR::ArgInfo getSensorInfo(const std::string& key) const override;
    std::string readSensor(const std::string& key) const override;
    std::vector<std::string> listSensors(int direction, size_t channel) const override;
    SoapySDR::ArgInfo getSensorInfo(int direction, size_t channel,
                                    const std::string& key) const override;
    std::string readSensor(int direction, size_t channel, const std::string& key) const override;
    SoapySDR::ArgInfoList getSettingInfo() const override;
    void writeSetting(const std::string& key, const std::string& value) override;
    std::string readSetting(const std::string& key) const override;
    SoapySDR::ArgInfoList getSettingInfo(int direction, size_t channel) const override;
    void writeSetting(int direction, size_t channel, const std::string& key,
                      const std::string& value) override;
    std::string readSetting(int direction, size_t channel, const std::string& key) const override;

private:
    /// A sensor, and the attribute with its value.
    struct Sensor {
        std::string key, attribute, description, units;
        bool raw = false; ///< (raw + offset) * scale
        double factor = 1;
    };

    const Port& port(int direction) const; ///< throws if the direction has no port
    Port& port(int direction);
    const Port& any_port() const;
    std::shared_ptr<Stream> stream(SoapySDR::Stream* handle) const; ///< throws if it is closed
    void find_sensors();
    std::optional<Sensor> channel_sensor(int direction, std::size_t channel) const;
    std::string read(const Sensor& sensor) const;
    std::vector<std::string> gain_modes(int direction, std::size_t channel) const;
    std::string automatic_mode(int direction, std::size_t channel) const;

    std::optional<Port> receive_, transmit_;
    std::vector<Sensor> sensors_;
    SoapySDR::ArgInfoList attributes_; ///< attributes of the front end that have a list or a range
    std::map<std::pair<int, std::size_t>, std::string> agc_modes_; ///< chosen by agc_mode
    mutable std::mutex mutex_; ///< guards agc_modes_ and streams_
    std::map<SoapySDR::Stream*, std::shared_ptr<Stream>> streams_; ///< closed before the ports
};

} // namespace iio_stream::soapy
