// SPDX-License-Identifier: MIT
#include "framing/options.hpp"
#include "iio_stream/units.hpp"
#include "tcp/options.hpp"
#include "tcp/sink.hpp"
#include "tcp/source.hpp"

namespace iio_stream::tcp {

namespace {

// A sink reacts to a signal while it waits. A source waits before there is a stream that a signal
// could stop, so it has a limit.
constexpr std::int64_t kListeningSourceNs = 60'000'000'000;

Settings settings_of(Uri& uri, bool binds, std::int64_t listening_ns)
{
    Settings s;
    if (uri.rest.starts_with("//"))
        fail_usage("invalid address 'tcp:" + uri.rest + "'",
                   "tcp:HOST:PORT, or zmq:tcp://HOST:PORT for ZeroMQ");
    s.address = sys::HostPort::parse("tcp:", uri.rest, "");
    s.bind = uri.options.take_switch(kOptions["bind"]).value_or(binds);
    if (!s.bind && s.address.host == "*")
        fail_usage("tcp:" + uri.rest + ": a connection needs a single address",
                   "bind=on listens at all addresses");
    const std::chrono::nanoseconds usual{s.bind ? listening_ns : 0};
    s.wait_ns = uri.options.take_duration(kOptions["wait"]).value_or(usual).count();
    s.reconnect_ns = uri.options.take_duration_or_standard(kOptions["reconnect"]).count();
    s.check = framing::take_check(uri);
    return s;
}

std::unique_ptr<Source> make_tcp_source(Uri& uri)
{
    return std::make_unique<TcpSource>(settings_of(uri, false, kListeningSourceNs));
}

std::unique_ptr<Sink> make_tcp_sink(Uri& uri)
{
    return std::make_unique<TcpSink>(settings_of(uri, true, INT64_MAX));
}

} // namespace

Scheme scheme()
{
    return {"tcp",
            &make_tcp_source,
            &make_tcp_sink,
            "HOST:PORT",
            "A stream to or from another iio-stream, on this machine or another, with its format, "
            "losses and end",
            "iio-stream record tcp:192.168.2.1:5001 wait=10s capture.sigmf-meta --duration 2s",
            join(kOptions, framing::kLinkOptions)};
}

} // namespace iio_stream::tcp
