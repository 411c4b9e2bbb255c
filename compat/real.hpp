// SPDX-License-Identifier: MIT
#pragma once

#include <iio.h>

namespace iio_stream::compat {

/// Returns the function of that name in the machine's own libiio. Aborts the program if there is
/// none. Opens the library by its path, because the result of RTLD_NEXT depends on how this library
/// was loaded.
void* real_symbol(const char* name) noexcept;

/// The machine's own version of a function of iio.h: REAL(iio_buffer_push)(buffer).
#define REAL(name)                                                                                 \
    ([] {                                                                                          \
        static const auto real =                                                                   \
            reinterpret_cast<decltype(&::name)>(::iio_stream::compat::real_symbol(#name));         \
        return real;                                                                               \
    }())

} // namespace iio_stream::compat
