// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <string>
#include <system_error>

namespace iio_stream {

/// Where to look for the cause of a failure.
enum class Fault {
    usage,   ///< the request makes no sense: an unknown option, a value out of range
    device,  ///< a device, its driver or a USB or network peer failed
    storage, ///< a file or its disk failed, or a recording is damaged
    samples, ///< the stream worked, but its samples are not as required
    other    ///< anything else, such as no memory
};

/// The library's only exception: a failed operation on a named object. Nothing is printed; show
/// what().
///
///     try {
///         Reader rx({.source = "iio:cf-ad9361-lpc"});
///     } catch (const Error& error) {
///         std::cerr << error.what() << '\n'; // open /dev/iio:device0: Permission denied
///         return error.code() == std::errc::device_or_resource_busy ? try_again() : 1;
///     }
///
/// code() holds the errno in std::generic_category(), EINVAL for a usage error. what() reads
/// "operation object: text (hint)". Timeouts and the end of a stream are return values, never an
/// Error. Thread: any; an Error is a value and refers to nothing.
class IIO_STREAM_API Error : public std::system_error {
public:
    /// `error` is an errno; `detail` adds to its text, `hint` says how to fix it.
    Error(Fault fault, int error, std::string operation, std::string object,
          std::string detail = {}, std::string hint = {});

    Fault fault() const noexcept { return fault_; }
    /// What failed: a system call or a step, "open", "IIO_BUFFER_DMABUF_ENQUEUE".
    const std::string& operation() const noexcept { return operation_; }
    /// What it failed on: a path, an endpoint, an option.
    const std::string& object() const noexcept { return object_; }
    /// What is wrong, beyond the errno's own text; may be empty.
    const std::string& detail() const noexcept { return detail_; }
    /// How to fix it, often as a command to run; may be empty.
    const std::string& hint() const noexcept { return hint_; }
    /// All of it in one line; valid as long as this Error.
    const char* what() const noexcept override { return text_.c_str(); }

    /// A copy that blames `fault` if this one has Fault::other; otherwise an equal copy.
    Error blamed_on(Fault fault) const;

private:
    Fault fault_;
    std::string operation_, object_, detail_, hint_, text_;
};

/// Throws a usage Error (EINVAL): `what` names the thing and the value, `hint` says what to write
/// instead.
[[noreturn]] IIO_STREAM_API void fail_usage(std::string what, std::string hint = {});

/// The symbolic name of an errno, "ENOSPC"; "" if it has none.
IIO_STREAM_API std::string errno_name(int error);

} // namespace iio_stream
