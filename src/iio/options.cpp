// SPDX-License-Identifier: MIT
#include "iio/options.hpp"

#include "core/options/registry.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

namespace iio_stream::iio {

namespace {

Path parse_path(const std::string& text)
{
    if (text == "auto")
        return Path::automatic;
    if (text == "dmabuf")
        return Path::dmabuf;
    if (text == "mmap")
        return Path::mmap;
    return Path::fileio;
}

} // namespace

BufferSettings BufferSettings::from(Uri& address, OptionSide side)
{
    BufferSettings s;
    s.name = address.rest;
    if (s.name.empty())
        fail_usage("iio: needs a device: iio:NAME", "iio-stream info lists them");
    std::vector<Option> possible =
        join(kDeviceOptions, kSourceOptions, kSinkOptions, kFrontEndOptions, detail::kTuning);
    const std::string uri = address.options.get(kDeviceOptions["uri"]);
    const bool local = uri == kLocal;
    if (local)
        possible.insert(possible.end(), kLocalOptions.begin(), kLocalOptions.end());
    detail::require_options(address, possible, side, "a remote device, " + uri);
    s.uri = address.options.take_or_standard(kDeviceOptions["uri"]);
    s.channels = address.options.take(kDeviceOptions["channels"]).value_or("");
    s.iq = parse_iq(address.options.take_or_standard(kDeviceOptions["iq"]));
    if (local)
        s.path = parse_path(address.options.take_or_standard(kLocalOptions["path"]));
    const std::uint64_t buffer = address.options.take_size_or_standard(kDeviceOptions["buffer"]);
    if (buffer > 255)
        fail_usage("buffer=" + std::to_string(buffer) + ": must be 0 to 255");
    s.buffer = static_cast<int>(buffer);
    return s;
}

} // namespace iio_stream::iio
