// SPDX-License-Identifier: MIT
#pragma once

#include "iio/libiio.hpp"

namespace iio_stream::iio {

/// While it lives, libxml2 prints nothing on this thread. libiio parses a context's XML with it,
/// and libxml2 writes its complaints to stderr, quoting the foreign text as it is.
class SilentXml {
public:
    explicit SilentXml(const Libiio& libiio) noexcept;
    SilentXml(const SilentXml&) = delete;
    ~SilentXml();

private:
    using Handler = void (*)(void*, const char*, ...);
    void (*set_)(void*, Handler); ///< libxml2's; null where libiio has been built without it
    Handler handler_ = nullptr;   ///< the one the program had set
    void* context_ = nullptr;
};

} // namespace iio_stream::iio
