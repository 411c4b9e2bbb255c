// SPDX-License-Identifier: MIT
#include "zmq/zmq.hpp"

#include "core/format/format_options.hpp"
#include "iio_stream/units.hpp"
#include "zmq/options.hpp"
#include "zmq/sink.hpp"
#include "zmq/source.hpp"

namespace iio_stream::zmq {

namespace {

constexpr std::size_t kMostMessages = 4096;

std::optional<Curve> curve_of(Options& options, bool bind)
{
    const auto own = options.take(kLinkOptions["curve_key"]),
               server = options.take(kLinkOptions["curve_server"]),
               clients = options.take(kLinkOptions["curve_clients"]);
    if (!own && !server && !clients)
        return std::nullopt;
    if (::zmq_has("curve") == 0)
        fail_usage("curve_key=: this libzmq was built without CURVE");
    const auto& peer = bind ? clients : server;
    if (!own || !peer || (bind ? server : clients))
        fail_usage(bind ? "the end that binds needs curve_key= and curve_clients="
                        : "the end that connects needs curve_key= and curve_server=",
                   bind ? "curve_clients=any admits anyone who knows this end's public key" : "");
    Curve curve;
    curve.secret_key = read_key("curve_key", *own, true);
    curve.public_key = read_key("curve_key", *own, false);
    if (!bind)
        curve.server = read_key("curve_server", *server, false);
    else if (*clients != "any")
        curve.clients = read_public_keys("curve_clients", *clients);
    return curve;
}

Settings settings_of(Uri& uri, const Option& pattern, bool binds)
{
    Settings s;
    s.address = uri.rest;
    if (!s.address.starts_with("tcp://") && !s.address.starts_with("ipc://"))
        fail_usage("invalid address 'zmq:" + s.address + "'",
                   "such as zmq:tcp://192.168.2.1:5555 or zmq:ipc:///run/samples");
    s.pattern = uri.options.take_or_standard(pattern);
    s.bind = uri.options.take_switch(kLinkOptions["bind"]).value_or(binds);
    s.curve = curve_of(uri.options, s.bind);
    s.index = uri.options.take_switch_or_standard(kLinkOptions["index"]);
    if (const auto limit = uri.options.take_memory_size(kLinkOptions["hwm"])) {
        s.limit = *limit;
        if (s.limit == 0 || s.limit > kMostMessages)
            fail_usage("hwm=" + std::to_string(s.limit) + ": must be 1 to " +
                       std::to_string(kMostMessages));
    }
    return s;
}

std::unique_ptr<Source> make_source(Uri& uri)
{
    Settings settings = settings_of(uri, kSourceOptions["pattern"], false);
    Format format = detail::format_from_options(uri.options, "", "",
                                                "zmq:" + settings.address +
                                                    ": messages do not state the sample format",
                                                "set the format, such as format=ci16_le");
    return std::make_unique<ZmqSource>(std::move(settings), std::move(format));
}

std::unique_ptr<Sink> make_sink(Uri& uri)
{
    Settings settings = settings_of(uri, kSinkOptions["pattern"], true);
    // A sink that connects waits for its peer unless wait=off.
    settings.wait = uri.options.take_switch(kSinkOptions["wait"]).value_or(!settings.bind);
    return std::make_unique<ZmqSink>(std::move(settings));
}

} // namespace

Scheme scheme()
{
    return {"zmq",
            &make_source,
            &make_sink,
            "ADDRESS",
            "Samples in the messages of a ZeroMQ socket, tcp://HOST:PORT or ipc://PATH",
            "iio-stream stream sim: rate=1M zmq:tcp://127.0.0.1:5555 --duration 2s",
            join(detail::kStatedFormat, kSourceOptions, kSinkOptions, kLinkOptions)};
}

} // namespace iio_stream::zmq
