// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <string>
#include <system_error>

namespace iio_stream {

/// Who is to mend a failure; decides the command's exit status (2, 3, 5, 4, 1).
enum class Fault { usage, device, storage, samples, other };

/// The library's one exception: a failed operation on a named object.
/// code() holds the errno (EINVAL for a usage error); what() reads "operation object: text (hint)".
class IIO_STREAM_API Error : public std::system_error {
public:
    Error(Fault fault, int error, std::string operation, std::string object, std::string detail = {},
          std::string hint = {});

    Fault fault() const noexcept { return fault_; }
    const std::string& operation() const noexcept { return operation_; }
    const std::string& object() const noexcept { return object_; }
    /// What is wrong beyond the errno's own text; may be empty.
    const std::string& detail() const noexcept { return detail_; }
    /// The way out; may be empty.
    const std::string& hint() const noexcept { return hint_; }
    const char* what() const noexcept override { return text_.c_str(); }

    /// The same error blamed on `fault`, where nobody was blamed before.
    Error blamed_on(Fault fault) const;

private:
    Fault fault_;
    std::string operation_, object_, detail_, hint_, text_;
};

/// Throws a usage Error: `what` names the thing and the value, `hint` the way out.
[[noreturn]] IIO_STREAM_API void fail_usage(std::string what, std::string hint = {});

/// The symbolic name of an errno, "ENOSPC"; "" where there is none.
IIO_STREAM_API std::string errno_name(int error);

} // namespace iio_stream
