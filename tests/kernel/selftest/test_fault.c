// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

#define BLOCK	(32 << 10)	/* 8192 scans of I and Q */

static void open_adc(struct stream *s, const char *parameters)
{
	*s = (struct stream){ .device = ADC, .memory = HEAP, .block_bytes = BLOCK, .blocks = 4 };
	must_load(parameters);
	stream_open(s, IQ);
}

static void expect_wait(struct stream *s, int expected)
{
	int ret = stream_wait(s, 2000);

	if (ret != expected)
		fail("block ended with %d, %d expected", ret, expected);
}

static void refused_at_start(void)
{
	struct stream s;

	open_adc(&s, "refuse_at=0");
	stream_start(&s);
	expect_wait(&s, -ENOMEM);
	expect_wait(&s, 1);
	expect_wait(&s, 1);
	if (count(ADC, "refused") != 1)
		fail("%" PRIu64 " refused", count(ADC, "refused"));
	stream_close(&s);
}

/*
 * The fence of a refused block has signaled before it can be exported, so the export gives a stub
 * that is "done".
 */
static void expect_stub(struct stream *s, unsigned int number)
{
	uint64_t since = now() * 1e9;
	char driver[32];
	int status, ret = stream_enqueue(s, number);

	if (ret)
		fail("ENQUEUE of the refused block: %s", strerror(-ret));
	if (!fence_info(s->block[number].fence, driver, &status))
		fail("no fence info");
	printf("  refused: driver %s status %d\n", driver, status);
	if (!fence_is_stub(s->block[number].fence, since))
		fail("not the stub");
	ret = stream_enqueue(s, number);
	if (ret != -EBUSY)
		fail("ENQUEUE again: %d, EBUSY expected", ret);
}

static void refused_mid_stream(void)
{
	struct stream s;

	open_adc(&s, "rate=100000 refuse_at=4");
	stream_start(&s);
	expect_wait(&s, 1);
	expect_stub(&s, 0);
	expect_wait(&s, 1);
	stream_close(&s);
}

static void refused_with_an_empty_queue(void)
{
	struct stream s;
	int i;

	open_adc(&s, "refuse_at=4");
	stream_start(&s);
	for (i = 0; i < 4; i++)
		expect_wait(&s, 1);
	expect_stub(&s, 0);
	stream_close(&s);
}

static void misaligned_block_is_refused(void)
{
	struct stream s;

	open_adc(&s, "align=16");
	s.block_bytes = BLOCK - 8;
	stream_start(&s);
	expect_wait(&s, -ENOMEM);
	stream_close(&s);
}

static void expect_gaps(const struct gap *expected, unsigned int count)
{
	struct gap gaps[16];
	unsigned int n = truth(ADC, gaps, 16), i;

	for (i = 0; i < n && i < 16; i++)
		printf("  %" PRIu64 " lost after %" PRIu64 "\n", gaps[i].lost, gaps[i].delivered);
	if (n < count || (n > count && !(count && gaps[count].delivered >= 8 * BLOCK / 4)))
		fail("%u gaps, %u expected", n, count);
	for (i = 0; i < count; i++)
		if (gaps[i].delivered != expected[i].delivered || gaps[i].lost != expected[i].lost)
			fail("gap %u differs", i);
}

static void faulty_capture(const char *parameters, const struct gap *expected, unsigned int count)
{
	const size_t bytes = 8 * BLOCK;
	uint8_t *data = malloc(bytes);
	struct layout layout;
	struct stream s;

	open_adc(&s, parameters);
	layout_read(ADC, false, IQ, &layout);
	stream_start(&s);
	capture(&s, data, bytes, 0, 0);
	expect_gaps(expected, count);
	if (verify_ramp(&layout, data, bytes, expected, count))
		fail("the ramp differs");
	stream_close(&s);
	free(data);
}

static void stall_with_loss(void)
{
	struct gap gap = { .delivered = 21000, .lost = 99000 };

	faulty_capture("rate=1000000 fifo=1000 stall_at=20000 stall_ms=100", &gap, 1);
}

static void stall_without_loss(void)
{
	faulty_capture("rate=1000000 fifo=100000 stall_at=20000 stall_ms=90", NULL, 0);
	faulty_capture("stall_at=20000 stall_ms=90", NULL, 0);
}

static void dropped_scans(void)
{
	struct gap gaps[3] = {
		{ .delivered = 10000, .lost = 123 },
		{ .delivered = 30000, .lost = 123 },
		{ .delivered = 50000, .lost = 123 },
	};

	faulty_capture("drop_at=10000 drop=123", gaps, 1);
	if (count(ADC, "xflow"))
		fail("a silent drop was reported");
	faulty_capture("rate=1000000 drop_at=10000 drop=123 drop_every=20000 drop_xflow=1", gaps, 3);
	if (count(ADC, "xflow") != 4)
		fail("the drop was not reported");
}

/* A drop can include samples that the FIFO of a stalled core loses. */
static void a_drop_over_an_overflow(void)
{
	struct gap gaps[2] = {
		{ .delivered = 20500, .lost = 5000 },
		{ .delivered = 20500, .lost = 99000 - (25500 - 21000) },
	};

	faulty_capture("rate=1000000 fifo=1000 stall_at=20000 stall_ms=100 drop_at=20500 drop=5000", gaps, 2);
}

static void dead_core_completes_nothing(void)
{
	struct stream s;

	open_adc(&s, "rate=1000000 dead_at=20000");
	stream_start(&s);
	expect_wait(&s, 1);
	expect_wait(&s, 1);
	if (stream_wait(&s, 300))
		fail("a dead core completed a block");
	if (count(ADC, "xflow") != 4)
		fail("a dead core must overflow");
	device_put(ADC, "buffer0/enable", "0");
	expect_wait(&s, -EINTR);
	expect_wait(&s, -EINTR);
	stream_close(&s);
	knob(ADC, "dead_at", UINT64_MAX);
	free(record(ADC, HEAP, IQ, 1 << 20, BLOCK));
}

/* With instant=1, the fence has signaled before ENQUEUE returns. */
static void instant_completion(void)
{
	struct pollfd late = { .events = POLLIN };
	struct stream s;
	char driver[32];
	uint64_t since;
	int status, i, stubs = 0;

	open_adc(&s, "instant=1 pattern=stamp");
	stream_start(&s);
	for (i = 0; i < 4; i++)
		expect_wait(&s, 1);
	since = now() * 1e9;
	for (i = 0; i < 100; i++) {
		if (stream_enqueue(&s, i % 4) || !fence_info(s.block[i % 4].fence, driver, &status))
			fail("ENQUEUE");
		stubs += fence_is_stub(s.block[i % 4].fence, since);
		/* On a busy machine or emulated arm64, the fence can signal after the export. */
		late.fd = s.block[i % 4].fence;
		if (!status && poll(&late, 1, 1000) == 1)
			fence_info(late.fd, driver, &status);
		if (status != 1)
			fail("block %d: driver %s status %d", i, driver, status);
	}
	if (stubs < 50)
		fail("only %d fences of 100 had signaled before they could be exported", stubs);
	stream_close(&s);
}

/*
 * The kernel does not report a short block to DMABUF users. Fileio without scatter-gather gets
 * fewer bytes.
 */
static void short_block(void)
{
	uint8_t *data = malloc(8 * BLOCK);
	struct layout layout;
	struct stream s;
	size_t i;

	open_adc(&s, "short_at=2 short_bytes=800 sg=0");
	layout_read(ADC, false, IQ, &layout);
	stream_start(&s);
	capture(&s, data, 8 * BLOCK, 0, 0);
	stream_close(&s);
	for (i = 3 * BLOCK - 800; i < 3 * BLOCK && s.memory != FILEIO; i++)
		if (data[i] != 0xee)
			fail("byte %zu was written", i);
	if (s.memory != FILEIO)		/* close the hole */
		memmove(data + 3 * BLOCK - 800, data + 3 * BLOCK, 5 * BLOCK);
	if (verify_ramp(&layout, data, 8 * BLOCK - 800, NULL, 0))
		fail("the ramp differs");
	free(data);
}

/*
 * Sets a fault with knobs instead of parameters. After the drop its position is off, so the next
 * stream has no gap.
 */
static void faults_by_knobs(void)
{
	struct gap gap = { .delivered = 5000, .lost = 7 };
	uint8_t *data;

	must_load("");
	knob(ADC, "drop", 7);
	knob(ADC, "drop_at", 5000);
	free(record(ADC, FILEIO, IQ, 1 << 20, BLOCK));
	expect_gaps(&gap, 1);
	knob(ADC, "pattern", 1);
	knob(ADC, "start", 1000);
	data = record(ADC, FILEIO, I, 1 << 20, BLOCK);
	expect_gaps(NULL, 0);
	if (data[0] != (1000 & 0xff) || data[1] != 1000 >> 8)
		fail("the lanes should start at 1000");
	free(data);
	knob(ADC, "reset", 1);
	if (count(ADC, "transfers"))
		fail("reset did not reset");
}

const struct test fault_tests[] = {
	{ "refused_at_start", refused_at_start, DMABUFS },
	{ "refused_mid_stream", refused_mid_stream, DMABUFS },
	{ "refused_with_an_empty_queue", refused_with_an_empty_queue, DMABUFS },
	{ "misaligned_block_is_refused", misaligned_block_is_refused, DMABUFS },
	{ "stall_with_loss", stall_with_loss, READING },
	{ "stall_without_loss", stall_without_loss, READING },
	{ "dropped_scans", dropped_scans, READING },
	{ "a_drop_over_an_overflow", a_drop_over_an_overflow, READING },
	{ "dead_core_completes_nothing", dead_core_completes_nothing, DMABUFS },
	{ "short_block", short_block, READING },
	{ "instant_completion", instant_completion, DMABUFS },
	{ "faults_by_knobs", faults_by_knobs, READING },
	{ NULL, NULL, READING },
};
