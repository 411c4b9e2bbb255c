// SPDX-License-Identifier: MIT
// The facts in this file come from ADI's drivers (ad9361.c, ad9371.c, adrv9002.c, ad9081.c,
// ad9172.c, ad9162.c) and from the contexts of boards. docs/boards.md shows the result.
#include "iio/tuning/front_end.hpp"

#include "core/base/text.hpp"
#include "iio/context/firmware_link.hpp"
#include "iio/iq_pairs.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>

namespace iio_stream::iio {

namespace {

/// A driver of front ends. An oscillator is given by its channel name, or by the prefix of its
/// attributes ("RX_LO_frequency"). # stands for the number of the channel, counted from 1.
struct Driver {
    const char* stem;
    const char* receive;
    const char* transmit;
    const char* observe;
    unsigned observed; ///< the first channel of the observation receiver
    const char* manual;
};

constexpr std::array kDrivers{
    Driver{"ad9361", "RX_LO", "TX_LO", "RX_LO", 0, "manual"},
    Driver{"ad9371", "RX_LO", "TX_LO", "RX_SN_LO", 2, "manual"},
    Driver{"adrv9002", "RX#_LO", "TX#_LO", "RX#_LO", 0, "spi"},
    Driver{"adrv9009", "TRX_LO", "TRX_LO", "TRX_LO", 2, "manual"},
};
// Any other driver: synthesizers, attenuators, and future front ends.
constexpr Driver kAnyDriver{"",
                            "RX#_LO,RX_LO,TRX_LO,out_altvoltage0,in_altvoltage0",
                            "TX#_LO,TX_LO,TRX_LO,out_altvoltage1,out_altvoltage0",
                            "RX#_LO,RX_LO,TRX_LO",
                            0,
                            "manual"};

/// The words other than the chip's name in the names of converter cores, such as
/// `axi-adrv9002-rx2-lpc` and `cf-ad9361-dds-core-B`. The list contains every such word in the
/// board contexts of PyPI's pytest-libiio 0.2.0, and the simulator's `adc` and `dac`.
constexpr std::array<std::string_view, 15> kCoreWords{"cf",  "axi", "dds", "core", "rx",
                                                      "rx2", "tx",  "tx2", "obs",  "lpc",
                                                      "hpc", "A",   "B",   "adc",  "dac"};

const Driver& driver_of(const Device& phy)
{
    const auto at = std::find_if(kDrivers.begin(), kDrivers.end(), [&](const Driver& driver) {
        return is_phy(phy.name()) && stem_of(phy.name()) == driver.stem;
    });
    return at == kDrivers.end() ? kAnyDriver : *at;
}

std::string numbered(std::string name, unsigned channel)
{
    if (const std::size_t at = name.find('#'); at != std::string::npos)
        name.replace(at, 1, std::to_string(channel + 1));
    return name;
}

// "in_voltage1"
std::string voltage_id(Direction direction, unsigned channel)
{
    return (direction == Direction::transmit ? "out_voltage" : "in_voltage") +
           std::to_string(channel);
}

std::vector<std::string> attributes_of(const std::string& option)
{
    if (option == "gain")
        return {"hardwaregain"};
    if (option == "agc")
        return {"gain_control_mode", "atten_control_mode"};
    if (option == "bandwidth")
        return {"rf_bandwidth"};
    return {"rf_port_select"};
}

bool has_attribute(const Device& device, const std::string& channel, const std::string& attribute)
{
    const auto ids = device.channels();
    return (channel.empty() || std::find(ids.begin(), ids.end(), channel) != ids.end()) &&
           device.has(channel, attribute);
}

} // namespace

FrontEnd::FrontEnd(const Device& converter, const std::string& uri, const std::string& phy,
                   Direction direction, std::vector<Channel> channels)
    : converter_(converter),
      direction_(direction),
      named_(phy != "auto"),
      channels_(std::move(channels)),
      phys_(find_phys(converter, uri, phy))
{
    const std::string name = converter.name();
    observes_ = has_word(name, "obs");
    if (has_word(name, "rx2") || has_word(name, "tx2")) // ADRV9002 with one DMA per channel
        first_ = 1;
    if (observes_ && !phys_.empty())
        first_ = driver_of(phys_[0]).observed;
    for (const Channel& channel : channels_) {
        const unsigned number = converter_of(name, channel.id);
        if (std::find(converters_.begin(), converters_.end(), number) == converters_.end())
            converters_.push_back(number);
    }
}

FrontEnd::Chip FrontEnd::chip_of(unsigned converter) const
{
    const unsigned number = first_ + converter;
    if (phys_.size() < 2)
        return {&phys_[0], number};
    // FMComms5 and similar: two channels per chip.
    const std::size_t chip = std::min<std::size_t>(number / 2, phys_.size() - 1);
    return {&phys_[chip], number % 2};
}

void FrontEnd::add(std::vector<TuningTarget>& found, const Device& device,
                   const std::string& channel, const std::string& attribute) const
{
    const std::string file = device.file_of(channel, attribute);
    for (const TuningTarget& place : found) // one file for all channels of a type
        if (place.device.id() == device.id() &&
            file == device.file_of(place.channel, place.attribute))
            return;
    found.push_back({device, channel, attribute, {}, {}});
}

bool FrontEnd::add_oscillator(std::vector<TuningTarget>& found, const Device& phy,
                              const std::string& name) const
{
    for (const std::string& channel : phy.channels()) {
        if (!channel.starts_with("out_altvoltage") && !channel.starts_with("in_altvoltage"))
            continue;
        const bool called = phy.channel_name(channel) == name || channel == name;
        for (const std::string& attribute :
             {called ? std::string("frequency") : std::string(), name + "_frequency"})
            if (!attribute.empty() && phy.has(channel, attribute)) {
                add(found, phy, channel, attribute);
                return true;
            }
    }
    return false;
}

void FrontEnd::add_oscillators(std::vector<TuningTarget>& found, unsigned converter) const
{
    const Chip chip = chip_of(converter);
    const Driver& driver = driver_of(*chip.phy);
    const char* names = observes_                           ? driver.observe
                        : direction_ == Direction::transmit ? driver.transmit
                                                            : driver.receive;
    for (const std::string& name : detail::split(names))
        if (add_oscillator(found, *chip.phy, numbered(name, chip.channel)))
            return;
}

// AD9081 and similar chips have one oscillator per converter and another per channel. For both
// directions, these are in the device of the receiving core.
void FrontEnd::add_own_oscillators(std::vector<TuningTarget>& found) const
{
    std::string receiver = converter_.name();
    if (const std::size_t at = receiver.find("-tx-"); at != std::string::npos)
        receiver.replace(at, 4, "-rx-");
    std::vector<Device> homes{converter_};
    for (const Device& device : devices(converter_.context()))
        if (device.name() == receiver && device.id() != converter_.id())
            homes.push_back(device);
    const std::string way = direction_ == Direction::transmit ? "out_" : "in_";
    for (const Device& home : homes)
        for (const Channel& channel : channels_) {
            const std::string id = way + channel.id;
            // The _q channel has the same oscillators as _i, in separate files.
            if (channel.id.ends_with("_q") &&
                has_attribute(home, id.substr(0, id.size() - 1) + "i", "main_nco_frequency"))
                continue;
            if (!has_attribute(home, id, "main_nco_frequency"))
                continue;
            add(found, home, id, "main_nco_frequency");
            if (home.has(id, "channel_nco_frequency")) {
                found.back().added_channel = id;
                found.back().added_attribute = "channel_nco_frequency";
            }
        }
}

// AD9172: channels 0 to 2 belong to the first DAC, which has oscillator 6; channels 3 to 5 belong
// to the second DAC, which has oscillator 7. The AD9162 has a single oscillator.
void FrontEnd::add_shared_oscillators(std::vector<TuningTarget>& found) const
{
    std::vector<std::string> channels;
    for (const std::string& id : converter_.channels())
        if (converter_.has(id, "frequency_nco"))
            return add(found, converter_, id, "frequency_nco");
        else if (id.starts_with("out_voltage") && converter_.channel_name(id) == "nco")
            channels.push_back(id);
    std::sort(channels.begin(), channels.end());
    const auto is_main = [](const std::string& id) { return id.back() >= '6'; };
    for (const unsigned converter : converters_) {
        if (converter >= channels.size() || is_main(channels[converter]))
            continue;
        const std::string& id = channels[converter];
        const std::string main = id.back() < '3' ? "out_voltage6" : "out_voltage7";
        if (!has_attribute(converter_, main, "frequency") || !converter_.has(id, "frequency"))
            continue;
        found.push_back({converter_, main, "frequency", id, "frequency"});
    }
}

void FrontEnd::add_of_channels(std::vector<TuningTarget>& found,
                               const std::vector<std::string>& attributes) const
{
    for (const unsigned converter : converters_) {
        const Chip chip = chip_of(converter);
        for (const std::string& attribute : attributes)
            if (const std::string id = voltage_id(direction_, chip.channel);
                has_attribute(*chip.phy, id, attribute))
                add(found, *chip.phy, id, attribute);
    }
    if (!found.empty() || !named_)
        return;
    // The device that the user named may be an attenuator, with one channel of either direction.
    for (const std::string& id : phys_[0].channels())
        for (const std::string& attribute : attributes)
            if (found.empty() && phys_[0].has(id, attribute))
                add(found, phys_[0], id, attribute);
}

void FrontEnd::add_of_converter(std::vector<TuningTarget>& found,
                                const std::string& attribute) const
{
    const std::string way = direction_ == Direction::transmit ? "out_" : "in_";
    for (const Channel& channel : channels_)
        if (has_attribute(converter_, way + channel.id, attribute))
            add(found, converter_, way + channel.id, attribute);
    if (found.empty() && converter_.has("", attribute))
        add(found, converter_, "", attribute);
}

std::vector<TuningTarget> FrontEnd::places(const std::string& option) const
{
    std::vector<TuningTarget> found;
    if (option == "frequency") {
        for (const unsigned converter : converters_)
            if (has_phy())
                add_oscillators(found, converter);
        if (!has_phy())
            add_own_oscillators(found);
        if (!has_phy() && found.empty())
            add_shared_oscillators(found);
        return found;
    }
    const auto attributes = attributes_of(option);
    if (has_phy())
        add_of_channels(found, attributes);
    for (const std::string& attribute : attributes)
        if (found.empty())
            add_of_converter(found, attribute);
    return found;
}

// A converter's own oscillators have no powerdown attribute. The powerdown attribute of its
// "voltage" channel does not belong to an oscillator.
std::vector<TuningTarget> FrontEnd::powerdowns() const
{
    std::vector<TuningTarget> found;
    for (const TuningTarget& oscillator : places("frequency"))
        if (has_phy() && oscillator.device.has(oscillator.channel, "powerdown"))
            add(found, oscillator.device, oscillator.channel, "powerdown");
    return found;
}

std::vector<TuningTarget> FrontEnd::front_rates() const
{
    std::vector<TuningTarget> found;
    if (has_phy())
        add_of_channels(found, {"sampling_frequency"});
    return found;
}

std::vector<TuningTarget> FrontEnd::own_rates() const
{
    std::vector<TuningTarget> found;
    add_of_converter(found, "sampling_frequency");
    return found;
}

const char* FrontEnd::manual_mode() const
{
    return has_phy() ? driver_of(phys_[0]).manual : "manual";
}

std::vector<std::string> FrontEnd::folders() const
{
    std::vector<std::string> folders{"/sys/bus/iio/devices/" + converter_.id()};
    for (const Device& phy : phys_)
        folders.push_back("/sys/bus/iio/devices/" + phy.id());
    return folders;
}

std::string FrontEnd::text() const
{
    std::string text = converter_.name();
    for (std::size_t i = 0; i < phys_.size(); ++i)
        text += (i == 0 ? " after " : " and ") + phys_[i].name();
    return text;
}

bool is_phy(const std::string& name)
{
    const std::size_t at = name.find("-phy");
    return at != 0 && at != std::string::npos && (at + 4 == name.size() || name[at + 4] == '-');
}

std::string stem_of(const std::string& phy)
{
    return phy.substr(0, phy.find("-phy"));
}

bool has_word(const std::string& text, const std::string& word)
{
    const auto ends = [&](std::size_t at) { return at >= text.size() || text[at] == '-'; };
    for (std::size_t at = text.find(word); at != std::string::npos && !word.empty();
         at = text.find(word, at + 1))
        if ((at == 0 || ends(at - 1)) && ends(at + word.size()))
            return true;
    return false;
}

bool belongs_by_name(const std::string& phy, const std::string& converter, const std::string& label)
{
    const std::string stem = stem_of(phy);
    if (has_word(label, stem))
        return true;
    if (!has_word(converter, stem))
        return false;
    // A sensor of the same family does not belong to the front end, so every other word of the name
    // must be one that ADI's cores use.
    std::string rest = converter;
    rest.replace(rest.find(stem), stem.size(), "cf");
    const auto words = detail::split(rest, '-');
    return std::all_of(words.begin(), words.end(), [](const std::string& word) {
        return std::find(kCoreWords.begin(), kCoreWords.end(), word) != kCoreWords.end();
    });
}

std::vector<Device> find_phys(const Device& converter, const std::string& uri,
                              const std::string& phy)
{
    if (phy != "auto")
        return {find_device(converter.context(), uri, phy)};
    std::vector<Device> found;
    for (const Device& device : devices(converter.context()))
        if (device.id() != converter.id() && is_phy(device.name()) &&
            (belongs_by_name(device.name(), converter.name(), converter.label()) ||
             linked_by_firmware(converter, device)))
            found.push_back(device);
    // With two boards of the same kind, the firmware nodes show which devices belong together.
    const bool linked = std::any_of(found.begin(), found.end(), [&](const Device& device) {
        return linked_by_firmware(converter, device);
    });
    if (linked)
        std::erase_if(found, [&](const Device& device) {
            return !linked_by_firmware(converter, device) &&
                   std::any_of(found.begin(), found.end(), [&](const Device& other) {
                       return other.name() == device.name() && other.id() != device.id();
                   });
        });
    std::stable_sort(found.begin(), found.end(),
                     [](const Device& a, const Device& b) { return a.name() < b.name(); });
    return found;
}

} // namespace iio_stream::iio
