// SPDX-License-Identifier: GPL-2.0-only
/* The simulated DAC checks the data that it plays. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab.h"

#define BLOCK	(64 << 10)

static void fill_ramp(uint8_t *data, uint64_t word)
{
	size_t i;

	for (i = 0; i < BLOCK / 8; i++, word++)
		memcpy(data + 8 * i, &word, 8);
}

static void fill_lanes(const struct layout *layout, uint8_t *data, uint64_t counter)
{
	size_t at;
	unsigned int i, j;

	memset(data, 0, BLOCK);
	for (at = 0; at + layout->scan_bytes <= BLOCK; at += layout->scan_bytes, counter++)
		for (i = 0; i < layout->count; i++) {
			const struct channel *c = &layout->channels[i];
			uint64_t value = lane_value(c, counter);

			for (j = 0; j < c->bytes; j++)
				data[at + c->offset + (c->big_endian ? c->bytes - 1 - j : j)] =
					value >> 8 * j;
		}
}

#define JUMP	100

/*
 * Plays the given number of blocks. The block with the number `jump` and all later ones are 100
 * words or scans ahead.
 */
static void play(enum memory memory, unsigned int mask, bool lanes, unsigned int blocks,
		 unsigned int jump)
{
	struct stream s = { .device = DAC, .output = true, .memory = memory,
			    .block_bytes = BLOCK, .blocks = 4 };
	struct layout layout;
	unsigned int i;
	int ret;

	stream_open(&s, mask);
	layout_read(DAC, true, mask, &layout);
	stream_start(&s);
	for (i = 0; i < blocks; i++) {
		unsigned int ahead = i >= jump ? JUMP : 0, number = i % s.blocks;

		if (i >= s.blocks && stream_wait(&s, 2000) != 1)
			fail("block %u was not played", i - s.blocks);
		if (lanes)
			fill_lanes(&layout, s.block[number].data, i * (BLOCK / layout.scan_bytes) + ahead);
		else
			fill_ramp(s.block[number].data, i * (BLOCK / 8) + ahead);
		if ((ret = stream_enqueue(&s, number)))
			fail("ENQUEUE: %s", strerror(-ret));
	}
	for (i = 0; i < s.blocks; i++)
		if (stream_wait(&s, 2000) != 1)
			fail("a last block was not played");
	stream_close(&s);
}

static void expect_played(uint64_t scans, uint64_t mismatches, uint64_t gaps)
{
	if (count(DAC, "delivered") != scans || count(DAC, "mismatches") != mismatches ||
	    count(DAC, "check_gaps") != gaps || count(DAC, "check_repeats"))
		fail("%" PRIu64 " scans played, %" PRIu64 " mismatches, %" PRIu64 " gaps, %" PRIu64
		     " repeats", count(DAC, "delivered"), count(DAC, "mismatches"),
		     count(DAC, "check_gaps"), count(DAC, "check_repeats"));
}

static void plays_ramp(void)
{
	must_load("");
	play(HEAP, IQ, false, 40, 100);
	expect_played(40 * BLOCK / 4, 0, 0);
	must_load("sg=0");
	play(UDMABUF, ALL, false, 40, 100);
	expect_played(40 * BLOCK / 8, 0, 0);
}

static void gap_is_counted(void)
{
	must_load("");
	play(HEAP, IQ, false, 20, 7);
	expect_played(20 * BLOCK / 4, 1, 1);
	if (count(DAC, "mismatch_at") != 7 * BLOCK / 8 ||
	    count(DAC, "mismatch_got") != 7 * BLOCK / 8 + JUMP)
		fail("first mismatch at %" PRIu64, count(DAC, "mismatch_at"));
}

static void plays_lanes(void)
{
	static const char *const types[] = { "s16", "s12", "s14l", "be16", "s32", "s24" };
	char parameters[64];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		snprintf(parameters, sizeof(parameters), "check=lanes scan=%s", types[i]);
		must_load(parameters);
		play(HEAP, ALL, true, 12, 100);
		if (count(DAC, "mismatches"))
			fail("%s: %" PRIu64 " mismatches", types[i], count(DAC, "mismatches"));
		play(HEAP, IQ, true, 12, 5);
		if (count(DAC, "mismatches") != 1 || count(DAC, "check_gaps") != 1)
			fail("%s: a gap should be seen", types[i]);
	}
}

static void wrong_pattern_is_counted(void)
{
	must_load("check=lanes");
	play(HEAP, IQ, false, 8, 100);	/* a ramp is not lanes */
	if (count(DAC, "mismatches") < BLOCK)
		fail("only %" PRIu64 " mismatches", count(DAC, "mismatches"));
}

static void underflow_is_counted(void)
{
	struct stream s = { .device = DAC, .output = true, .memory = HEAP, .block_bytes = BLOCK,
			    .blocks = 4 };
	unsigned int i;

	must_load("rate=1000000 fifo=0");
	stream_open(&s, IQ);
	stream_start(&s);
	for (i = 0; i < 8; i++) {
		if (i >= 4 && stream_wait(&s, 2000) != 1)
			fail("not played");
		if (i == 4)
			pause_ms(200);
		fill_ramp(s.block[i % 4].data, i * (BLOCK / 8));
		stream_enqueue(&s, i % 4);
	}
	for (i = 0; i < 4; i++)
		if (stream_wait(&s, 2000) != 1)
			fail("not played");
	printf("  %" PRIu64 " underflows of %" PRIu64 " scans\n", count(DAC, "underflows"),
	       count(DAC, "underflow_scans"));
	if (count(DAC, "underflows") != 1 || count(DAC, "underflow_scans") < 100000 ||
	    count(DAC, "xflow") != 1 || count(DAC, "mismatches"))
		fail("one underflow of some 150000 scans expected");
	stream_close(&s);
}

static void played_by_write(void)
{
	struct stream s = { .device = DAC, .output = true, .memory = FILEIO, .block_bytes = BLOCK,
			    .blocks = 0 };
	struct pollfd wait = { .events = POLLOUT };
	uint8_t data[BLOCK];
	unsigned int i;

	must_load("");
	stream_open(&s, IQ);
	stream_start(&s);
	wait.fd = s.buffer;
	for (i = 0; i < 20; i++) {
		size_t done = 0;

		fill_ramp(data, i * (BLOCK / 8));
		while (done < BLOCK) {
			ssize_t n;

			if (poll(&wait, 1, 2000) <= 0)
				fail("poll");
			n = write(s.buffer, data + done, BLOCK - done);
			if (n < 0 && errno != EAGAIN)
				fail("write: %s", strerror(errno));
			done += n > 0 ? n : 0;
		}
	}
	pause_ms(50);
	expect_played(20 * BLOCK / 4, 0, 0);
	stream_close(&s);
}

/* The same DMABUFs are attached to both devices, so that no CPU accesses a sample. */
static void dmabufs_from_adc_to_dac(void)
{
	struct stream in = { .device = ADC, .memory = HEAP, .block_bytes = BLOCK, .blocks = 4 };
	struct stream out = { .device = DAC, .output = true, .memory = HEAP, .block_bytes = BLOCK };
	unsigned int i;

	must_load("");
	stream_open(&out, ALL);
	stream_open(&in, ALL);
	for (i = 0; i < 4; i++) {
		out.block[i] = in.block[i];
		out.block[i].fence = -1;
		if (ioctl(out.buffer, _IOW('i', 0x92, int), &out.block[i].fd))
			fail("ATTACH to the second device: %s", strerror(errno));
	}
	out.blocks = 4;
	stream_start(&in);
	stream_start(&out);
	for (i = 0; i < 400; i++) {
		if (stream_wait(&in, 2000) != 1 || stream_enqueue(&out, i % 4) ||
		    stream_wait(&out, 2000) != 1 || stream_enqueue(&in, i % 4))
			fail("block %u", i);
	}
	expect_played(400 * BLOCK / 8, 0, 0);
	device_put(DAC, "buffer0/enable", "0");
	out.blocks = 0;
	stream_close(&in);
	stream_close(&out);
}

const struct test output_tests[] = {
	{ "plays_ramp", plays_ramp, DMABUFS },
	{ "gap_is_counted", gap_is_counted, DMABUFS },
	{ "plays_lanes", plays_lanes, DMABUFS },
	{ "wrong_pattern_is_counted", wrong_pattern_is_counted, DMABUFS },
	{ "underflow_is_counted", underflow_is_counted, DMABUFS },
	{ "played_by_write", played_by_write, WRITING },
	{ "dmabufs_from_adc_to_dac", dmabufs_from_adc_to_dac, DMABUFS },
	{ NULL, NULL, READING },
};
