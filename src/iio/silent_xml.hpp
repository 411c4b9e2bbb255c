// SPDX-License-Identifier: MIT
#pragma once

namespace iio_stream::iio {

/// As long as it lives, libxml2 prints nothing on this thread. libiio reads a context's XML with it,
/// and what libxml2 has to say of that it writes to stderr, with the foreign text as it is.
class SilentXml {
public:
    SilentXml() noexcept;
    SilentXml(const SilentXml&) = delete;
    ~SilentXml();

private:
    using Handler = void (*)(void*, const char*, ...);
    Handler handler_ = nullptr; ///< the program's own
    void* context_ = nullptr;
};

} // namespace iio_stream::iio
