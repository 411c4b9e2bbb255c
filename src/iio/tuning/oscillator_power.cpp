// SPDX-License-Identifier: MIT
#include "iio/tuning/oscillator_power.hpp"

#include "core/base/text.hpp"
#include "iio/options.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <utility>

namespace iio_stream::iio {

namespace {

Powerdown parse_powerdown(const std::string& text)
{
    if (text == "off")
        return Powerdown::off;
    return text == "keep" ? Powerdown::keep : Powerdown::restore;
}

// Whether the oscillator is powered down; nullopt if that cannot be read now.
std::optional<bool> is_down(const TuningTarget& powerdown)
{
    const auto value = value_of(powerdown);
    return value ? std::optional(*value != 0) : std::nullopt;
}

void set_down(const TuningTarget& powerdown, bool down, const char* operation)
{
    const std::string wanted = down ? "1" : "0";
    int error = EIO;
    std::string detail;
    try {
        const std::string made = write_at(powerdown, wanted);
        if (made == wanted)
            return;
        detail = "it reads '" + made + "' after " + wanted + " was written";
    } catch (const Error& refusal) {
        error = refusal.code().value();
    }
    throw Error(Fault::device, error, operation, powerdown.text(), detail,
                "powerdown=keep leaves it alone");
}

} // namespace

OscillatorPower::OscillatorPower(const FrontEnd& front, const std::string& name, Options& options)
    : mode_(parse_powerdown(options.take_or_standard(kSinkOptions["powerdown"])))
{
    if (mode_ == Powerdown::keep)
        return;
    for (const TuningTarget& target : front.powerdowns())
        if (const auto down = is_down(target))
            oscillators_.push_back({target, *down, {}});
    if (mode_ == Powerdown::off && oscillators_.empty())
        fail_usage("powerdown=off: " + name + " has no oscillator whose powerdown can be read",
                   (front.has_phy() ? "its front end is " + front.text()
                                    : std::string("no front end was found")) +
                       "; phy=DEVICE names another");
}

OscillatorPower::~OscillatorPower()
{
    try {
        restore();
    } catch (const Error&) {
        // finish() has reported the error, or there was no stream.
    }
}

void OscillatorPower::tune(const std::function<void()>& apply)
{
    std::vector<std::optional<bool>> before;
    for (const Oscillator& oscillator : oscillators_)
        before.push_back(is_down(oscillator.powerdown));
    const auto note_changes = [&] {
        for (std::size_t i = 0; i < before.size(); ++i)
            if (const auto now = is_down(oscillators_[i].powerdown); now && now != before[i])
                oscillators_[i].own = now;
    };
    try {
        apply();
    } catch (...) {
        note_changes(); // for the destructor: some options were applied
        throw;
    }
    note_changes();
}

void OscillatorPower::begin()
{
    for (Oscillator& oscillator : oscillators_) {
        const auto now = is_down(oscillator.powerdown);
        // The state may have changed since the sink was opened, or since the last stream.
        if (now && (over_ || now != oscillator.own))
            oscillator.found = *now;
    }
    begun_ = true;
    over_ = false;
    for (const Oscillator& oscillator : oscillators_) {
        const auto wanted = mode_ == Powerdown::off ? false : oscillator.own;
        if (wanted && is_down(oscillator.powerdown) != wanted)
            set_down(oscillator.powerdown, *wanted, "set");
    }
}

void OscillatorPower::finish(const std::exception_ptr& failure)
{
    try {
        restore();
    } catch (const Error&) {
        if (!failure)
            throw;
    }
    if (failure)
        std::rethrow_exception(failure);
}

void OscillatorPower::restore()
{
    if (std::exchange(over_, true) || mode_ != Powerdown::restore)
        return;
    std::optional<Error> failure;
    for (const Oscillator& oscillator : oscillators_)
        try {
            restore(oscillator);
        } catch (const Error& error) {
            failure = error;
        }
    if (failure)
        throw *failure;
}

void OscillatorPower::restore(const Oscillator& oscillator) const
{
    if (!begun_ && !oscillator.own)
        return;
    const auto now = is_down(oscillator.powerdown);
    const bool was_powered_up = oscillator.found && now != true; // or its state is unknown
    const bool was_powered_down = !oscillator.found && now == true && oscillator.own == true;
    if (was_powered_up || was_powered_down)
        set_down(oscillator.powerdown, oscillator.found, "restore");
}

std::string OscillatorPower::remark() const
{
    std::string text;
    for (const Oscillator& oscillator : oscillators_)
        if (mode_ == Powerdown::restore && is_down(oscillator.powerdown) == true)
            detail::add_clause(text, oscillator.powerdown.text() +
                                         " is 1: an oscillator that is powered down transmits "
                                         "nothing; powerdown=off powers it up");
    return text;
}

} // namespace iio_stream::iio
