// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::detail {

/// A shared library that is loaded when it is first needed, so that programs that do not need it
/// start without it. It stays loaded until the process ends, because libraries keep state.
/// Throws: Error that names the library and the package to install.
class Library {
public:
    /// Loads the library `name`, or else `other_name` (nullptr: there is none). `package` is the
    /// Debian package that contains it.
    Library(const char* name, const char* other_name, const char* package);

    /// Sets `function` to the library's function of that name.
    template <typename Function>
    void find(const char* name, Function& function) const
    {
        function = reinterpret_cast<Function>(symbol(name));
    }
    [[noreturn]] void fail(const std::string& detail) const;

private:
    void* symbol(const char* name) const;

    const char* name_;
    std::string hint_;
    void* handle_;
};

} // namespace iio_stream::detail
