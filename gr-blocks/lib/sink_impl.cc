/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sink_impl.h"

#include "messages.h"
#include <gnuradio/io_signature.h>
#include <iio_stream/error.hpp>

#include <algorithm>
#include <cstring>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

namespace {

constexpr int64_t look_every_ns = 100'000'000; // interval of the checks for underflows
// Blocks for a device end at a multiple of this many bytes; no DMA needs a larger alignment.
constexpr size_t device_align = 64;

ios::Writer open_writer(const sink_settings& settings, const port_type& type)
{
    const ios::Format format = sink_format(settings, type);
    ios::PipelineConfig config;
    config.source = ios::Uri::named("gnuradio");
    config.sinks = { settings.endpoint };
    config.block_size = block_size(settings.buffer_size, format.sample_bytes);
    config.blocks = settings.buffers;
    return ios::Writer(config, format);
}

} // namespace

sink::sptr sink::make(const std::string& endpoint,
                      const std::string& type,
                      size_t ports,
                      size_t vlen,
                      const std::string& format,
                      double sample_rate,
                      const std::string& length_tag,
                      size_t buffer_size,
                      size_t buffers,
                      double stats_interval)
{
    return gnuradio::make_block_sptr<sink_impl>(sink_settings{ endpoint,
                                                               type,
                                                               ports,
                                                               vlen,
                                                               format,
                                                               sample_rate,
                                                               length_tag,
                                                               buffer_size,
                                                               buffers,
                                                               stats_interval });
}

sink_impl::sink_impl(const sink_settings& settings)
    : gr::sync_block(
          "iio_stream_sink", gr::io_signature::make(0, 0, 0), gr::io_signature::make(0, 0, 0)),
      d_settings(settings),
      d_type(port_type::of(settings.type)),
      d_writer(open_writer(settings, d_type)),
      d_format(d_writer.format().name()),
      d_ports(d_writer.format(), d_type, ports::direction::into_blocks),
      d_control(*this, settings.endpoint, settings.stats_interval),
      d_places(d_ports.count())
{
    d_control.set_channels(d_ports.channels());
    if (d_ports.count() != settings.ports)
        ios::fail_usage(settings.endpoint + " has " + std::to_string(d_ports.count()) +
                            " ports of " + settings.type + ", not " +
                            std::to_string(settings.ports),
                        "select channels with channels=");
    const auto count = static_cast<int>(settings.ports);
    const size_t item_bytes = d_type.bytes * settings.vlen;
    set_input_signature(gr::io_signature::make(count, count, static_cast<int>(item_bytes)));
}

bool sink_impl::start()
try {
    d_over = d_burst_ended = false;
    d_underflows = 0;
    d_failed.reset();
    d_ends.clear();
    d_control.warn(d_writer.route());
    d_writer.start();
    d_running = true;
    return true;
} catch (const ios::Error& error) {
    d_control.fail(error); // work() ends the flowgraph: the result of start() is ignored
    d_over = true;
    return true;
}

// Waits until all samples have reached their destination, and reports the end of the stream.
void sink_impl::conclude()
{
    if (!std::exchange(d_running, false))
        return;
    try {
        if (d_block)
            put();
    } catch (const ios::Error&) {
        d_block.reset(); // the stream has ended; the summary has the reason
    }
    const ios::Summary summary = d_writer.close();
    d_control.conclude(summary, end_dict(summary), d_failed);
}

int sink_impl::work(int noutput_items, gr_vector_const_void_star& input_items, gr_vector_void_star&)
{
    size_t used = 0;
    try {
        if (!d_over)
            used = consume(static_cast<size_t>(noutput_items), input_items);
        tell_underflows();
    } catch (const ios::Error& error) {
        d_failed = error;
        d_over = true;
    }
    if (d_over && used == 0) {
        conclude();
        return WORK_DONE;
    }
    if (d_control.due())
        d_control.publish(d_writer.stats());
    return static_cast<int>(used);
}

size_t sink_impl::consume(size_t items, gr_vector_const_void_star& in)
{
    const size_t sample = d_ports.sample_bytes(), item = d_settings.vlen * sample;
    find_ends(items);
    size_t used = 0;
    while (used < items && (d_block || fetch(used == 0))) {
        size_t few =
            std::min(items - used, (d_block->data->bytes().size() - d_block->bytes) / item);
        const uint64_t next = nitems_read(0) + used;
        while (!d_ends.empty() && d_ends.front() <= next)
            d_ends.erase(d_ends.begin()); // another tag has contradicted this length
        if (!d_ends.empty())
            few = std::min<uint64_t>(few, d_ends.front() - next);
        for (size_t port = 0; port < d_ports.count(); ++port)
            d_places[port] =
                static_cast<const std::byte*>(in[port]) + used * d_settings.vlen * d_type.bytes;
        d_ports.put(d_places,
                    d_block->data->bytes().data() + d_block->bytes,
                    few * d_settings.vlen);
        d_block->bytes += few * item;
        used += few;
        if (!d_ends.empty() && d_ends.front() == nitems_read(0) + used)
            end_burst();
        else if (d_block->data->bytes().size() - d_block->bytes < item)
            put();
    }
    return used;
}

// Gets an empty block. Returns false if none became free in time, or if the stream has ended.
bool sink_impl::fetch(bool wait)
{
    auto empty = d_writer.take(wait ? patience : std::chrono::milliseconds(0));
    if (!empty) {
        d_over = d_writer.ended();
        return false;
    }
    d_block.emplace(std::move(*empty));
    if (d_block->data->bytes().size() < d_settings.vlen * d_ports.sample_bytes())
        ios::fail_usage("vlen=" + std::to_string(d_settings.vlen) + " is more than a block",
                        "buffer_size= makes it larger");
    return true;
}

void sink_impl::put()
{
    d_block->data.reset(); // ends the CPU's access
    ios::EmptyBlock full = std::move(d_block->empty);
    const size_t bytes = d_block->bytes;
    d_block.reset();
    d_writer.put(std::move(full), bytes / d_ports.sample_bytes());
}

// Finds the ends of bursts (tx_eob) and of packets (length_tag).
void sink_impl::find_ends(size_t items)
{
    std::vector<gr::tag_t> tags;
    get_tags_in_window(tags, 0, 0, items);
    for (const gr::tag_t& tag : tags) {
        if (pmt::eq(tag.key, pmt::mp("tx_eob")) && pmt::is_true(tag.value))
            d_ends.push_back(tag.offset + 1);
        else if (!d_settings.length_tag.empty() &&
                 pmt::eq(tag.key, pmt::mp(d_settings.length_tag)) && pmt::is_integer(tag.value) &&
                 pmt::to_long(tag.value) > 0)
            d_ends.push_back(tag.offset + static_cast<uint64_t>(pmt::to_long(tag.value)));
    }
    std::sort(d_ends.begin(), d_ends.end()); // the next call sees the tags of unused items again
    d_ends.erase(std::unique(d_ends.begin(), d_ends.end()), d_ends.end());
}

// Sends the partly filled block at once. For a device, it is padded with zeros to the alignment of
// its DMA.
void sink_impl::end_burst()
{
    d_ends.erase(d_ends.begin());
    d_burst_ended = true;
    const size_t sample = d_ports.sample_bytes();
    const auto data = d_block->data->bytes();
    while (d_control.is_device() && d_block->bytes % device_align != 0 &&
           d_block->bytes + sample <= data.size()) {
        std::memset(data.data() + d_block->bytes, 0, sample);
        d_block->bytes += sample;
    }
    put();
}

void sink_impl::tell_underflows()
{
    const int64_t now = monotonic_ns();
    if (now < d_look_ns)
        return;
    d_look_ns = now + look_every_ns;
    uint64_t all = 0;
    for (const ios::SinkStats& stats : d_writer.stats().sinks)
        all += stats.playback ? stats.playback->underflows : 0;
    if (all > d_underflows) {
        pmt::pmt_t dict = with(pmt::make_dict(), "count", pmt::from_uint64(all - d_underflows));
        dict = with(dict, "total", pmt::from_uint64(all));
        d_control.say("underflow", with(dict, "behind_burst", pmt::from_bool(d_burst_ended)));
        d_burst_ended = false;
    }
    d_underflows = all;
}

} // namespace iio_stream
} // namespace gr
