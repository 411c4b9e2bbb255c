// SPDX-License-Identifier: GPL-2.0-only
/* Losses of a finite FIFO. The gaps in the stream must be equal to the simulator's list of gaps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

#define RATE	1000000
#define BLOCK	(32 << 10)	/* 8192 scans of I and Q: 8.2 ms */
#define BLOCKS	40

struct result {
	struct gap gaps[64];
	unsigned int gap_count;
	uint64_t lost;
	double seconds;
};

/* Captures with two pauses of 150 ms, and checks all data against the list of true gaps. */
static void lossy(enum memory memory, bool lanes, const char *parameters, struct result *r)
{
	struct stream s = { .device = ADC, .memory = memory, .block_bytes = BLOCK, .blocks = 4 };
	const size_t bytes = BLOCKS * BLOCK;
	unsigned int mask = lanes ? IQ | COUNTER : IQ, i;
	uint8_t *data = malloc(bytes);
	struct layout layout;
	uint64_t bad;
	double begin;

	must_load(parameters);
	stream_open(&s, mask);
	stream_start(&s);
	begin = now();
	capture(&s, data, bytes, UINT64_C(1) << 5 | UINT64_C(1) << 20, 150);
	r->seconds = now() - begin;
	r->gap_count = truth(ADC, r->gaps, 64);
	stream_close(&s);
	layout_read(ADC, false, mask, &layout);
	if (lanes)
		bad = verify_lanes(&layout, data, bytes, r->gaps, r->gap_count, 0);
	else
		bad = verify_ramp(&layout, data, bytes, r->gaps, r->gap_count);
	if (bad)
		fail("%" PRIu64 " bytes or values differ from the truth list", bad);
	r->lost = 0;
	for (i = 0; i < r->gap_count; i++)
		r->lost += r->gaps[i].lost;
	if (r->lost != count(ADC, "lost"))
		fail("lost %" PRIu64 ", listed %" PRIu64, count(ADC, "lost"), r->lost);
	printf("  %s: %u gaps, %" PRIu64 " lost, %.3f s\n", parameters, r->gap_count, r->lost,
	       r->seconds);
	free(data);
}

static void fifo_of_0(void)
{
	struct result r;

	lossy(HEAP, false, "rate=1000000 fifo=0", &r);
	if (r.gap_count < 2 || r.lost < 2 * RATE / 20)
		fail("two pauses must lose more samples");
}

static void fifo_of_4096(void)
{
	struct result r;

	lossy(UDMABUF, false, "rate=1000000 fifo=4096", &r);
	if (r.gap_count < 2 || r.lost < 2 * RATE / 20)
		fail("two gaps expected");
	/* Four blocks were queued, then the FIFO filled. Its old scans are before the jump. */
	if (r.gaps[0].delivered % (BLOCK / 4) != 4096)
		fail("the jump must be 4096 scans into a block, but is at %" PRIu64,
		     r.gaps[0].delivered);
}

static void deep_fifo_loses_nothing(void)
{
	struct result r;

	lossy(HEAP, false, "rate=1000000 fifo=400000", &r);
	if (r.gap_count)
		fail("nothing should be lost");
}

static void fileio_loses_scans(void)
{
	struct result r;

	lossy(FILEIO, false, "rate=1000000 fifo=1000", &r);
	if (r.gap_count < 2)
		fail("gaps expected");
}

static void lanes_and_counter_show_losses(void)
{
	struct result r;

	lossy(HEAP, true, "pattern=lanes counter=32 rate=1000000 fifo=4096", &r);
	if (r.gap_count < 2)
		fail("two gaps expected");
}

static void without_sg(void)
{
	struct result r;

	lossy(UDMABUF, false, "rate=1000000 fifo=4096 sg=0", &r);
	if (r.gap_count < 2)
		fail("two gaps expected");
}

static void scans_of_three_channels(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = 24576, .blocks = 4 };
	const size_t bytes = 24576 * 30;
	uint8_t *data = malloc(bytes);
	struct gap gaps[64];
	struct layout layout;
	unsigned int n;

	must_load("rate=1000000 fifo=777");
	stream_open(&s, 0x7);
	stream_start(&s);
	capture(&s, data, bytes, UINT64_C(1) << 9, 80);
	n = truth(ADC, gaps, 64);
	stream_close(&s);
	layout_read(ADC, false, 0x7, &layout);
	if (!n || verify_ramp(&layout, data, bytes, gaps, n))
		fail("three channels, %u gaps: the ramp differs", n);
	free(data);
}

/* At a rate that the machine can sustain, the time is right and nothing is lost. */
static void rate_is_kept(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = BLOCK, .blocks = 8 };
	const size_t bytes = 120 * BLOCK;
	uint8_t *data = malloc(bytes);
	double begin, rate;

	must_load("rate=1000000 fifo=1000000");
	stream_open(&s, IQ);
	stream_start(&s);
	begin = now();
	capture(&s, data, bytes, 0, 0);
	rate = bytes / 4 / (now() - begin);
	stream_close(&s);
	free(data);
	printf("  %.0f scans/s, %" PRIu64 " lost\n", rate, count(ADC, "lost"));
	if (rate < 0.9 * RATE || rate > 1.05 * RATE || count(ADC, "lost"))
		fail("1000000 scans/s and no loss expected");
}

static void rate_changes_while_running(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = 8192, .blocks = 4 };
	uint8_t *data = malloc(400 << 10);
	double begin;

	must_load("rate=10000");
	stream_open(&s, IQ);
	stream_start(&s);
	capture(&s, data, 8192, 0, 0);
	device_put(ADC, "sampling_frequency", "1000000");
	begin = now();
	capture(&s, data, 400 << 10, 0, 0);
	if (now() - begin > 2)
		fail("still slow: %.2f s", now() - begin);
	stream_close(&s);
	free(data);
}

static uint64_t register_88(const char *way, const char *address, const char *clear)
{
	char path[256], file[300], text[64];

	if (!device_path(ADC, "@/sys/kernel/debug/iio/", path, sizeof(path)))
		fail("no device");
	snprintf(file, sizeof(file), "%s/%s", path, way);
	if (put(file, clear ? clear : address) || get(file, text, sizeof(text)) < 0)
		fail("%s cannot be accessed", file);
	return strtoull(text, NULL, 0);
}

static void register_tells(const char *parameters, const char *way, const char *address,
			   const char *clear)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = BLOCK, .blocks = 4 };
	uint8_t *data = malloc(BLOCK * 10);

	must_load(parameters);
	stream_open(&s, IQ);
	stream_start(&s);
	capture(&s, data, BLOCK * 4, 0, 0);
	if (register_88(way, address, NULL))
		fail("overflow without a loss");
	capture(&s, data, BLOCK, 1, 500);
	if (register_88(way, address, NULL) != 4)
		fail("no overflow reported");
	capture(&s, data, BLOCK * 4, 0, 0);
	if (register_88(way, address, NULL) != 4 || register_88(way, address, clear))
		fail("writing the bit back does not clear it");
	stream_close(&s);
	free(data);
}

static void overflow_register_of_mainline(void)
{
	register_tells("rate=1000000 fifo=200000", "backend0/direct_reg_access", "0x88", "0x88 0x4");
}

static void overflow_register_of_adi(void)
{
	register_tells("rate=1000000 fifo=200000 xflow=adi", "direct_reg_access", "0x80000088",
		       "0x80000088 0x4");
}

/*
 * The simulator makes data ahead of its clock. The register must follow the clock and not the
 * data.
 */
static void a_drop_of_one_sample_sets_the_bit_once(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = BLOCK, .blocks = 4 };
	unsigned int rises = 0;
	double end;

	must_load("rate=100000 xflow=adi drop_at=2000 drop=1 drop_xflow=1");
	stream_open(&s, IQ);
	stream_start(&s);
	for (end = now() + 0.2; now() < end;)
		if (register_88("direct_reg_access", "0x80000088", NULL) == 4) {
			rises++;
			register_88("direct_reg_access", "0x80000088", "0x80000088 0x4");
		}
	if (rises < 1 || rises > 2)	/* twice if it is read again within 10 us */
		fail("the bit rose %u times", rises);
	stream_close(&s);
}

const struct test loss_tests[] = {
	{ "fifo_of_0", fifo_of_0, READING },
	{ "fifo_of_4096", fifo_of_4096, READING },
	{ "deep_fifo_loses_nothing", deep_fifo_loses_nothing, READING },
	{ "fileio_loses_scans", fileio_loses_scans, READING },
	{ "lanes_and_counter_show_losses", lanes_and_counter_show_losses, READING },
	{ "losses_without_sg", without_sg, READING },
	{ "scans_of_three_channels", scans_of_three_channels, READING },
	{ "rate_is_kept", rate_is_kept, READING },
	{ "rate_changes_while_running", rate_changes_while_running, READING },
	{ "overflow_register_of_mainline", overflow_register_of_mainline, DMABUFS },
	{ "overflow_register_of_adi", overflow_register_of_adi, READING },
	{ "a_drop_of_one_sample_sets_the_bit_once", a_drop_of_one_sample_sets_the_bit_once, READING },
	{ NULL, NULL, READING },
};
