// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

static void ramp_case(enum memory memory, const char *parameters)
{
	const size_t bytes = 16 << 20;
	struct layout layout;
	uint64_t bad;
	uint8_t *data;

	must_load(parameters);
	data = record(ADC, memory, IQ, bytes, 1 << 20);
	layout_read(ADC, false, IQ, &layout);
	bad = verify_ramp(&layout, data, bytes, NULL, 0);
	free(data);
	if (bad)
		fail("%" PRIu64 " bytes differ", bad);
}

static void ramp_heap(void)
{
	ramp_case(HEAP, "");
}

static void ramp_udmabuf(void)
{
	ramp_case(UDMABUF, "");
}

static void ramp_fileio(void)
{
	ramp_case(FILEIO, "");
}

static void ramp_fileio_without_sg(void)
{
	ramp_case(FILEIO, "sg=0");
}

static void ramp_instant(void)
{
	ramp_case(HEAP, "instant=1");
	ramp_case(UDMABUF, "instant=1 sg=0");
}

/* With scatter-gather a transfer has one interrupt per block, and without it one per segment. */
static void interrupts_per_block_or_segment(void)
{
	unsigned int least = merges_pages() ? 1 : 256;	/* segments of a block */
	uint64_t transfers, segments, interrupts;

	ramp_case(UDMABUF, "");
	transfers = count(ADC, "transfers");
	segments = count(ADC, "segments");
	interrupts = count(ADC, "interrupts");
	if (transfers < 16 || interrupts != transfers || segments < least * transfers)
		fail("sg: %" PRIu64 " transfers %" PRIu64 " segments %" PRIu64 " interrupts",
		     transfers, segments, interrupts);
	ramp_case(HEAP, "sg=0");
	transfers = count(ADC, "transfers");
	ramp_case(UDMABUF, "sg=0");
	segments = count(ADC, "segments");
	interrupts = count(ADC, "interrupts");
	printf("  without sg: heap %" PRIu64 " transfers; udmabuf %" PRIu64 " segments, %" PRIu64
	       " interrupts\n", transfers, segments, interrupts);
	if ((transfers > 200 && !heapless()) || count(ADC, "transfers") < segments - 4 || segments < least * 16 ||
	    interrupts < segments - 8)
		fail("one interrupt for each segment expected");
}

static void lanes_subsets(const char *parameters, unsigned int masks, uint64_t start)
{
	const size_t bytes = 96 << 10;
	unsigned int mask;

	must_load(parameters);
	for (mask = 1; mask < masks; mask++) {
		bool last = mask == masks - 1;
		struct layout layout;
		uint8_t *data;
		uint64_t bad;

		if (last)	/* otherwise fileio can hang (docs/lab-findings.md) */
			pause_ms(300);
		data = record(ADC, last ? FILEIO : HEAP, mask, bytes, 24 << 10);
		layout_read(ADC, false, mask, &layout);
		bad = verify_lanes(&layout, data, bytes, NULL, 0, start);
		free(data);
		if (bad)
			fail("%s, channels %#x: %" PRIu64 " values differ", parameters, mask, bad);
	}
}

static void lanes_every_scan_type_and_subset(void)
{
	static const char *const types[] = { "s16", "s12", "s14l", "be16", "s32", "s24" };
	char parameters[64];
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(parameters, sizeof(parameters), "pattern=lanes scan=%s", types[i]);
		lanes_subsets(parameters, 16, 0);
	}
}

static void lanes_with_counter(void)
{
	lanes_subsets("pattern=lanes counter=64", 32, 0);
	lanes_subsets("pattern=lanes scan=s24 counter=64 start=1000000000000", 32, 1000000000000);
}

static void counter_wraps(void)
{
	lanes_subsets("pattern=lanes counter=32 start=4294960000", 32, 4294960000);
}

static void ramp_with_counter(void)
{
	const size_t bytes = 1 << 20;
	struct layout layout;
	uint8_t *data;
	size_t i;

	must_load("counter=32");
	data = record(ADC, HEAP, IQ | COUNTER, bytes, 64 << 10);
	layout_read(ADC, false, IQ | COUNTER, &layout);
	if (verify_ramp(&layout, data, bytes, NULL, 0))
		fail("the ramp differs");
	for (i = 0; i < bytes / layout.scan_bytes; i++)
		if (channel_value(&layout.channels[2], data + i * layout.scan_bytes) != i)
			fail("the counter differs at scan %zu", i);
	free(data);
}

static void stamp_pattern(void)
{
	const size_t bytes = 4 << 20;
	uint64_t word;
	uint8_t *data;
	size_t i;

	must_load("pattern=stamp");
	data = record(ADC, UDMABUF, ALL, bytes, 1 << 20);
	for (i = 0; i < bytes; i++) {
		memcpy(&word, data + i / 4096 * 4096, 8);
		if (i % 4096 < 8 ? word != i / 4096 * 512 : data[i] != 0xee)
			fail("byte %zu is wrong", i);
	}
	free(data);
}

static void two_adcs_capture_together(void)
{
	struct stream a = { .device = ADC, .memory = HEAP, .block_bytes = 65536, .blocks = 4 };
	struct stream b = { .device = ADC "2", .memory = HEAP, .block_bytes = 65536, .blocks = 4 };
	const size_t bytes = 1 << 20;
	uint8_t *data = malloc(bytes);
	struct layout layout;

	must_load("adcs=2");
	stream_open(&a, IQ);
	stream_open(&b, ALL);
	layout_read(ADC, false, IQ, &layout);
	stream_start(&a);
	stream_start(&b);
	capture(&a, data, bytes, 0, 0);
	if (verify_ramp(&layout, data, bytes, NULL, 0))
		fail("the samples of the first ADC differ");
	capture(&b, data, bytes, 0, 0);
	if (verify_ramp(&layout, data, bytes, NULL, 0))
		fail("the samples of the second ADC differ");
	stream_close(&a);
	stream_close(&b);
	free(data);
}

const struct test capture_tests[] = {
	{ "ramp_heap", ramp_heap, DMABUFS },
	{ "ramp_udmabuf", ramp_udmabuf, DMABUFS },
	{ "ramp_fileio", ramp_fileio, READING },
	{ "ramp_fileio_without_sg", ramp_fileio_without_sg, READING },
	{ "ramp_instant", ramp_instant, READING },
	{ "interrupts_per_block_or_segment", interrupts_per_block_or_segment, DMABUFS },
	{ "lanes_every_scan_type_and_subset", lanes_every_scan_type_and_subset, READING },
	{ "lanes_with_counter", lanes_with_counter, READING },
	{ "counter_wraps", counter_wraps, READING },
	{ "ramp_with_counter", ramp_with_counter, READING },
	{ "stamp_pattern", stamp_pattern, DMABUFS },
	{ "two_adcs_capture_together", two_adcs_capture_together, READING },
	{ NULL, NULL, READING },
};
