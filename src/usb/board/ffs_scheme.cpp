// SPDX-License-Identifier: MIT
#include "core/format/format_options.hpp"
#include "framing/options.hpp"
#include "usb/board/ffs_sink.hpp"
#include "usb/board/ffs_source.hpp"
#include "usb/options.hpp"
#include "usb/usb.hpp"

namespace iio_stream::usb {

namespace {

std::unique_ptr<Source> make_ffs_source(Uri& uri)
{
    FfsSettings settings = FfsSettings::from(uri, Direction::to_board);
    Format format = detail::format_from_options(uri.options, "", "",
                                                "ffs:" + settings.mount +
                                                    ": the format of the host's samples is missing",
                                                "give format=, such as ci16_le, and rate=");
    return std::make_unique<FfsSource>(std::move(settings), std::move(format));
}

std::unique_ptr<Sink> make_ffs_sink(Uri& uri)
{
    return std::make_unique<FfsSink>(FfsSettings::from(uri, Direction::to_host));
}

} // namespace

Scheme ffs_scheme()
{
    return {"ffs",
            &make_ffs_source,
            &make_ffs_sink,
            "MOUNT",
            "This board as a USB device, through FunctionFS; usb: is its other end",
            "iio-stream stream iio:cf-ad9361-lpc ffs:/run/iio-stream/ffs",
            join(detail::kStatedFormat, kFfsSourceOptions, kFfsSinkOptions, kFfsOptions,
                 framing::kLinkOptions)};
}

} // namespace iio_stream::usb
