// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <string>
#include <vector>

namespace iio_stream {

/// A libiio context that a scan has found, such as a Pluto on USB.
struct ScannedContext {
    std::string uri;              ///< "usb:1.5.5", "ip:192.168.2.1"; the option uri= takes it
    std::string description = {}; ///< of the board, as printable text; can be empty
    std::vector<std::string> sources = {}; ///< names of the devices with an input buffer
    std::vector<std::string> sinks = {};   ///< names of the devices with an output buffer
    std::string error = {};                ///< why its devices cannot be listed; empty if they can
};

/// The result of scan_contexts().
struct ContextScan {
    std::vector<ScannedContext> found;
    /// The places where no context was found, each with the reason:
    /// "ip:192.168.2.1: Connection refused".
    std::vector<std::string> not_found;
};

/// Looks for libiio contexts on USB, by DNS-SD (if Avahi's daemon runs) and at the addresses that
/// Analog Devices' images use: 192.168.2.1, pluto.local and analog.local. `uri` names one more
/// place ("ip:10.0.0.7"); "" names none. All places are tried at the same time, each for about a
/// second. Then the devices of each context are listed through libiio, with its own deadlines.
///
///     for (const ScannedContext& board : scan_contexts().found)
///         for (const std::string& name : board.sources)
///             std::cout << "iio:" << name << " uri=" << board.uri << '\n';
///
/// A place that does not answer in time is abandoned: its thread ends later, by itself. Throws
/// Error (device) if libiio is missing. Thread: any.
IIO_STREAM_API ContextScan scan_contexts(const std::string& uri = "");

/// Hides the messages that libiio prints to stderr while this library opens a remote context or
/// buffer; the Error says the same. From the call on, stderr is captured during such an opening,
/// and the lines of the whole process that begin with "ERROR: " or "WARNING: " are dropped. A
/// program calls this once, before it starts threads, if it prints no such lines itself.
IIO_STREAM_API void hide_libiio_messages() noexcept;

} // namespace iio_stream
