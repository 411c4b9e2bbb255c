// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace iio_stream {

// The conformance test of `iio-stream check`: numbered, named checks of this machine and of its IIO
// devices, which owners run on their own boards. Each check gives one result for each device and
// for each path or memory that it tries.
//
//     const ConformanceReport report = check_conformance({.device = "cf-ad9361-lpc"}, print, stop);
//     return report.count(CheckOutcome::fail) == 0;

/// The description of one check, available before any check runs.
struct ConformanceCheck {
    int number = 0;       ///< the same in all later versions; the hundreds digit is the kind of
                          ///< check
    std::string name;     ///< "start-stop"
    std::string explains; ///< the tested property, in one line
};

/// The outcome of a check. `skip`: the check does not apply to this board or could not run; the
/// result's text states the reason.
enum class CheckOutcome { pass, fail, skip };
/// Returns "pass", "fail" or "skip".
IIO_STREAM_API const char* name_of(CheckOutcome outcome) noexcept;

/// A measured value, such as "bytes_per_second".
struct CheckFact {
    std::string name;
    std::variant<std::int64_t, double, std::string> value;
};

/// The result of one check, for one device and one variant of it.
struct ConformanceResult {
    int number = 0;
    std::string name;
    std::string device;  ///< name of the device, or its id if it has no name; empty for a check of
                         ///< the machine
    std::string variant; ///< "dmabuf heap:system"; empty if there is only one
    CheckOutcome outcome = CheckOutcome::pass;
    std::string text; ///< the finding, in one line
    std::vector<CheckFact> facts;
    double seconds = 0;
    std::optional<Fault> fault; ///< fault of the Error that caused the failure, if any
};

/// The devices and checks to run, and the permitted side effects.
struct ConformanceOptions {
    std::string device = {};            ///< name, label or id; empty = all devices
    bool transmit = false;              ///< allow checks to enable DACs whatever the transmitter
                                        ///< reports
    bool destructive = false;           ///< allow checks to unbind and rebind drivers
    std::vector<std::string> only = {}; ///< names or numbers of checks; empty = all
    std::string scratch = ".";          ///< folder for the files of the disk measurement
};

/// A device that was checked. Serial numbers are left out.
struct CheckedDevice {
    std::string id, name, label;
    std::vector<std::string> buffers; ///< "input: voltage0 le:s12/16>>0, …"
};

struct IIO_STREAM_API ConformanceReport {
    std::vector<ConformanceResult> results; ///< ordered by number
    std::vector<CheckedDevice> devices;
    bool emulated = false; ///< the devices belong to the project's simulator
    bool complete = true;  ///< false if the run was stopped before its end
    double seconds = 0;

    std::size_t count(CheckOutcome outcome) const noexcept;
};

/// Returns all checks, ordered by number.
IIO_STREAM_API std::vector<ConformanceCheck> conformance_checks();

/// Runs the checks and calls `seen` with each result as it becomes available. Every setting that a
/// check changes is restored before the next check begins, even if the check fails or `stop` is
/// set. Devices in use by another program are not touched. Without `transmit`, a DAC is enabled
/// only while the transmitter reports that its oscillator is powered down and its attenuation is at
/// the maximum. Throws Error for a device or check that does not exist; the failure of a device is
/// a result, not an Error. Thread: one call at a time, because the devices are shared; `stop` can
/// be set on any thread or in a signal handler.
IIO_STREAM_API ConformanceReport check_conformance(
    const ConformanceOptions& options, const std::function<void(const ConformanceResult&)>& seen,
    const std::atomic<bool>& stop);

} // namespace iio_stream
