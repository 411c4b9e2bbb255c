// SPDX-License-Identifier: MIT
// This file replaces the other files of this folder in a build with WITH_LIBIIO=OFF.
#include "iio/remote/remote.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/scan.hpp"

#include <cerrno>

namespace iio_stream::iio {

namespace {

[[noreturn]] void refuse(const std::string& uri)
{
    const Missing missing = *missing_libiio();
    throw Error(Fault::device, ENOTSUP, "open the IIO context", uri, missing.why, missing.fix);
}

} // namespace

ContextPtr open_remote(const std::string& uri)
{
    refuse(uri);
}

std::unique_ptr<Source> make_remote_source(const Device&, const BufferSettings& settings, Options&)
{
    refuse(settings.uri);
}

std::unique_ptr<Sink> make_remote_sink(const Device&, const BufferSettings& settings, Options&)
{
    refuse(settings.uri);
}

std::optional<Missing> missing_libiio()
{
    return Missing{"built without libiio: local devices do not need it, remote devices (uri=) do",
                   "build with -DWITH_LIBIIO=ON"};
}

} // namespace iio_stream::iio

namespace iio_stream {

void hide_libiio_messages() noexcept {}

ContextScan scan_contexts(const std::string&)
{
    iio::refuse("usb:");
}

} // namespace iio_stream
