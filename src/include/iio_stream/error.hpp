// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <string>
#include <system_error>

namespace iio_stream {

/// Which part of the system caused a failure.
enum class Fault {
    usage,   ///< the request is invalid: an unknown option, a value out of range
    device,  ///< a device, its driver or a USB or network peer failed
    storage, ///< a file or its disk failed, or a recording is damaged
    samples, ///< the stream worked, but its samples do not meet the requirements
    other    ///< any other cause, such as a lack of memory
};

/// The library's only exception: a failed operation on a named object. The library prints nothing;
/// the caller shows what().
///
///     try {
///         Reader rx({.source = "iio:cf-ad9361-lpc"});
///     } catch (const Error& error) {
///         std::cerr << error.what() << '\n'; // open /dev/iio:device0: Permission denied
///         return error.code() == std::errc::device_or_resource_busy ? try_again() : 1;
///     }
///
/// code() holds the errno in std::generic_category(), which is EINVAL for a usage error. what()
/// returns "operation object: text (hint)". Timeouts and the end of a stream are return values,
/// never an Error. Thread: any; an Error is a value and holds no references.
class IIO_STREAM_API Error : public std::system_error {
public:
    /// `error` is an errno, `detail` adds to its text, and `hint` states how to fix the problem.
    Error(Fault fault, int error, std::string operation, std::string object,
          std::string detail = {}, std::string hint = {});

    Fault fault() const noexcept { return fault_; }
    /// The operation that failed, a system call or a step: "open", "IIO_BUFFER_DMABUF_ENQUEUE".
    const std::string& operation() const noexcept { return operation_; }
    /// The object of the operation: a path, an endpoint, an option.
    const std::string& object() const noexcept { return object_; }
    /// Details beyond the text of the errno; can be empty.
    const std::string& detail() const noexcept { return detail_; }
    /// How to fix it, often a command to run; can be empty.
    const std::string& hint() const noexcept { return hint_; }
    /// The complete message in one line; valid for the lifetime of this Error.
    const char* what() const noexcept override { return text_.c_str(); }

    /// Returns a copy. If this Error has Fault::other, the copy has `fault` instead.
    Error blamed_on(Fault fault) const;

private:
    Fault fault_;
    std::string operation_, object_, detail_, hint_, text_;
};

/// Throws a usage Error (EINVAL): `what` names the object and its value, and `hint` states a valid
/// alternative.
[[noreturn]] IIO_STREAM_API void fail_usage(std::string what, std::string hint = {});

/// Returns the symbolic name of an errno, such as "ENOSPC"; "" if it has none.
IIO_STREAM_API std::string errno_name(int error);

} // namespace iio_stream
