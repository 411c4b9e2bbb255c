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
// devices, run on the owner's own board. Each check gives one result for each device, and for each
// path or memory it tries.
//
//     const ConformanceReport report = check_conformance({.device = "cf-ad9361-lpc"}, print, stop);
//     return report.count(CheckOutcome::fail) == 0;

/// One check, as listed before anything runs.
struct ConformanceCheck {
    int number = 0;       ///< stays the same in later versions; the hundreds are the kind of check
    std::string name;     ///< "start-stop"
    std::string explains; ///< one line: the property that is tested
};

/// `skip`: the check does not apply to this board or could not be run; the text has the reason.
enum class CheckOutcome { pass, fail, skip };
/// "pass", "fail", "skip".
IIO_STREAM_API const char* name_of(CheckOutcome outcome) noexcept;

/// A measured value, "bytes_per_second".
struct CheckFact {
    std::string name;
    std::variant<std::int64_t, double, std::string> value;
};

/// The result of one check, for one device and one variant of it.
struct ConformanceResult {
    int number = 0;
    std::string name;
    std::string device;  ///< its name, or its id if it has none; empty for a check of the machine
    std::string variant; ///< "dmabuf heap:system"; empty if there is only one
    CheckOutcome outcome = CheckOutcome::pass;
    std::string text; ///< one line: what was found
    std::vector<CheckFact> facts;
    double seconds = 0;
    std::optional<Fault> fault; ///< of a failure that an Error caused
};

/// What to check, and how far the checks may go.
struct ConformanceOptions {
    std::string device = {};            ///< name, label or id; empty = all devices
    bool transmit = false;              ///< DACs may be enabled whatever the transmitter reports
    bool destructive = false;           ///< drivers may be unbound and bound again
    std::vector<std::string> only = {}; ///< names or numbers of checks; empty = all
    std::string scratch = ".";          ///< folder for the files of the disk measurement
};

/// A device that was checked. Serial numbers are left out.
struct CheckedDevice {
    std::string id, name, label;
    std::vector<std::string> buffers; ///< "input: voltage0 le:s12/16>>0, …"
};

struct IIO_STREAM_API ConformanceReport {
    std::vector<ConformanceResult> results; ///< in the order of their numbers
    std::vector<CheckedDevice> devices;
    bool emulated = false; ///< the devices are those of the project's simulator
    bool complete = true;  ///< false: it was stopped before its end
    double seconds = 0;

    std::size_t count(CheckOutcome outcome) const noexcept;
};

/// All checks, by number.
IIO_STREAM_API std::vector<ConformanceCheck> conformance_checks();

/// Runs the checks and calls `seen` with each result as it comes. Every setting that a check
/// changes is restored before the next check begins, also if the check fails or `stop` is set. A
/// device that another program uses is not touched. Without `transmit`, a DAC is enabled only while
/// the transmitter's oscillator is read back as powered down and its attenuation as the largest
/// one. Throws Error for a device or check that does not exist; a failure of a device is a result.
/// Thread: one at a time, as the devices are; `stop` may be set on any thread or in a signal
/// handler.
IIO_STREAM_API ConformanceReport check_conformance(
    const ConformanceOptions& options, const std::function<void(const ConformanceResult&)>& seen,
    const std::atomic<bool>& stop);

} // namespace iio_stream
