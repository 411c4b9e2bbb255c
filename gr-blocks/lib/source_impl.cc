/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source_impl.h"

#include "messages.h"
#include <gnuradio/io_signature.h>
#include <iio_stream/error.hpp>

#include <algorithm>
#include <cstring>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

namespace {

// Samples per block with packet_len: the buffer of a tagged-stream block must have room for a
// packet.
constexpr size_t packet_samples = 8192;
// Bounds for the size of the output buffer in items, which is otherwise 20 ms.
constexpr double least_items = 8192, most_items = 131072;

ios::Reader open_reader(const source_settings& settings)
{
    ios::PipelineConfig config;
    config.source = settings.endpoint;
    config.blocks = settings.buffers;
    config.samples = settings.samples;
    const size_t samples = settings.buffer_size != 0     ? settings.buffer_size
                           : settings.packet_len.empty() ? 0
                                                         : packet_samples;
    if (samples != 0) // the size of a sample is known only after opening
        config.block_size = block_size(samples, ios::Reader(config).format().sample_bytes);
    return ios::Reader(config);
}

const source_settings& checked(const source_settings& settings)
{
    require_word("on_gap", settings.on_gap, { "mark", "stop", "zero-fill" });
    require_item(settings.vlen, port_type::of(settings.type).bytes);
    return settings;
}

double rate_of(const ios::Reader& reader)
{
    const double rate = reader.format().sample_rate;
    return rate > 0 ? rate : reader.tuning().rate.value_or(0);
}

} // namespace

source::sptr source::make(const std::string& endpoint,
                          const std::string& type,
                          size_t vlen,
                          const std::string& on_gap,
                          const std::string& packet_len,
                          size_t buffer_size,
                          size_t buffers,
                          uint64_t samples,
                          double stats_interval)
{
    return gnuradio::make_block_sptr<source_impl>(source_settings{
        endpoint, type, vlen, on_gap, packet_len, buffer_size, buffers, samples, stats_interval });
}

source_impl::source_impl(const source_settings& settings)
    : gr::sync_block(
          "iio_stream_source", gr::io_signature::make(0, 0, 0), gr::io_signature::make(0, 0, 0)),
      d_settings(checked(settings)),
      d_type(port_type::of(settings.type)),
      d_reader(open_reader(settings)),
      d_format(d_reader.format().name()),
      d_ports(d_reader.format(), d_type, ports::direction::out_of_blocks),
      d_control(*this, settings.endpoint, settings.stats_interval),
      d_id(pmt::mp(alias())),
      d_rate(rate_of(d_reader)),
      d_begun(d_ports.count(), std::vector<std::byte>(d_type.bytes * settings.vlen)),
      d_places(d_ports.count())
{
    const auto count = static_cast<int>(d_ports.count());
    const size_t item_bytes = d_type.bytes * settings.vlen;
    set_output_signature(gr::io_signature::make(count, count, static_cast<int>(item_bytes)));
    d_control.set_channels(d_ports.channels());
    d_events.reserve(8 * ios::kMaxGaps);

    const double wanted = std::clamp(d_rate / 50, least_items, most_items);
    const size_t packet = settings.packet_len.empty() ? 0
                          : settings.buffer_size == 0 ? packet_samples
                                                      : settings.buffer_size;
    const size_t least = std::max(static_cast<size_t>(wanted), 2 * packet);
    set_min_output_buffer(static_cast<long>(std::max<size_t>(least / settings.vlen, 2)));
}

bool source_impl::start()
try {
    d_events.clear();
    d_change.reset();
    d_next = d_zeros = d_part = 0;
    d_untold = d_unpacked = true;
    d_over = false;
    d_ended = nullptr;
    d_failed.reset();
    d_control.warn(d_reader.route());
    d_reader.start();
    d_running = true;
    if (d_reader.format().name() != d_format)
        ios::fail_usage(d_settings.endpoint + " has changed its sample format: " +
                        d_reader.format().name() + ", not " + d_format);
    d_tuning = d_reader.tuning();
    d_rate = rate_of(d_reader);
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    d_to_utc_ns = now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec - monotonic_ns();
    return true;
} catch (const ios::Error& error) {
    d_control.fail(error); // work() ends the flowgraph: the result of start() is ignored
    d_over = true;
    return true;
}

// Reports the end of the stream. The messages arrive only if they are sent before work() returns
// WORK_DONE, because the blocks that receive them end with this one.
void source_impl::conclude()
{
    if (!std::exchange(d_running, false))
        return;
    d_block.reset();
    const ios::Summary summary = d_reader.close();
    if (d_part != 0)
        d_logger->d_logger->warn(
            "{} samples at the end do not fill an item of {}", d_part, d_settings.vlen);
    pmt::pmt_t end = with(end_dict(summary), "left_over", pmt::from_uint64(d_part));
    if (d_ended != nullptr)
        end = with(end, "ended", pmt::mp(d_ended));
    d_control.conclude(summary, end, d_failed);
}

int source_impl::work(int noutput_items,
                      gr_vector_const_void_star&,
                      gr_vector_void_star& output_items)
{
    d_made = 0;
    if (!d_over) {
        try {
            produce(static_cast<uint64_t>(noutput_items), output_items);
        } catch (const ios::Error& error) {
            d_failed = error;
            d_over = true;
        }
    }
    if (d_over && d_made == 0) {
        conclude();
        return WORK_DONE;
    }
    if (d_control.due())
        d_control.publish(d_reader.stats());
    return static_cast<int>(d_made);
}

void source_impl::produce(uint64_t wanted, gr_vector_void_star& out)
{
    while (d_made < wanted && !d_over) {
        if (d_zeros == 0 && !d_block && !fetch(d_made == 0))
            break;
        if (d_zeros == 0 && !d_events.empty() && d_events.front().at <= d_next)
            handle_event();
        else
            d_made += write(out, wanted - d_made);
    }
}

// Gets the next block. Returns false if none arrived in time, or if the stream has ended.
bool source_impl::fetch(bool wait)
{
    auto filled = d_reader.next(wait ? patience : std::chrono::milliseconds(0));
    if (!filled) {
        d_over = d_reader.ended();
        return false;
    }
    d_block.emplace(std::move(*filled));
    d_block->end = d_next + d_block->filled.bytes() / d_ports.sample_bytes();
    d_unpacked = true;
    expect_gaps();
    expect_change();
    return true;
}

} // namespace iio_stream
} // namespace gr
