// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unplugging and unloading with open files and blocks in flight, and DMABUFs that the kernel keeps
 * afterwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"

static void start_slow(struct stream *s, enum memory memory, const char *parameters)
{
	*s = (struct stream){ .device = ADC, .memory = memory, .block_bytes = 64 << 10,
			      .blocks = 4 };
	must_load(parameters);
	stream_open(s, IQ);
	stream_start(s);
}

static void expect_cancelled(struct stream *s)
{
	unsigned int i;
	int ret;

	for (i = 0; i < s->blocks; i++)
		if ((ret = stream_wait(s, 1000)) != -EINTR)
			fail("block %u after the unplug: %d", i, ret);
}

static void unplug_with_blocks_queued(void)
{
	char path[256];
	struct stream s;

	start_slow(&s, HEAP, "rate=1000");
	knob(ADC, "unplug", 1);
	expect_cancelled(&s);
	if (device_path(ADC, "name", path, sizeof(path)))
		fail("the device is still there");
	stream_close(&s);
	knob(ADC, "replug", 1);
	knob(ADC, "rate", 0);
	free(record(ADC, UDMABUF, IQ, 1 << 20, 64 << 10));
}

static void unplug_during_capture(void)
{
	int i;

	must_load("");
	for (i = 0; i < 10; i++) {
		struct stream s = { .device = ADC, .memory = i % 2 ? HEAP : UDMABUF,
				    .block_bytes = 64 << 10, .blocks = 4 };
		uint8_t data[64 << 10];

		stream_open(&s, IQ);
		stream_start(&s);
		capture(&s, data, sizeof(data), 0, 0);
		knob(ADC, "unplug", 1);
		stream_close(&s);
		knob(ADC, "replug", 1);
	}
}

static void unplug_dead_core(void)
{
	struct stream s;

	start_slow(&s, HEAP, "rate=1000000 dead_at=100");
	pause_ms(50);
	knob(ADC, "unplug", 1);
	expect_cancelled(&s);
	stream_close(&s);
}

static void unplug_fileio(void)
{
	char data[4096];
	struct stream s;
	ssize_t n;

	start_slow(&s, FILEIO, "rate=1000");
	knob(ADC, "unplug", 1);
	n = read(s.buffer, data, sizeof(data));
	if (n >= 0 || errno != ENODEV)
		fail("read after the unplug: %zd, %s", n, strerror(errno));
	stream_close(&s);
}

/*
 * The kernel accepts ENQUEUE after an unplug, but the block is never done. It must still be
 * possible to close all files.
 */
static void enqueue_after_unplug(void)
{
	struct stream s;
	int ret;

	start_slow(&s, HEAP, "rate=1000");
	knob(ADC, "unplug", 1);
	expect_cancelled(&s);
	ret = stream_enqueue(&s, 0);
	printf("  ENQUEUE after the unplug: %d\n", ret);
	if (!ret && stream_wait(&s, 200))
		fail("a block that was enqueued after the unplug is done");
	stream_close(&s);
}

static void unload_while_open(void)
{
	struct stream s;

	start_slow(&s, HEAP, "rate=1000");
	if (!sim_load("none 2>/dev/null"))
		fail("unloaded while a device was open");
	stream_close(&s);
	must_load("");
}

/* Only the file of the buffer and its attachments stay open. */
static void unload_with_buffer_open(void)
{
	struct stream s;

	start_slow(&s, UDMABUF, "rate=1000");
	close(s.chr);
	must_load("none");
	expect_cancelled(&s);
	s.chr = -1;
	stream_close(&s);
	must_load("");
}

static void unbind_converter_driver(void)
{
	struct stream s;
	int ret;

	start_slow(&s, HEAP, "rate=1000 sg=0");
	ret = put("/sys/bus/platform/drivers/iios-sim/unbind", ADC);
	if (ret)
		fail("unbind: %s", strerror(-ret));
	expect_cancelled(&s);
	stream_close(&s);
}

static void reload_often(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		must_load(i % 2 ? "sg=0 adcs=2" : "counter=64 instant=1");
		free(record(ADC, i % 3 ? HEAP : UDMABUF, IQ, 256 << 10, 64 << 10));
	}
}

static void restart_often(void)
{
	int i;

	must_load("");
	for (i = 0; i < 100; i++) {
		uint8_t *data = record(ADC, HEAP, IQ, 64 << 10, 16 << 10);
		uint64_t first;

		memcpy(&first, data, 8);
		free(data);
		if (first)
			fail("restart %d begins at %" PRIu64, i, first);
	}
}

static unsigned int dmabufs(void)
{
	char text[65536], *total;
	unsigned int n = 0;

	if (get("/sys/kernel/debug/dma_buf/bufinfo", text, sizeof(text)) < 0)
		fail("no bufinfo");
	for (total = text; (total = strstr(total, "Total ")); total++)
		sscanf(total, "Total %u", &n);	/* the last one counts the DMABUFs */
	return n;
}

/* Counts the DMABUFs that are left after DETACH and after every file was closed. */
static void dmabufs_left_after_streams(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = 65536, .blocks = 4 };
	unsigned int before;

	must_load("");
	pause_ms(300);
	before = dmabufs();
	free(record(ADC, HEAP, IQ, 1 << 20, 65536));
	pause_ms(300);
	printf("  after a stream: %u more DMABUFs\n", dmabufs() - before);
	if (dmabufs() != before)
		fail("a plain stream leaks");
	must_load("refuse_at=5");
	stream_open(&s, IQ);
	stream_start(&s);
	stream_wait(&s, 1000);
	stream_enqueue(&s, 0);
	stream_wait(&s, 1000);
	stream_enqueue(&s, 1);
	stream_close(&s);
	pause_ms(300);
	printf("  after a refused descriptor: %u more DMABUFs\n", dmabufs() - before);
	must_load("rate=1000");
	stream_open(&s, IQ);
	stream_start(&s);
	device_put(ADC, "buffer0/enable", "0");
	stream_wait(&s, 1000);
	if (stream_enqueue(&s, 0))
		fail("ENQUEUE on a disabled buffer");
	stream_close(&s);
	pause_ms(300);
	printf("  after ENQUEUE on a disabled buffer: %u more DMABUFs\n", dmabufs() - before);
}

/*
 * The first attempt sometimes fails, because the kernel frees the DMABUF blocks in a work queue.
 */
static void fileio_after_dmabuf(void)
{
	unsigned int waits[] = { 0, 300 }, i;

	for (i = 0; i < 2; i++) {
		struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = 65536,
				    .blocks = 4 };
		char data[4096];
		ssize_t n;

		must_load("");
		stream_open(&s, IQ);
		stream_start(&s);
		stream_close(&s);
		pause_ms(waits[i]);
		s.memory = FILEIO;
		stream_open(&s, IQ);
		stream_start(&s);
		pause_ms(100);
		n = read(s.buffer, data, sizeof(data));
		printf("  fileio %u ms after DMABUF: %s\n", waits[i], n > 0 ? "data" : "nothing");
		if (i && n <= 0)
			fail("fileio must work 300 ms after DMABUFs");
		stream_close(&s);
	}
}

const struct test end_tests[] = {
	{ "unplug_with_blocks_queued", unplug_with_blocks_queued, DMABUFS },
	{ "unplug_during_capture", unplug_during_capture, READING },
	{ "unplug_dead_core", unplug_dead_core, DMABUFS },
	{ "unplug_fileio", unplug_fileio, READING },
	{ "enqueue_after_unplug", enqueue_after_unplug, DMABUFS },
	{ "unload_while_open", unload_while_open, READING },
	{ "unload_with_buffer_open", unload_with_buffer_open, DMABUFS },
	{ "unbind_converter_driver", unbind_converter_driver, DMABUFS },
	{ "reload_often", reload_often, READING },
	{ "restart_often", restart_often, READING },
	{ "fileio_after_dmabuf", fileio_after_dmabuf, DMABUFS },
	{ "dmabufs_left_after_streams", dmabufs_left_after_streams, DMABUFS },
	{ NULL, NULL, READING },
};
