// SPDX-License-Identifier: MIT
#include "iio/iq_pairs.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace iio_stream::iio {

namespace {

// Cores of transceivers whose I and Q channels have no modifier (ADI's drivers: cf_axi_dds.c for
// the outputs, ad9361_conv.c for the AD9361's inputs). The channels of their other direction have
// modifiers. DACs and ADCs that are not listed have real converters, however many channels they
// have.
constexpr std::array kPairedCores{"ad9361",   "ad9363",   "ad9364",   "ad9371",  "ad9375",
                                  "adrv9002", "adrv9008", "adrv9009", "adrv9025"};

bool comes_in_pairs(const std::string& device)
{
    const auto words = detail::split(device, '-');
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return std::find(kPairedCores.begin(), kPairedCores.end(), word) != kPairedCores.end();
    });
}

bool is_modified(const std::string& id)
{
    return id.ends_with("_i") || id.ends_with("_q");
}

unsigned number_in(const std::string& id)
{
    const std::size_t digit = id.find_first_of("0123456789");
    return digit == std::string::npos
               ? 0
               : static_cast<unsigned>(std::strtoul(id.c_str() + digit, nullptr, 10));
}

void mark(const std::string& device, Channel& channel)
{
    channel.component = component_of(channel.id);
    if (channel.component == Component::real && channel.id.starts_with("voltage") &&
        comes_in_pairs(device))
        channel.component =
            number_in(channel.id) % 2 == 0 ? Component::in_phase : Component::quadrature;
}

// Makes I and Q channels real if their partner is not next to them: voltage0_i and voltage1_q are
// not a pair.
void part_strangers(const std::string& device, std::vector<Channel>& channels)
{
    for (std::size_t i = 0; i < channels.size(); ++i) {
        Channel& first = channels[i];
        Channel* next = i + 1 < channels.size() ? &channels[i + 1] : nullptr;
        if (first.component == Component::in_phase && next != nullptr &&
            next->component == Component::quadrature && first.type == next->type &&
            converter_of(device, first.id) == converter_of(device, next->id))
            ++i;
        else if (first.component != Component::counter)
            first.component = Component::real;
    }
}

void force_pairs(std::vector<Channel>& channels)
{
    std::vector<Channel*> values;
    for (Channel& channel : channels)
        if (component_of(channel.id) != Component::counter)
            values.push_back(&channel);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i]->component = i % 2 == 0 ? Component::in_phase : Component::quadrature;
        const std::size_t other = i ^ 1U;
        if (other >= values.size() || values[other]->type != values[i]->type)
            fail_usage("iq=on: channel " + values[i]->id + " has no partner of its type",
                       "channels= chooses pairs");
    }
}

} // namespace

Iq parse_iq(const std::string& text)
{
    if (text == "auto")
        return Iq::automatic;
    if (text == "on")
        return Iq::on;
    if (text == "off")
        return Iq::off;
    fail_usage("iq=" + text + " is not known", suggest(text, {"auto", "on", "off"}));
}

Component component_of(const std::string& id)
{
    return id.starts_with("count") ? Component::counter
           : id.ends_with("_i")    ? Component::in_phase
           : id.ends_with("_q")    ? Component::quadrature
                                   : Component::real;
}

unsigned converter_of(const std::string& device, const std::string& id)
{
    const unsigned number = number_in(id);
    return !is_modified(id) && comes_in_pairs(device) ? number / 2 : number;
}

void pair_up(const std::string& device, std::vector<Channel>& channels, Iq iq)
{
    for (Channel& channel : channels)
        mark(device, channel);
    if (iq == Iq::on)
        return force_pairs(channels);
    if (iq == Iq::automatic)
        return part_strangers(device, channels);
    for (Channel& channel : channels)
        if (channel.component != Component::counter)
            channel.component = Component::real;
}

} // namespace iio_stream::iio
