// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the data that a DAC plays against the ramp or the lanes pattern, unit by unit. A unit is
 * a 64-bit word of the ramp or a scan of the lanes. After a jump the check continues at the new
 * position, so that one loss is one gap and not a permanent mismatch.
 */
#include <linux/math64.h>
#include <linux/string.h>

#include "compat.h"
#include "sim.h"

#define WORD	8U

void sim_check_restart(struct sim_check *check, enum sim_pattern pattern)
{
	memset(check, 0, sizeof(*check));
	check->pattern = pattern;
}

static void sim_check_miss(struct sim_check *check, u64 unit, u64 expected, u64 got, s64 jump)
{
	if (!check->mismatches++) {
		check->first_unit = unit;
		check->first_expected = expected;
		check->first_got = got;
	}
	if (jump > 0)
		check->gaps++;
	if (jump < 0)
		check->repeats++;
	check->shift += jump;
}

static void sim_check_word(struct sim_check *check, u64 unit, const u8 *data)
{
	u64 expected = unit + check->shift, got = get_unaligned_le64(data);
	s64 jump = got - expected;

	if (jump)
		sim_check_miss(check, unit, expected, got, abs(jump) >> 40 ? 0 : jump);
}

static u64 sim_element_get(const struct sim_element *e, const u8 *scan)
{
	const u8 *in = scan + e->offset;
	u64 value;

	switch (e->bytes) {
	case 2:
		value = e->big_endian ? get_unaligned_be16(in) : get_unaligned_le16(in);
		break;
	case 4:
		value = e->big_endian ? get_unaligned_be32(in) : get_unaligned_le32(in);
		break;
	default:
		value = e->big_endian ? get_unaligned_be64(in) : get_unaligned_le64(in);
		break;
	}
	return value;
}

/* Returns the difference between the counter in the scan's first element and the expected one. */
static s64 sim_lanes_jump(const struct sim_layout *layout, u64 counter, const u8 *scan)
{
	const struct sim_element *e = &layout->elements[0];
	u64 got = sim_element_get(e, scan) >> e->shift;

	return sign_extend64(got - counter, e->realbits - 5);
}

static void sim_check_scan(struct sim_check *check, const struct sim_layout *layout, u64 unit,
			   const u8 *data)
{
	u8 expected[SIM_MAX_CHANNELS * sizeof(u64)];
	const struct sim_element *e = layout->elements;
	s64 jump;

	sim_scan_make(layout, unit + check->shift, expected);
	if (!memcmp(expected, data, layout->scan_bytes))
		return;
	while (e < layout->elements + layout->count - 1 &&
	       !memcmp(expected + e->offset, data + e->offset, e->bytes))
		e++;
	jump = sim_lanes_jump(layout, layout->start + unit + check->shift, data);
	if (jump) {
		u8 moved[sizeof(expected)];

		sim_scan_make(layout, unit + check->shift + jump, moved);
		if (memcmp(moved, data, layout->scan_bytes))
			jump = 0;
	}
	sim_check_miss(check, unit, sim_element_get(e, expected), sim_element_get(e, data), jump);
}

static void sim_check_unit(struct sim_check *check, const struct sim_layout *layout, u64 unit,
			   const u8 *data)
{
	if (check->pattern == SIM_RAMP)
		sim_check_word(check, unit, data);
	else
		sim_check_scan(check, layout, unit, data);
}

/* Checks one unit, or several at once if they are correct. */
static size_t sim_check_some(struct sim_check *check, const struct sim_layout *layout, u64 unit,
			     const u8 *data, size_t units)
{
	if (check->pattern == SIM_LANES) {
		size_t some = min_t(size_t, units, sizeof(check->expected) / layout->scan_bytes);

		sim_fill_lanes(layout, check->expected, (unit + check->shift) * layout->scan_bytes,
			       some * layout->scan_bytes);
		if (!memcmp(check->expected, data, some * layout->scan_bytes))
			return some;
	}
	sim_check_unit(check, layout, unit, data);
	return 1;
}

void sim_check(struct sim_check *check, const struct sim_layout *layout, const u8 *data,
	       u64 position, size_t bytes)
{
	u32 size = check->pattern == SIM_RAMP ? WORD : layout->scan_bytes, within;
	u64 unit;

	if (check->pattern != SIM_RAMP && check->pattern != SIM_LANES)
		return;
	unit = div_u64_rem(position, size, &within);
	if (within) {
		size_t part = min_t(size_t, size - within, bytes);

		memcpy(check->part + within, data, part);
		if (within + part < size)
			return;
		sim_check_unit(check, layout, unit++, check->part);
		data += part;
		bytes -= part;
	}
	while (bytes >= size) {
		size_t units = sim_check_some(check, layout, unit, data, bytes / size);

		unit += units;
		data += units * size;
		bytes -= units * size;
	}
	memcpy(check->part, data, bytes);
}
