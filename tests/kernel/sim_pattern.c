// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a stream: the layout of a scan as the IIO core defines it, and the patterns ramp,
 * lanes and stamp (docs/simulator.md). Each pattern is a pure function of the absolute position.
 */
#include <linux/align.h>
#include <linux/math64.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "compat.h"
#include "sim.h"

#define STAMP_EVERY	4096

int sim_pattern_parse(const char *name)
{
	static const char * const names[] = { "ramp", "lanes", "stamp", "none" };

	return match_string(names, ARRAY_SIZE(names), name);
}

/* Returns the constant part of an element's value: lane, sign and shift. */
static u64 sim_lane(const struct sim_element *e, unsigned int index)
{
	u64 value = (u64)index << (e->realbits - 4);

	if (e->is_signed)
		value = sign_extend64(value, e->realbits - 1);
	return value << e->shift;
}

/* Returns how many bytes are made or checked with interrupts off, which takes about 20 us. */
size_t sim_pattern_chunk(enum sim_pattern pattern)
{
	static const size_t chunks[] = {
		[SIM_RAMP] = SZ_16K, [SIM_LANES] = SZ_4K, [SIM_STAMP] = SZ_1M, [SIM_NONE] = SZ_1M,
	};

	return chunks[pattern];
}

/*
 * Elements are at multiples of their size, and the size of the scan is a multiple of the largest
 * element.
 */
void sim_layout_make(struct sim_layout *layout, const struct iio_chan_spec *channels,
		     unsigned int count, const unsigned long *mask)
{
	unsigned int offset = 0, largest = 1, i;

	layout->count = 0;
	for (i = 0; i < count; i++) {
		const struct iio_chan_spec *chan = &channels[i];
		struct sim_element *e = &layout->elements[layout->count];

		if (!test_bit(chan->scan_index, mask))
			continue;
		e->bytes = chan->scan_type.storagebits / 8;
		e->realbits = chan->scan_type.realbits;
		e->shift = chan->scan_type.shift;
		e->big_endian = chan->scan_type.endianness == IIO_BE;
		e->is_signed = chan->scan_type.sign == 's' || chan->scan_type.sign == 'S';
		e->counter = chan->type == IIO_COUNT;
		e->lane = sim_lane(e, chan->scan_index);
		e->offset = ALIGN(offset, e->bytes);
		offset = e->offset + e->bytes;
		largest = max(largest, e->bytes);
		layout->count++;
	}
	layout->scan_bytes = ALIGN(offset, largest);
}

/* Returns the value in the element's storage, before the byte order is applied. */
u64 sim_element_value(const struct sim_element *e, u64 counter)
{
	if (e->counter)
		return counter;
	return e->lane | (counter & (BIT_ULL(e->realbits - 4) - 1)) << e->shift;
}

static void sim_element_put(const struct sim_element *e, u64 counter, u8 *scan)
{
	u64 value = sim_element_value(e, counter);
	u8 *out = scan + e->offset;

	switch (e->bytes) {
	case 1:
		*out = value;
		break;
	case 2:
		put_unaligned_le16(e->big_endian ? swab16(value) : value, out);
		break;
	case 4:
		put_unaligned_le32(e->big_endian ? swab32(value) : value, out);
		break;
	case 8:
		put_unaligned_le64(e->big_endian ? swab64(value) : value, out);
		break;
	}
}

void sim_scan_make(const struct sim_layout *layout, u64 scan, u8 *out)
{
	unsigned int i;

	memset(out, 0, layout->scan_bytes);
	for (i = 0; i < layout->count; i++)
		sim_element_put(&layout->elements[i], layout->start + scan, out);
}

/* Makes whole scans of 16-bit voltages, which are the most common, in a tight loop. */
static void sim_fill_lanes16(const struct sim_layout *layout, u64 scan, u8 *out, size_t scans)
{
	const struct sim_element *e = layout->elements;
	u16 mask = BIT(e->realbits - 4) - 1, counter = layout->start + scan, lanes[SIM_MAX_CHANNELS];
	unsigned int i;

	for (i = 0; i < layout->count; i++)
		lanes[i] = e->big_endian ? swab16(e[i].lane) : e[i].lane;
	for (; scans; scans--, counter++) {
		u16 value = (counter & mask) << e->shift;

		if (e->big_endian)
			value = swab16(value);
		for (i = 0; i < layout->count; i++, out += sizeof(u16))
			put_unaligned_le16(lanes[i] | value, out);
	}
}

static void sim_fill_scans(const struct sim_layout *layout, u64 scan, u8 *out, size_t scans)
{
	if (layout->scan_bytes == sizeof(u16) * layout->count) {
		sim_fill_lanes16(layout, scan, out, scans);
		return;
	}
	for (; scans; scans--, out += layout->scan_bytes)
		sim_scan_make(layout, scan++, out);
}

void sim_fill_lanes(const struct sim_layout *layout, u8 *out, u64 position, size_t bytes)
{
	u8 one[SIM_MAX_CHANNELS * sizeof(u64)];
	u32 within;
	u64 scan = div_u64_rem(position, layout->scan_bytes, &within);

	if (within) {
		size_t part = min_t(size_t, layout->scan_bytes - within, bytes);

		sim_scan_make(layout, scan++, one);
		memcpy(out, one + within, part);
		out += part;
		bytes -= part;
	}
	sim_fill_scans(layout, scan, out, bytes / layout->scan_bytes);
	scan += bytes / layout->scan_bytes;
	within = bytes % layout->scan_bytes;
	sim_scan_make(layout, scan, one);
	memcpy(out + bytes - within, one, within);
}

/* Byte p of the stream is byte p mod 8 of the 64-bit little-endian number p / 8. */
static void sim_fill_ramp(u8 *out, u64 position, size_t bytes)
{
	unsigned int bits = 8 * (position % 8);
	u64 word = position / 8, last;

	if (!bits) {
		for (; bytes >= 8; bytes -= 8, out += 8)
			put_unaligned_le64(word++, out);
	} else {
		for (; bytes >= 8; bytes -= 8, out += 8, word++)
			put_unaligned_le64(word >> bits | (word + 1) << (64 - bits), out);
	}
	last = cpu_to_le64(bits ? word >> bits | (word + 1) << (64 - bits) : word);
	memcpy(out, &last, bytes);
}

static void sim_fill_stamp(u8 *out, u64 position, size_t bytes)
{
	u64 at = round_down(position, STAMP_EVERY), end = position + bytes;

	for (; at < end; at += STAMP_EVERY) {
		u64 from = max(at, position), to = min(at + 8, end);

		if (to == from + 8)
			put_unaligned_le64(at / 8, out + (at - position));
		else if (from < to)
			sim_fill_ramp(out + (from - position), from, to - from);
	}
}

/* Writes only the counter element, over a ramp or stamps. */
static void sim_fill_counter(const struct sim_layout *layout, const struct sim_element *e,
			     u8 *out, u64 position, size_t bytes)
{
	u64 scan = div_u64(position, layout->scan_bytes);
	u64 at = scan * layout->scan_bytes + e->offset, end = position + bytes;

	for (; at < end; at += layout->scan_bytes, scan++) {
		__le64 value = cpu_to_le64(layout->start + scan);
		u64 from = max(at, position), to = min(at + e->bytes, end);

		if (from < to)
			memcpy(out + (from - position), (u8 *)&value + (from - at), to - from);
	}
}

static void sim_stick_bits(const struct sim_layout *layout, u8 *memory, size_t bytes)
{
	size_t at;

	for (at = 0; at + sizeof(u16) <= bytes; at += sizeof(u16)) {
		u16 word = get_unaligned_le16(memory + at);

		put_unaligned_le16((word | layout->stuck_high) & ~layout->stuck_low, memory + at);
	}
}

static void sim_fill_as_set(const struct sim_layout *layout, void *memory, u64 position, size_t bytes)
{
	unsigned int i;

	switch (layout->pattern) {
	case SIM_LANES:
		sim_fill_lanes(layout, memory, position, bytes);
		return;
	case SIM_RAMP:
		sim_fill_ramp(memory, position, bytes);
		break;
	case SIM_STAMP:
		sim_fill_stamp(memory, position, bytes);
		break;
	default:
		break;
	}
	for (i = 0; i < layout->count; i++)
		if (layout->elements[i].counter)
			sim_fill_counter(layout, &layout->elements[i], memory, position, bytes);
}

void sim_pattern_fill(const struct sim_layout *layout, void *memory, u64 position, size_t bytes)
{
	u64 at = position;

	if (layout->repeat)
		div64_u64_rem(position, layout->repeat, &at);
	sim_fill_as_set(layout, memory, at, bytes);
	if (layout->stuck_low || layout->stuck_high)
		sim_stick_bits(layout, memory, bytes);
}
