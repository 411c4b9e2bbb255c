// SPDX-License-Identifier: MIT
#pragma once

namespace iio_stream::sys {

/// While an object exists, this process's stderr is captured if enable() was called before, for
/// calls of a library that prints its own errors there. At the end, all lines are written to stderr
/// except the library's: those that begin with "ERROR: " or "WARNING: ". The effect is
/// process-wide, so that the other threads' messages appear late. Without a memfd, nothing is
/// captured. Thread: any; the last of several objects ends the capture.
class CapturedStderr {
public:
    CapturedStderr() noexcept;
    CapturedStderr(const CapturedStderr&) = delete;
    ~CapturedStderr();

    static void enable() noexcept;
};

} // namespace iio_stream::sys
