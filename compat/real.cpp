// SPDX-License-Identifier: MIT
#include "real.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace iio_stream::compat {

void* real_symbol(const char* name) noexcept
{
    static void* const library = dlopen(IIO_STREAM_REAL_LIBIIO, RTLD_NOW | RTLD_LOCAL);
    void* const found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) {
        std::fprintf(stderr, "iio-stream: run: %s\n", dlerror());
        std::abort();
    }
    return found;
}

} // namespace iio_stream::compat
