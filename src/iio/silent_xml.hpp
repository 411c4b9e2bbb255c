// SPDX-License-Identifier: MIT
#pragma once

namespace iio_stream::iio {

/// While it lives, libxml2 prints nothing on this thread. libiio parses a context's XML with it,
/// and libxml2 writes its complaints to stderr, quoting the foreign text as it is.
class SilentXml {
public:
    SilentXml() noexcept;
    SilentXml(const SilentXml&) = delete;
    ~SilentXml();

private:
    using Handler = void (*)(void*, const char*, ...);
    Handler handler_ = nullptr; ///< the one the program had set
    void* context_ = nullptr;
};

} // namespace iio_stream::iio
