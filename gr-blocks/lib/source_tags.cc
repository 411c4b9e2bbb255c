/* SPDX-License-Identifier: GPL-3.0-or-later */
// The events of the source between samples, and the conversion of samples to items.
#include "messages.h"
#include "source_impl.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

namespace {

constexpr int64_t second_ns = 1'000'000'000;

} // namespace

// Inserts an event. Events are sorted by place; events at the same place stay in the order of
// insertion.
void source_impl::expect(event expected)
{
    const auto later = [&](const event& other) { return other.at > expected.at; };
    d_events.insert(std::find_if(d_events.begin(), d_events.end(), later), expected);
}

// Adds the events of the block's gaps. A gap that was detected late and began in an earlier block
// is reported at the start of this block.
void source_impl::expect_gaps()
{
    const ios::Block& filled = d_block->filled;
    const uint64_t first = filled.position();
    const auto place = [&](uint64_t offset) { return d_next + std::max(offset, first) - first; };
    for (const ios::Gap& gap : filled.gaps()) {
        const uint64_t begin = place(gap.offset_min), end = place(gap.offset_max);
        const uint64_t before = first - std::min(gap.offset_min, first);
        expect({ event::kind::gap_begins, begin, gap, before, end - begin });
        expect({ event::kind::gap_ends, end, gap });
    }
}

// Adds the event of a retuning before the first sample taken after it, which is computed from the
// time of the block's last sample.
void source_impl::expect_change()
{
    if (auto made = d_control.take_change())
        d_change = std::move(made);
    if (!d_change)
        return;
    const ios::Time& time = d_block->filled.time();
    uint64_t at = d_next; // the best estimate if the times or the rate are unknown
    if (time.ns != 0 && time.clock == ios::Clock::monotonic && d_rate > 0) {
        if (time.ns < d_change->ns)
            return;
        const double since = static_cast<double>(time.ns - d_change->ns) / second_ns * d_rate;
        const double samples = static_cast<double>(d_block->end - d_next);
        at = d_block->end - static_cast<uint64_t>(std::min(since, samples));
    }
    d_tuned = d_change->tuning;
    d_change.reset();
    expect({ event::kind::tuned, at });
}

void source_impl::handle_event()
{
    const event now = d_events.front();
    d_events.erase(d_events.begin());
    switch (now.what) {
    case event::kind::gap_begins: {
        pmt::pmt_t loss = with(gap_dict(now.gap), "before", pmt::from_uint64(now.before));
        loss = with(loss, "span", pmt::from_uint64(now.span));
        loss = with(loss, "sample", pmt::from_uint64(d_part));
        tag(pmt::mp("overflow"), loss);
        d_control.say("overflow", with(loss, "item", pmt::from_uint64(item())));
        if (d_settings.on_gap == "stop") {
            d_over = true;
            d_ended = "gap";
        }
        break;
    }
    case event::kind::gap_ends:
        if (d_settings.on_gap == "zero-fill")
            d_zeros = now.gap.lost_min;
        d_untold = true;
        break;
    case event::kind::tuned:
        d_tuning = d_tuned;
        d_rate = d_tuning.rate.value_or(d_rate);
        d_untold = true;
        return; // the packet continues
    }
    d_unpacked = true;
}

// Returns the number of samples before the next gap: samples of the block, or zeros.
uint64_t source_impl::until_gap() const
{
    if (d_zeros != 0)
        return d_zeros;
    uint64_t end = d_block->end;
    for (const event& next : d_events)
        if (next.what != event::kind::tuned)
            end = std::min(end, next.at);
    return end - d_next;
}

size_t source_impl::write(gr_vector_void_star& out, size_t room)
{
    if (d_unpacked && !d_settings.packet_len.empty())
        tag_packet();
    d_unpacked = false;
    if (d_untold && d_zeros == 0)
        tag_origin();
    uint64_t samples = d_zeros;
    if (samples == 0) {
        samples = d_block->end - d_next;
        if (!d_events.empty())
            samples = std::min(samples, d_events.front().at - d_next);
    }
    return write_items(out, room, samples);
}

size_t source_impl::write_items(gr_vector_void_star& out, size_t room, uint64_t samples)
{
    const size_t vlen = d_settings.vlen, item_bytes = vlen * d_type.bytes;
    const auto place = [&](size_t port) {
        return static_cast<std::byte*>(out[port]) + d_made * item_bytes;
    };
    if (d_part == 0 && samples >= vlen) {
        const size_t items = std::min<uint64_t>(room, samples / vlen);
        for (size_t port = 0; port < d_ports.count(); ++port)
            d_places[port] = place(port);
        copy_to_places(items * vlen);
        advance(items * vlen);
        return items;
    }
    // The item extends over several blocks, or contains a gap.
    const auto few = static_cast<size_t>(std::min<uint64_t>(vlen - d_part, samples));
    for (size_t port = 0; port < d_ports.count(); ++port)
        d_places[port] = d_begun[port].data() + d_part * d_type.bytes;
    copy_to_places(few);
    d_part += few;
    advance(few);
    if (d_part < vlen)
        return 0;
    for (size_t port = 0; port < d_ports.count(); ++port)
        std::memcpy(place(port), d_begun[port].data(), item_bytes);
    d_part = 0;
    return 1;
}

void source_impl::copy_to_places(uint64_t samples) const
{
    if (d_zeros != 0) {
        for (std::byte* place : d_places)
            std::memset(place, 0, samples * d_type.bytes);
        return;
    }
    const size_t sample = d_ports.sample_bytes();
    const auto bytes = d_block->data.bytes();
    d_ports.take(bytes.data() + bytes.size() - (d_block->end - d_next) * sample, d_places, samples);
}

void source_impl::advance(uint64_t samples)
{
    if (d_zeros != 0) {
        d_zeros -= samples;
        d_unpacked = d_zeros == 0;
        return;
    }
    d_next += samples;
    if (d_next == d_block->end)
        d_block.reset();
}

void source_impl::tag(const pmt::pmt_t& key, const pmt::pmt_t& value)
{
    for (size_t port = 0; port < d_ports.count(); ++port)
        add_item_tag(static_cast<unsigned>(port), item(), key, value, d_id);
}

// Returns the time of the first sample of the item to which the next sample belongs, computed as if
// there were no gap between them. As in gr-uhd, the time is a pair of whole seconds and the
// fraction, here in UTC. Returns no value if the time is unknown or before 1970, because the
// seconds in the tag are unsigned.
std::optional<pmt::pmt_t> source_impl::time_of_next() const
{
    const ios::Time& time = d_block->filled.time();
    if (d_rate <= 0 || time.ns == 0)
        return std::nullopt;
    uint64_t later = d_block->end - d_next + d_part;
    for (const event& next : d_events)
        if (next.what == event::kind::gap_ends && next.at < d_block->end)
            later += next.gap.lost_min;
    int64_t ns = time.ns + (time.clock == ios::Clock::monotonic ? d_to_utc_ns : 0);
    ns -= std::llround(static_cast<double>(later) / d_rate * second_ns);
    if (ns < 0)
        return std::nullopt;
    return pmt::make_tuple(pmt::from_uint64(static_cast<uint64_t>(ns / second_ns)),
                           pmt::from_double(static_cast<double>(ns % second_ns) / second_ns));
}

void source_impl::tag_origin()
{
    d_untold = false;
    if (const auto time = time_of_next())
        tag(pmt::mp("rx_time"), *time);
    if (d_rate > 0)
        tag(pmt::mp("rx_rate"), pmt::from_double(d_rate));
    if (d_tuning.frequency)
        tag(pmt::mp("rx_freq"), pmt::from_double(*d_tuning.frequency));
}

void source_impl::tag_packet()
{
    const uint64_t items = (d_part + until_gap()) / d_settings.vlen;
    if (items != 0)
        tag(pmt::mp(d_settings.packet_len), pmt::from_long(static_cast<long>(items)));
}

} // namespace iio_stream
} // namespace gr
