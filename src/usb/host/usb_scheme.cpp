// SPDX-License-Identifier: MIT
#include "framing/options.hpp"
#include "iio_stream/units.hpp"
#include "usb/host/sink.hpp"
#include "usb/host/source.hpp"
#include "usb/options.hpp"
#include "usb/usb.hpp"

namespace iio_stream::usb {

namespace {

UsbSettings host_settings(Uri& uri)
{
    UsbSettings s;
    if (!uri.rest.empty()) {
        s.choice.id = parse_usb_id(uri.rest);
        if (!s.choice.id)
            fail_usage(
                "usb:" + uri.rest + " does not name a board",
                "use usb: or usb:1d6b:0104, and serial=; libiio's usb: is iio:DEVICE uri=usb:…");
    }
    s.choice.serial = uri.options.take(kHostOptions["serial"]).value_or("");
    s.choice.wait_ns = uri.options.take_duration_or_standard(kHostOptions["wait"]).count();
    if (const auto transfers = uri.options.take_memory_size(kHostOptions["transfers"])) {
        s.transfers = *transfers;
        if (s.transfers < 1 || s.transfers > 1024)
            fail_usage("transfers=" + std::to_string(s.transfers) + ": must be 1 to 1024");
    }
    s.check = framing::take_check(uri);
    s.reconnect_ns = uri.options.take_duration_or_standard(kHostOptions["reconnect"]).count();
    return s;
}

// Refuses agc= with gain=, because otherwise the one that is set last would win. The mode for a
// fixed gain is "manual" or "spi", depending on the board's driver.
void refuse_two_gains(const std::vector<std::pair<std::string, std::string>>& changes)
{
    for (std::size_t i = 0; i + 1 < changes.size(); ++i)
        if (const auto& [name, mode] = changes[i];
            name == "agc" && mode != "manual" && mode != "spi")
            fail_usage("agc=" + mode + " and gain=" + changes[i + 1].second +
                           ": only one can set the gain",
                       "gain= alone selects manual mode");
}

std::unique_ptr<Source> make_usb_source(Uri& uri)
{
    UsbSettings s = host_settings(uri);
    if (const auto bytes = uri.options.take_memory_size(kHostSourceOptions["transfer_size"])) {
        s.transfer_bytes = *bytes;
        if (s.transfer_bytes == 0 || s.transfer_bytes % framing::kPacketBytes != 0)
            fail_usage("transfer_size=" + format_size(*bytes) + ": must be a multiple of " +
                       format_size(framing::kPacketBytes));
    }
    for (const Option& option : kHostTuning) {
        if (option.key.ends_with('.'))
            for (const auto& [path, value] : uri.options.take_prefixed(option))
                s.changes.emplace_back(std::string(option.key) + path, value);
        else if (const auto value = uri.options.take(option))
            s.changes.emplace_back(option.key, *value);
    }
    refuse_two_gains(s.changes);
    return std::make_unique<UsbSource>(std::move(s));
}

std::unique_ptr<Sink> make_usb_sink(Uri& uri)
{
    return std::make_unique<UsbSink>(host_settings(uri));
}

} // namespace

Scheme usb_scheme()
{
    return {"usb",
            &make_usb_source,
            &make_usb_sink,
            "[VID:PID]",
            "A board on the cable; ffs: is its other end",
            "iio-stream record usb: wait=10s capture.sigmf-meta --duration 2s",
            join(kHostOptions, kHostSourceOptions, kHostTuning, framing::kLinkOptions)};
}

} // namespace iio_stream::usb
