// SPDX-License-Identifier: MIT
#include "iio/tuning/tuner.hpp"

#include "core/base/text.hpp"
#include "iio/context/attributes.hpp"
#include "iio/options.hpp"
#include "iio/tuning/tuning_target.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace iio_stream::iio {

namespace {

// The RF bandwidth for a sample rate by the rule of ADI's libad9361-iio, which <ad9361.h> documents
// at ad9361_set_bb_rate_custom_filter_auto(): Fpass = rate / 3, Fstop = 1.25 Fpass, and a bandwidth
// of 1.4 Fstop to receive and 1.6 Fstop to transmit.
constexpr double kReceiveBandwidth = 1.4 * 1.25 / 3, kTransmitBandwidth = 1.6 * 1.25 / 3;

constexpr double kHertz = 0.5, kDecibel = 0.0005; // smaller differences do not count

bool is_hertz(const std::string& option)
{
    return option == "frequency" || option == "bandwidth" || option == "rate";
}

bool is_number(const std::string& option)
{
    return is_hertz(option) || option == "gain";
}

// An oscillator in a converter can have a negative frequency.
double parse_value(const std::string& option, const std::string& value)
{
    if (option == "frequency" && value.starts_with('-'))
        return -parse_rate(option, value.substr(1));
    if (is_hertz(option))
        return parse_rate(option, value);
    return parse_number(option, value.ends_with("dB") ? value.substr(0, value.size() - 2) : value);
}

std::string value_text(const std::string& option, double value)
{
    return is_hertz(option) ? hertz_text(value) : number_text(value);
}

std::string unit_of(const std::string& option)
{
    return option == "rate" ? "S/s" : option == "gain" ? "dB" : "Hz";
}

// Throws if the value is outside of the range that the driver states; the driver has refused it.
void require_in_range(const std::string& option, double value, const NumberRange& range,
                      const std::string& place)
{
    if (range.contains(value))
        return;
    const std::string unit = unit_of(option);
    throw Error(Fault::device, EINVAL, "set", place,
                si_text(value, unit) + " is out of range: " + si_text(range.least, unit) + " to " +
                    si_text(range.most, unit));
}

bool differs(std::optional<double> made, double wanted, double tolerance)
{
    return !made || std::abs(*made - wanted) >= tolerance;
}

} // namespace

Tuner::Tuner(const Device& converter, const std::string& uri, const std::string& phy,
             Direction direction, const std::vector<Channel>& channels)
    : converter_(converter),
      uri_(uri),
      direction_(direction),
      front_(converter, uri, phy, direction, channels)
{}

void Tuner::remark(const std::string& option, const std::string& wanted, const TuningTarget& place,
                   const std::string& made)
{
    remarks_.push_back(option + "=" + wanted + ": " + place.text() + " set " + made);
}

void Tuner::set_number(const std::string& option, const TuningTarget& place, double value)
{
    double own = value;
    if (!place.added_attribute.empty())
        own -= number_in_value(place.device.read(place.added_channel, place.added_attribute))
                   .value_or(0);
    try {
        (void)write_at(place, value_text(option, own));
    } catch (const Error&) {
        if (const auto range = range_of_numbers(available_for(place)))
            require_in_range(option, own, *range, place.text());
        throw;
    }
    const auto made = value_of(place);
    if (made && differs(made, value, is_hertz(option) ? kHertz : kDecibel))
        remark(option, value_text(option, value), place, value_text(option, *made));
}

// The remark names the value even if the driver has taken it unchanged, because the user gave none.
void Tuner::set_bandwidth_for_rate(const TuningTarget& place)
{
    const auto samples = rate();
    if (!samples)
        fail_usage("bandwidth=auto: the sample rate of " + converter_.name() + " is unknown",
                   "bandwidth=FREQUENCY sets a value");
    double wanted =
        *samples * (direction_ == Direction::transmit ? kTransmitBandwidth : kReceiveBandwidth);
    if (const auto range = range_of_numbers(available_for(place)))
        wanted = std::clamp(wanted, range->least, range->most);
    (void)write_at(place, hertz_text(wanted));
    if (const auto made = value_of(place))
        remark("bandwidth", "auto", place, hertz_text(*made));
}

void Tuner::set_text(const std::string& option, const TuningTarget& place, const std::string& value)
{
    if (const std::string made = write_at(place, value); made != value)
        remark(option, value, place, made);
}

// While the gain is under automatic control, the driver refuses a new gain or overwrites it
// immediately.
void Tuner::choose_manual_gain(const TuningTarget& gain)
{
    for (TuningTarget mode : front_.places("agc")) {
        if (mode.device.id() != gain.device.id() || mode.channel != gain.channel)
            continue;
        const auto modes = listed_values(available_for(mode));
        std::string manual = front_.manual_mode();
        for (const char* other : {"manual", "spi"})
            if (!modes.empty() && std::find(modes.begin(), modes.end(), manual) == modes.end())
                manual = other;
        if (mode.device.read(mode.channel, mode.attribute) != manual)
            (void)write_at(mode, manual);
    }
}

void Tuner::set(const Request& request)
{
    const std::string& option = request.option;
    if (option == "rate")
        return set_rate(request.number.value_or(0));
    const auto places = front_.places(option);
    if (places.empty())
        fail_usage(
            option + "=" + request.text + ": " + converter_.name() + " has no such setting",
            (front_.has_phy() ? "its front end is " + front_.text() : "no front end was found") +
                "; phy=DEVICE names another");
    for (const TuningTarget& place : places) {
        if (option == "gain")
            choose_manual_gain(place);
        if (request.number)
            set_number(option, place, *request.number);
        else if (option == "bandwidth")
            set_bandwidth_for_rate(place);
        else
            set_text(option, place, request.text);
    }
}

void Tuner::set_attribute(const std::string& path, const std::string& value)
{
    const AttributePath at = AttributePath::parse(path, converter_.context());
    const Device device =
        at.device.empty() ? converter_ : find_device(converter_.context(), uri_, at.device);
    (void)device.write(at.channel, at.name, value);
}

void Tuner::take(Options& options)
{
    // The rate comes first, because it can change the available bandwidths. The gain comes last,
    // after its mode.
    using detail::kTuning;
    for (const Option* option :
         {&kFrontEndOptions["rate"], &kTuning["frequency"], &kTuning["bandwidth"],
          &kTuning["antenna"], &kTuning["agc"], &kTuning["gain"]})
        if (const auto value = options.take(*option))
            wanted_.push_back(request_of(std::string(option->key), *value));
    attributes_ = options.take_prefixed(kTuning["attr."]);
    for (std::size_t i = 0; i + 1 < wanted_.size(); ++i)
        if (wanted_[i].option == "agc" && wanted_[i].text != front_.manual_mode())
            fail_usage("agc=" + wanted_[i].text + " and gain=" + wanted_[i + 1].text +
                           ": only one can set the gain",
                       "gain= alone selects manual mode");
    if (!awaits_rate())
        apply(0);
}

void Tuner::follow(double rate)
{
    if (!awaits_rate())
        return;
    apply(rate);
    wanted_.clear();
    attributes_.clear();
}

Tuner::Request Tuner::request_of(const std::string& option, const std::string& text) const
{
    const bool follows_rate =
        text == "auto" &&
        (option == "bandwidth" || (option == "rate" && direction_ == Direction::transmit));
    if (!is_number(option) || follows_rate)
        return {option, text, std::nullopt};
    if (option == "gain" && text == "auto")
        fail_usage("gain=auto is not a number",
                   "agc=slow_attack, or another mode that the driver lists, controls the gain");
    return {option, text, parse_value(option, text)};
}

bool Tuner::awaits_rate() const noexcept
{
    return !wanted_.empty() && wanted_[0].option == "rate" && !wanted_[0].number;
}

void Tuner::apply(double rate)
{
    for (const Request& request : wanted_)
        if (request.option == "rate" && !request.number)
            match_rate(rate);
        else
            set(request);
    for (const auto& [path, value] : attributes_)
        set_attribute(path, value);
}

// If the front end and the converter each have a rate, both are set. The samples have the rate of
// the converter.
void Tuner::set_rate(double wanted)
{
    const auto fronts = front_.front_rates(), owns = front_.own_rates();
    if (fronts.empty() && owns.empty())
        fail_usage("rate=" + hertz_text(wanted) + ": " + converter_.name() + " has no such setting",
                   "its front end is " + front_.text());
    std::optional<Error> refusal;
    for (const auto* places : {&fronts, &owns})
        for (const TuningTarget& place : *places)
            try {
                if (differs(value_of(place), wanted, kHertz))
                    (void)write_at(place, hertz_text(wanted));
            } catch (const Error& error) {
                if (!refusal)
                    refusal = error;
            }
    if (!differs(rate(), wanted, kHertz) || set_decimated_rate(wanted))
        return;
    // A converter whose rate cannot be set follows its front end as closely as possible.
    const bool front_refused =
        refusal && (fronts.empty() || differs(value_of(fronts[0]), wanted, kHertz));
    if (front_refused) {
        if (const auto range = range_of_rates())
            require_in_range("rate", wanted, *range, (fronts.empty() ? owns : fronts)[0].text());
        throw *refusal;
    }
    if (const auto made = rate())
        remark("rate", hertz_text(wanted), owns.empty() ? fronts[0] : owns[0], hertz_text(*made));
}

// The rates that the front end can have, and those of a core behind it that decimates. Such a core
// lists two rates, see set_decimated_rate().
std::optional<NumberRange> Tuner::range_of_rates() const
{
    const auto fronts = front_.front_rates(), owns = front_.own_rates();
    auto range = range_of_numbers(available_for((fronts.empty() ? owns : fronts)[0]));
    if (!range || fronts.empty() || owns.empty())
        return range;
    const auto rates = listed_values(available_for(owns[0]));
    const double whole = rates.size() == 2 ? number_in_value(rates[0]).value_or(0) : 0;
    const double part = rates.size() == 2 ? number_in_value(rates[1]).value_or(0) : 0;
    if (part > 0 && whole > part)
        range->least /= std::round(whole / part);
    return range;
}

// For a rate below the front end's range, the core behind the front end might decimate. It lists
// two rates: the front end's rate first, then the decimated one.
bool Tuner::set_decimated_rate(double wanted)
{
    const auto fronts = front_.front_rates(), owns = front_.own_rates();
    if (fronts.size() != 1 || owns.empty())
        return false;
    const auto rates = listed_values(available_for(owns[0]));
    if (rates.size() != 2)
        return false;
    const double whole = number_in_value(rates[0]).value_or(0);
    const double part = number_in_value(rates[1]).value_or(0);
    if (whole <= 0 || part <= 0)
        return false;
    const std::string before = hertz_text(value_of(fronts[0]).value_or(0));
    try {
        (void)write_at(fronts[0], hertz_text(wanted * std::round(whole / part)));
        for (const TuningTarget& own : owns)
            (void)write_at(own, hertz_text(wanted));
        if (!differs(rate(), wanted, kHertz))
            return true;
        (void)write_at(fronts[0], before);
    } catch (const Error&) {
        // Decimation does not work either.
    }
    return false;
}

void Tuner::match_rate(double wanted)
{
    if (wanted <= 0 || (front_.front_rates().empty() && front_.own_rates().empty()))
        return; // one of the two rates is unknown, so there is nothing to compare
    std::string refusal;
    try {
        set_rate(wanted);
    } catch (const Error& error) {
        refusal = std::string(": ") + error.what();
    }
    const auto made = rate();
    if (made && std::abs(*made - wanted) > std::max(1.0, wanted * 1e-6))
        fail_usage("the samples are for " + number_text(wanted) + " samples per second, but " +
                       converter_.name() + " plays " + number_text(*made) + refusal,
                   "rate=" + number_text(*made) + " plays them at that rate anyway");
}

std::optional<Tuner::Rate> Tuner::read_rate() const
{
    for (const auto& places : {front_.own_rates(), front_.front_rates()})
        if (!places.empty())
            if (const auto value = value_of(places[0]))
                return Rate{places[0], *value};
    return std::nullopt;
}

std::optional<double> Tuner::rate() const
{
    const auto rate = read_rate();
    return rate ? std::optional(rate->value) : std::nullopt;
}

std::string Tuner::rate_file() const
{
    const auto rate = read_rate();
    if (!rate)
        return "";
    const TuningTarget& place = rate->place;
    return "/sys/bus/iio/devices/" + place.device.id() + "/" +
           place.device.file_of(place.channel, place.attribute);
}

std::string Tuner::first_text(const std::string& option) const
try {
    const auto places = front_.places(option);
    return places.empty() ? "" : places[0].device.read(places[0].channel, places[0].attribute);
} catch (const Error&) {
    return ""; // some ports cannot be queried
}

Tuning Tuner::read() const
{
    Tuning tuning;
    tuning.frequency = common_value(front_.places("frequency"));
    tuning.gain = common_value(front_.places("gain"));
    tuning.bandwidth = common_value(front_.places("bandwidth"));
    tuning.rate = rate();
    tuning.antenna = first_text("antenna");
    tuning.agc = first_text("agc");
    tuning.hardware = front_.text();
    tuning.remarks = remarks_;
    return tuning;
}

std::string Tuner::differences() const
{
    std::string text;
    for (const std::string& remark : remarks_)
        detail::add_clause(text, remark);
    return text;
}

} // namespace iio_stream::iio
