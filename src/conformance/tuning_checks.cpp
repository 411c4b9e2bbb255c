// SPDX-License-Identifier: MIT
// 3xx: sample rates and the radio's settings, at the ends and in the middle of each range, read
// back and restored.
#include "conformance/saved_settings.hpp"
#include "core/base/text.hpp"
#include "iio/context/attributes.hpp"
#include "iio/tuning/front_end.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::conformance {

namespace {

constexpr std::size_t kMostTargets = 4; ///< of one option; further channels are alike
constexpr double kRelativeError = 1e-4; ///< of a read-back: drivers round to the chip's steps
constexpr double kUnlistedStep = 0.01;  ///< relative, where the driver lists no range

iio::FrontEnd front_of(const Subject& subject)
{
    return {subject.device, "local:", "auto",
            subject.buffer.output ? iio::Direction::transmit : iio::Direction::receive,
            subject.buffer.channels};
}

std::string path_of(const iio::TuningTarget& target)
{
    return "/sys/bus/iio/devices/" + target.device.id() + "/" +
           target.device.file_of(target.channel, target.attribute);
}

/// The values to try.
struct Values {
    std::vector<double> values;
    double step = 0;
    bool listed = false; ///< the driver lists them: a refusal is a failure
};

// The values of a range ("[-3 1 71]") or a list ("30720000 3840000"); otherwise the current value
// and values close to it.
Values values_for(const iio::TuningTarget& target)
{
    Values found;
    std::string text = iio::available_for(target);
    const bool range = text.starts_with("[");
    std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\n'; });
    std::vector<double> numbers;
    for (const std::string& word : detail::split(text, ' '))
        if (const auto number = iio::number_in_value(word))
            numbers.push_back(*number);
    if (range && numbers.size() == 3 && numbers[2] > numbers[0]) {
        const double steps =
            numbers[1] > 0 ? std::floor((numbers[2] - numbers[0]) / numbers[1] / 2) : 0;
        const double middle =
            steps > 0 ? numbers[0] + steps * numbers[1] : (numbers[0] + numbers[2]) / 2;
        return {{numbers[0], middle, numbers[2]}, numbers[1], true};
    }
    if (!range && !numbers.empty()) {
        std::sort(numbers.begin(), numbers.end());
        found.values = {numbers.front(), numbers[numbers.size() / 2], numbers.back()};
        found.values.erase(std::unique(found.values.begin(), found.values.end()),
                           found.values.end());
        found.listed = true;
        return found;
    }
    const auto now = iio::number_in_value(target.device.read(target.channel, target.attribute));
    if (now)
        found.values = {*now, *now * (1 - kUnlistedStep), *now * (1 + kUnlistedStep)};
    return found;
}

/// The result of trying one target.
struct Tried {
    std::string wrong; ///< empty if every value read back
    std::string text;  ///< "ad9361-phy/…/hardwaregain -3, 34, 71"
    bool settable = true;
};

std::string text_for(const iio::TuningTarget& target, double value)
{
    return target.attribute == "hardwaregain" ? iio::number_text(value) : iio::hertz_text(value);
}

// Tries one value. Returns false if the driver refuses it.
bool try_value(SavedSettings& settings, const iio::TuningTarget& target, const Values& values,
               double value, bool remember, Tried& tried)
{
    const std::string path = path_of(target), wanted = text_for(target, value);
    std::string read;
    try {
        read = settings.set(path, wanted, remember);
    } catch (const Error& error) {
        if (values.listed)
            tried.wrong = target.text() + " refuses " + wanted +
                          ", which its driver lists as available: " + error.what();
        return false;
    }
    const auto got = iio::number_in_value(read);
    const double tolerance = std::max(values.step, std::abs(value) * kRelativeError);
    if (!got || (values.listed && std::abs(*got - value) > tolerance))
        tried.wrong = target.text() + " reads '" + read + "' after " + wanted + " was written";
    return true;
}

Tried try_target(Run& run, const iio::TuningTarget& target, bool remember)
{
    SavedSettings settings(
        run); // restored before the next target, which can be the same setting under another name
    Tried tried;
    Values values;
    try {
        values = values_for(target);
    } catch (const Error& error) {
        tried.wrong = error.what();
        return tried;
    }
    std::string accepted;
    for (const double value : values.values) {
        if (run.stopped() || !tried.wrong.empty())
            break;
        if (try_value(settings, target, values, value, remember, tried))
            detail::add_item(accepted, text_for(target, value));
    }
    tried.settable = !accepted.empty();
    tried.text = target.text() + (accepted.empty() ? " cannot be set" : " " + accepted);
    return tried;
}

void check_targets(Run& run, std::vector<iio::TuningTarget> targets, const std::string& none,
                   SavedSettings& settings, bool remember = true)
{
    if (targets.empty()) {
        run.skip(none);
        return;
    }
    std::string texts, wrong;
    bool settable = false;
    targets.resize(std::min(targets.size(), kMostTargets), targets.front());
    for (const iio::TuningTarget& target : targets) {
        const Tried tried = try_target(run, target, remember);
        detail::add_clause(texts, tried.text);
        if (!tried.wrong.empty())
            detail::add_clause(wrong, tried.wrong);
        settable = settable || tried.settable;
    }
    settings.restore();
    if (!wrong.empty())
        run.fail(wrong);
    else if (settable)
        run.pass(texts + "; restored");
    else
        run.skip(texts);
}

// Returns whether the settings may be changed. The device must not be in use, and a transmitter's
// settings require --transmit. If they may not be changed, reports the check as skipped.
bool may_tune(Run& run, const Subject& subject)
{
    if (!subject.blocked.empty())
        run.skip(subject.blocked);
    else if (subject.buffer.output && !run.options().transmit)
        run.skip("the transmitter's settings are changed only with --transmit");
    else
        return true;
    return false;
}

} // namespace

void check_rate(Run& run, Subject* subject)
{
    if (!may_tune(run, *subject))
        return;
    const iio::FrontEnd front = front_of(*subject);
    std::vector<iio::TuningTarget> targets = front.own_rates();
    for (iio::TuningTarget& target : front.front_rates())
        targets.push_back(std::move(target));
    SavedSettings settings(run);
    for (const iio::TuningTarget& target : targets)
        settings.keep(path_of(target)); // setting one rate can change the others
    for (const iio::TuningTarget& target : front.places("bandwidth"))
        settings.keep(path_of(target));
    check_targets(run, targets, "the device has no sample rate that can be read", settings);
}

void check_frequency(Run& run, Subject* subject)
{
    if (!may_tune(run, *subject))
        return;
    SavedSettings settings(run);
    check_targets(run, front_of(*subject).places("frequency"), "the device has no frequency",
                  settings);
}

void check_gain(Run& run, Subject* subject)
{
    if (!may_tune(run, *subject))
        return;
    const iio::FrontEnd front = front_of(*subject);
    SavedSettings settings(run);
    bool automatic = false;
    for (const iio::TuningTarget& mode : front.places("agc")) {
        const std::string manual = front.manual_mode(), path = path_of(mode);
        if (sys::read_text(path) == manual)
            continue;
        automatic = true; // the gain changes by itself, so only its mode is restored
        if (const std::string read = settings.set(path, manual); read != manual) {
            run.fail(mode.text() + " reads '" + read + "' after " + manual + " was written");
            return;
        }
    }
    check_targets(run, front.places("gain"), "the device has no gain", settings, !automatic);
}

void check_bandwidth(Run& run, Subject* subject)
{
    if (!may_tune(run, *subject))
        return;
    SavedSettings settings(run);
    check_targets(run, front_of(*subject).places("bandwidth"), "the device has no bandwidth",
                  settings);
}

void check_antenna(Run& run, Subject* subject)
{
    if (!may_tune(run, *subject))
        return;
    const auto targets = front_of(*subject).places("antenna");
    SavedSettings settings(run);
    std::string tried, wrong;
    for (std::size_t i = 0; i < std::min(targets.size(), kMostTargets) && wrong.empty(); ++i)
        for (const std::string& port : iio::listed_values(iio::available_for(targets[i]))) {
            const std::string read = settings.set(path_of(targets[i]), port);
            detail::add_item(tried, port);
            if (read != port)
                wrong = targets[i].text() + " reads '" + read + "' after " + port + " was written";
            if (!wrong.empty() || run.stopped())
                break;
        }
    settings.restore();
    if (!wrong.empty())
        run.fail(wrong);
    else if (tried.empty())
        run.skip("the device lists no antenna ports");
    else
        run.pass(targets.front().text() + " " + tried + "; restored");
}

} // namespace iio_stream::conformance
