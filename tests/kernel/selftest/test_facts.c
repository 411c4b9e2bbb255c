// SPDX-License-Identifier: GPL-2.0-only
/*
 * Behavior of the kernel on which programs depend. docs/lab-findings.md documents it. These tests
 * print it, and fail if a kernel behaves differently.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab.h"

struct request {
	uint32_t fd, flags;
	uint64_t bytes;
};

#define GET_FD	_IOWR('i', 0x91, int)
#define ATTACH	_IOW('i', 0x92, int)
#define DETACH	_IOW('i', 0x93, int)
#define ENQUEUE	_IOW('i', 0x94, struct request)
#define CYCLIC	1

static void say(const char *what, int got, int expected)
{
	if (got != expected)
		fail("%s: %s (%d), expected %d", what, got ? strerror(-got) : "0", got, expected);
	printf("  %s: %s\n", what, got ? strerror(-got) : "ok");
}

static int result(int ret)
{
	return ret < 0 ? -errno : 0;
}

static int open_device(const char *name, int *buffer)
{
	char path[256];
	int chr;

	if (!device_path(name, "@/dev/", path, sizeof(path)))
		fail("no %s", name);
	chr = open(path, O_RDWR | O_CLOEXEC);
	*buffer = 0;
	if (chr < 0 || ioctl(chr, GET_FD, buffer))
		fail("GET_FD");
	return chr;
}

static void attach_of_an_invalid_fd(void)
{
	int buffer, chr, nothing = -1, index = 7, again = 0;

	must_load("");
	chr = open_device(ADC, &buffer);
	say("ATTACH of fd -1", result(ioctl(buffer, ATTACH, &nothing)),
	    old_kernel() ? -ENOTTY : has_dmabufs() ? -EBADF : -EPERM);
	say("DETACH of fd -1", result(ioctl(buffer, DETACH, &nothing)),
	    old_kernel() ? -ENOTTY : -EBADF);
	say("GET_FD of buffer 7", result(ioctl(chr, GET_FD, &index)), -ENODEV);
	say("GET_FD a second time", result(ioctl(chr, GET_FD, &again)), -EBUSY);
	say("the buffer's fd blocks", fcntl(buffer, F_GETFL) & O_NONBLOCK, 0);
}

static void attributes_while_enabled(void)
{
	struct stream s = { .device = ADC, .memory = FILEIO, .block_bytes = 65536 };
	char text[32];

	must_load("rate=1000");
	stream_open(&s, IQ);
	stream_start(&s);
	say("length while enabled", device_put(ADC, "buffer0/length", "1000"), -EBUSY);
	say("a scan element while enabled",
	    device_put(ADC, "scan_elements/in_voltage1_i_en", "1"), -EBUSY);
	stream_close(&s);
	say("watermark", device_put(ADC, "buffer0/watermark", "10"), -EACCES);
	device_get(ADC, "buffer0/length_align_bytes", text, sizeof(text));
	printf("  length_align_bytes %s\n", text);
}

static void attach_in_fileio_mode(void)
{
	struct stream s = { .device = ADC, .memory = FILEIO, .block_bytes = 65536 };
	struct stream m = { .device = ADC "2", .memory = HEAP, .block_bytes = 4096, .blocks = 1 };

	must_load("rate=1000 adcs=2");
	stream_open(&m, IQ);
	stream_open(&s, IQ);
	stream_start(&s);
	say("ATTACH in fileio mode", result(ioctl(s.buffer, ATTACH, &m.block[0].fd)), -EBUSY);
	say("ATTACH a second time", result(ioctl(m.buffer, ATTACH, &m.block[0].fd)), -EBUSY);
	stream_close(&s);
	stream_close(&m);
}

static void enqueue_errors(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = 4096, .blocks = 2 };
	struct request r = { .bytes = 4096 };

	must_load("rate=1000");
	stream_open(&s, IQ);
	r.fd = s.block[0].fd;
	r.flags = CYCLIC;
	say("ENQUEUE CYCLIC on input", result(ioctl(s.buffer, ENQUEUE, &r)), -EINVAL);
	r.flags = 2;
	say("ENQUEUE with a bad flag", result(ioctl(s.buffer, ENQUEUE, &r)), -EINVAL);
	r.flags = 0;
	r.bytes = 0;
	say("ENQUEUE of 0 bytes", result(ioctl(s.buffer, ENQUEUE, &r)), -EINVAL);
	r.bytes = 8192;
	say("ENQUEUE of too many bytes", result(ioctl(s.buffer, ENQUEUE, &r)), -EINVAL);
	r.bytes = 4096;
	say("ENQUEUE", result(ioctl(s.buffer, ENQUEUE, &r)), 0);
	fcntl(s.buffer, F_SETFL, O_NONBLOCK);
	say("ENQUEUE of a queued block", result(ioctl(s.buffer, ENQUEUE, &r)), -EBUSY);
	stream_close(&s);
}

static void cyclic_once(const char *parameters)
{
	struct stream s = { .device = DAC, .output = true, .memory = HEAP, .block_bytes = 65536,
			    .blocks = 1 };
	struct request r = { .bytes = 65536, .flags = CYCLIC };
	uint64_t played, interrupts;

	must_load(parameters);
	stream_open(&s, IQ);
	stream_start(&s);
	r.fd = s.block[0].fd;
	say("ENQUEUE CYCLIC on output", result(ioctl(s.buffer, ENQUEUE, &r)), 0);
	pause_ms(300);
	played = count(DAC, "delivered") / 16384;
	interrupts = count(DAC, "interrupts");
	printf("  %s: played %" PRIu64 " times, %" PRIu64 " interrupts\n", parameters, played, interrupts);
	if (repeats_cyclic() ? played < 5 : played != 1)
		fail("the block is played once up to Linux 7.2, and repeated since 7.3");
	/*
	 * Without scatter-gather and the cyclic bit, the driver queues the segment again in its
	 * interrupt handler.
	 */
	if (count(DAC, "underflows") && repeats_cyclic() && !strstr(parameters, "sg=0 cyclic=0"))
		fail("%" PRIu64 " underflows", count(DAC, "underflows"));
	stream_close(&s);
}

static void cyclic_blocks(void)
{
	cyclic_once("check=none dac_rate=1000000 fifo=0");
	cyclic_once("check=none dac_rate=1000000 fifo=0 cyclic=0");
	cyclic_once("check=none dac_rate=1000000 fifo=0 sg=0");
	cyclic_once("check=none dac_rate=1000000 fifo=0 sg=0 cyclic=0");
	cyclic_once("check=none dac_rate=0");
}

/* ATTACH drops the blocks that were enqueued before it. */
static void attach_after_enqueue(void)
{
	struct stream s = { .device = ADC, .memory = HEAP, .block_bytes = 65536, .blocks = 1 };
	struct stream t = { .device = ADC "2", .memory = HEAP, .block_bytes = 65536, .blocks = 1 };

	must_load("adcs=2");
	stream_open(&t, IQ);
	stream_open(&s, IQ);
	say("ENQUEUE of the first", stream_enqueue(&s, 0), 0);
	say("ATTACH of a second", result(ioctl(s.buffer, ATTACH, &t.block[0].fd)), 0);
	device_put(ADC, "buffer0/enable", "1");
	printf("  the first block: %s\n", stream_wait(&s, 300) ? "done" : "never done");
	stream_close(&s);
	stream_close(&t);
}

/* This buffer has no DMABUFs. The error from ATTACH means that a program has to use read(). */
static void software_fifo(void)
{
	struct stream s = { .device = "iios-sim-slow", .memory = FILEIO, .block_bytes = 512 };
	struct stream m = { .device = ADC, .memory = HEAP, .block_bytes = 4096, .blocks = 1 };
	uint8_t data[2048];
	int nothing = -1, buffer, chr;
	struct layout layout;
	unsigned int i;

	must_load("slow=1");
	chr = open_device("iios-sim-slow", &buffer);
	say("kfifo: ATTACH of fd -1", result(ioctl(buffer, ATTACH, &nothing)),
	    old_kernel() ? -ENOTTY : -EPERM);
	if (has_dmabufs()) {
		stream_open(&m, IQ);
		say("kfifo: ATTACH of a DMABUF",
		    result(ioctl(buffer, ATTACH, &m.block[0].fd)), -EPERM);
		stream_close(&m);
	}
	close(buffer);
	close(chr);
	device_put("iios-sim-slow", "scan_elements/in_voltage0_en", "1");
	device_put("iios-sim-slow", "scan_elements/in_voltage1_en", "1");
	device_put("iios-sim-slow", "sampling_frequency", "10000");
	layout = (struct layout){ .count = 2, .scan_bytes = 4, .channels = {
		{ .index = 0, .realbits = 12, .bytes = 2, .is_signed = true },
		{ .index = 1, .realbits = 12, .bytes = 2, .is_signed = true, .offset = 2 } } };
	s.chr = open_device("iios-sim-slow", &s.buffer);
	fcntl(s.buffer, F_SETFL, O_NONBLOCK);
	device_put("iios-sim-slow", "buffer0/length", "4096");
	device_put("iios-sim-slow", "buffer0/enable", "1");
	for (i = 0; i < 3; i++) {
		capture(&s, data, sizeof(data), 0, 0);
		if (verify_lanes(&layout, data, sizeof(data), NULL, 0, i * sizeof(data) / 4))
			fail("the lanes differ");
	}
	stream_close(&s);
}

static void names_in_proc_and_sysfs(void)
{
	char line[256], path[256];
	FILE *file = fopen("/proc/interrupts", "r");
	bool found = false;

	must_load("");
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, "dma-axi-dmac.0") != NULL;
	fclose(file);
	if (!found)
		fail("no line of dma-axi-dmac.0 in /proc/interrupts");
	device_path(ADC, "../dma:rx/slave", path, sizeof(path));
	if (access(path, F_OK))
		fail("no %s", path);
	if (access("/sys/class/dma/dma0chan0/slave/iio:device0", F_OK))
		fail("no slave link of the DMA channel");
}

const struct test fact_tests[] = {
	{ "attach_of_an_invalid_fd", attach_of_an_invalid_fd, READING },
	{ "attributes_while_enabled", attributes_while_enabled, READING },
	{ "attach_in_fileio_mode", attach_in_fileio_mode, DMABUFS },
	{ "enqueue_errors", enqueue_errors, DMABUFS },
	{ "cyclic_blocks", cyclic_blocks, DMABUFS },
	{ "attach_after_enqueue", attach_after_enqueue, DMABUFS },
	{ "software_fifo", software_fifo, READING },
	{ "names_in_proc_and_sysfs", names_in_proc_and_sysfs, READING },
	{ NULL, NULL, READING },
};
