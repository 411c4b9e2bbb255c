// SPDX-License-Identifier: MIT
#pragma once

#include <iio.h>

namespace iio_stream::compat {

/// The function of that name in the machine's own libiio; ends the program if there is none. By
/// path: what RTLD_NEXT finds depends on who loaded this library.
void* real_symbol(const char* name) noexcept;

/// The machine's own version of a function of iio.h: REAL(iio_buffer_push)(buffer).
#define REAL(name)                                                                                 \
    ([] {                                                                                          \
        static const auto real =                                                                   \
            reinterpret_cast<decltype(&::name)>(::iio_stream::compat::real_symbol(#name));         \
        return real;                                                                               \
    }())

} // namespace iio_stream::compat
