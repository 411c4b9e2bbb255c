// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

static const char *const names[MAX_CHANNELS] = {
	"voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q", "count0",
};

/* Enables the channels of the mask and reads their scan types back. */
void layout_read(const char *device, bool output, unsigned int mask, struct layout *layout)
{
	unsigned int i, offset = 0, largest = 1;
	char file[128], text[64], sign, end[3];

	layout->count = 0;
	for (i = 0; i < MAX_CHANNELS; i++) {
		struct channel *c = &layout->channels[layout->count];
		const char *way = output ? "out" : "in";
		unsigned int storage;

		snprintf(file, sizeof(file), "scan_elements/%s_%s_en", way, names[i]);
		if (device_put(device, file, mask >> i & 1 ? "1" : "0") && mask >> i & 1)
			fail("%s: cannot enable %s", device, file);
		if (!(mask >> i & 1))
			continue;
		snprintf(file, sizeof(file), "scan_elements/%s_%s_type", way, names[i]);
		device_get(device, file, text, sizeof(text));
		if (sscanf(text, "%2[a-z]:%c%u/%u>>%u", end, &sign, &c->realbits, &storage,
			   &c->shift) != 5)
			fail("%s: %s", file, text);
		snprintf(c->name, sizeof(c->name), "%s", names[i]);
		c->index = i;
		c->bytes = storage / 8;
		c->big_endian = end[0] == 'b';
		c->is_signed = sign == 's';
		c->offset = (offset + c->bytes - 1) / c->bytes * c->bytes;
		offset = c->offset + c->bytes;
		largest = largest > c->bytes ? largest : c->bytes;
		layout->count++;
	}
	layout->scan_bytes = (offset + largest - 1) / largest * largest;
}

/* Returns the storage of a channel as a number. */
uint64_t channel_value(const struct channel *c, const uint8_t *scan)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < c->bytes; i++) {
		unsigned int at = c->big_endian ? i : c->bytes - 1 - i;

		value = value << 8 | scan[c->offset + at];
	}
	return value;
}

uint64_t lane_value(const struct channel *c, uint64_t counter)
{
	uint64_t value, all = c->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * c->bytes) - 1;

	if (!strcmp(c->name, "count0"))
		return counter & all;
	value = (uint64_t)c->index << (c->realbits - 4);
	value += counter % (UINT64_C(1) << (c->realbits - 4));
	if (c->is_signed && value >> (c->realbits - 1) & 1)
		value -= UINT64_C(1) << c->realbits;
	return value << c->shift & all;
}

unsigned int truth(const char *device, struct gap *gaps, unsigned int max)
{
	char path[256], line[256];
	unsigned int n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/iios-sim/%s/gaps", device);
	file = fopen(path, "r");
	if (!file)
		fail("%s cannot be opened", path);
	while (n < max && fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &gaps[n].delivered,
			   &gaps[n].lost, &gaps[n].at) == 3)
			n++;
	fclose(file);
	return n;
}

/* Returns the absolute index of the n-th delivered scan. */
static uint64_t absolute(uint64_t n, const struct gap *gaps, unsigned int count)
{
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < count && gaps[i].delivered <= n; i++)
		lost += gaps[i].lost;
	return n + lost;
}

static bool is_counter(const struct layout *layout, unsigned int offset)
{
	const struct channel *last = &layout->channels[layout->count - 1];

	return !strcmp(last->name, "count0") && offset >= last->offset &&
	       offset < last->offset + last->bytes;
}

uint64_t verify_ramp(const struct layout *layout, const uint8_t *data, size_t bytes,
		     const struct gap *gaps, unsigned int gap_count)
{
	uint64_t bad = 0, scan = UINT64_MAX, at = 0;
	size_t i;

	for (i = 0; i < bytes; i++) {
		uint64_t position;

		if (i / layout->scan_bytes != scan) {
			scan = i / layout->scan_bytes;
			at = absolute(scan, gaps, gap_count);
		}
		position = at * layout->scan_bytes + i % layout->scan_bytes;
		if (data[i] != (uint8_t)(position / 8 >> 8 * (position % 8)) &&
		    !is_counter(layout, i % layout->scan_bytes))
			bad++;
	}
	return bad;
}

uint64_t verify_lanes(const struct layout *layout, const uint8_t *data, size_t bytes,
		      const struct gap *gaps, unsigned int gap_count, uint64_t start)
{
	uint64_t bad = 0, scan;
	unsigned int i;

	for (scan = 0; scan < bytes / layout->scan_bytes; scan++) {
		const uint8_t *at = data + scan * layout->scan_bytes;
		uint64_t counter = start + absolute(scan, gaps, gap_count);

		for (i = 0; i < layout->count; i++)
			bad += channel_value(&layout->channels[i], at) !=
			       lane_value(&layout->channels[i], counter);
	}
	return bad;
}
