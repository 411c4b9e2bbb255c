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
    restore, ///< nothing is changed at the start; the state found there is restored at the end
    off,     ///< the oscillators are powered up at the start and stay so
    keep     ///< they are never touched
};

/// The powerdown attributes of a transmitter's oscillators, from the start of a stream to its end.
/// Some drivers power an oscillator up when their DAC starts, and leave it so: it then transmits a
/// carrier after the stream. Restoring never powers up one that another program has powered down.
/// Owns: handles of the front end's devices. The destructor restores, too, and ignores errors.
/// Throws: Error from the constructor, tune(), begin() and finish(). Thread: one at a time.
class OscillatorPower {
public:
    /// Takes `powerdown=` from the options of the sink `name`, before tune(). Throws a usage Error
    /// for powerdown=off if there is no such attribute.
    OscillatorPower(const FrontEnd& front, const std::string& name, Options& options);
    OscillatorPower(const OscillatorPower&) = delete;
    OscillatorPower& operator=(const OscillatorPower&) = delete;
    ~OscillatorPower();

    /// Calls `apply`, which applies the sink's tuning options (attr.…=): what it changes belongs to
    /// the stream, even if it throws.
    void tune(const std::function<void()>& apply);
    /// The stream starts; may be called again after finish(), for another stream.
    void begin();
    /// The stream is over and the device is stopped: restores. Rethrows `failure`, the error of
    /// that end, if there is one.
    void finish(const std::exception_ptr& failure);
    /// Names the oscillators that are powered down, for the route; "" if there are none. To be
    /// called while the device plays.
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
    bool over_ = false;  ///< it was restored, and no stream has started since
};

} // namespace iio_stream::iio
