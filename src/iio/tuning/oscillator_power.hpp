// SPDX-License-Identifier: MIT
#pragma once

#include "iio/tuning/front_end.hpp"
#include "iio_stream/uri.hpp"

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// Values of `powerdown=`.
enum class Powerdown {
    restore, ///< nothing is changed at the start; the state at the start is restored at the end
    off,     ///< the oscillators are powered up at the start and stay powered up
    keep     ///< the oscillators are never touched
};

/// Controls the powerdown attributes of a transmitter's oscillators from the start of a stream to
/// its end. Some drivers power up an oscillator when their DAC starts and never power it down
/// again; it then transmits a carrier after the stream. Restoring never powers up an oscillator
/// that another program has powered down.
/// Owns: handles of the front end's devices. The destructor also restores the state, and ignores
/// errors.
/// Throws: Error from the constructor, tune(), begin() and finish(). Thread: one at a time.
class OscillatorPower {
public:
    /// Takes `powerdown=` from the options of the sink `name`, before tune(). Throws a usage Error
    /// for powerdown=off if there is no such attribute.
    OscillatorPower(const FrontEnd& front, const std::string& name, Options& options);
    OscillatorPower(const OscillatorPower&) = delete;
    OscillatorPower& operator=(const OscillatorPower&) = delete;
    ~OscillatorPower();

    /// Calls `apply`, which applies the sink's tuning options (attr.…=). Its changes belong to the
    /// stream, even if it throws.
    void tune(const std::function<void()>& apply);
    /// Call when a stream starts, and again after finish() for another stream.
    void begin();
    /// Call when the stream is over and the device is stopped. Restores the state. Rethrows
    /// `failure`, the error that ended the stream, if it is not null.
    void finish(const std::exception_ptr& failure);
    /// Names the oscillators that are powered down, for the route; "" if there are none. Call it
    /// while the device plays.
    std::string remark() const;

private:
    struct Oscillator {
        TuningTarget powerdown;
        bool found;              ///< powered down when the stream started
        std::optional<bool> own; ///< the state that the stream's own options have set
    };
    void restore();
    void restore(const Oscillator& oscillator) const;

    Powerdown mode_;
    std::vector<Oscillator> oscillators_;
    bool begun_ = false; ///< a stream has started
    bool over_ = false;  ///< the state was restored, and no stream has started since
};

} // namespace iio_stream::iio
