// SPDX-License-Identifier: GPL-2.0-only
/* The simulated gadget controller: DMABUFs through FunctionFS, and faults. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"

#define IN	0x81
#define OUT	0x02
static void transfer(int endpoint, int dmabuf)
{
	int ret = gadget_transfer(endpoint, dmabuf, USB_BLOCK);

	if (ret)
		fail("TRANSFER: %s", strerror(-ret));
}

static void expect_done(int dmabuf, int timeout_ms)
{
	struct pollfd done = { dmabuf, POLLOUT, 0 };

	if (poll(&done, 1, timeout_ms) != 1)
		fail("a transfer has not ended");
}

/*
 * Reads the given number of bytes in pieces of 64 KiB, and checks that the words are consecutive
 * numbers from `*word` on.
 */
static void host_expect(struct gadget *g, uint64_t *word, size_t bytes)
{
	static uint64_t piece[8192];

	while (bytes) {
		int done = host_bulk(g, IN, piece, sizeof(piece)), i;

		if (done <= 0)
			fail("a read of the host returned %d", done);
		for (i = 0; i < done / 8; i++)
			if (piece[i] != (*word)++)
				fail("word %" PRIu64 " is %" PRIu64, *word - 1, piece[i]);
		bytes -= done;
	}
}

static void blocks_to_host(enum memory memory, const char *parameters, unsigned int rounds)
{
	struct blocks b;
	struct gadget g;
	unsigned int i;

	udc_load(parameters);
	gadget_open(&g);
	blocks_open(&b, memory, g.in);
	while (rounds--) {
		uint64_t word = 0;

		for (i = 0; i < USB_BLOCKS; i++)
			transfer(g.in, b.fd[i]);
		host_expect(&g, &word, USB_BLOCKS * USB_BLOCK);
		for (i = 0; i < USB_BLOCKS; i++)
			expect_done(b.fd[i], 5000);
	}
	if (memory == UDMABUF && udc_count("segments") < 2 * udc_count("sg_requests"))
		fail("%" PRIu64 " segments: expected several per request", udc_count("segments"));
	gadget_close(&g);
	blocks_close(&b);
}

static void udc_heap_super(void)
{
	blocks_to_host(HEAP, "", 8);
}

static void udc_udmabuf_super(void)
{
	blocks_to_host(UDMABUF, "", 8);
}

static void udc_udmabuf_high(void)
{
	blocks_to_host(UDMABUF, "speed=high", 2);
}

static void *write_all(void *data)
{
	struct gadget *g = data;
	static uint64_t piece[8192];
	uint64_t word = 1000;
	size_t bytes;
	int i, done;

	for (bytes = 0; bytes < USB_BLOCKS * USB_BLOCK; bytes += done) {
		for (i = 0; i < 8192; i++)
			piece[i] = word++;
		done = host_bulk(g, OUT, piece, sizeof(piece));
		if (done <= 0)
			fail("a write of the host returned %d", done);
	}
	return NULL;
}

static void udc_from_host(void)
{
	uint64_t word = 1000;
	pthread_t host;
	struct blocks b;
	struct gadget g;
	unsigned int i, n;

	udc_load("");
	gadget_open(&g);
	blocks_open(&b, UDMABUF, g.out);
	for (i = 0; i < USB_BLOCKS; i++)
		transfer(g.out, b.fd[i]);
	pthread_create(&host, NULL, write_all, &g);
	for (i = 0; i < USB_BLOCKS; i++) {
		expect_done(b.fd[i], 20000);
		for (n = 0; n < USB_BLOCK / 8; n++)
			if (b.data[i][n] != word++)
				fail("block %u word %u is %" PRIu64, i, n, b.data[i][n]);
	}
	pthread_join(host, NULL);
	gadget_close(&g);
	blocks_close(&b);
}

static void udc_without_sg_refuses_dmabufs(void)
{
	struct gadget g;
	int fd, ret;

	udc_load("sg=0");
	gadget_open(&g);
	fd = heap_block();
	ret = gadget_attach(g.in, fd);
	if (ret != -EPERM)
		fail("ATTACH without scatter-gather: %d", ret);
	close(fd);
	gadget_close(&g);
}

static void udc_stalled_endpoint_resumes(void)
{
	uint64_t word = 0;
	struct blocks b;
	struct gadget g;
	char data[1024];
	unsigned int i;
	int ret;

	udc_load("");
	gadget_open(&g);
	blocks_open(&b, UDMABUF, g.in);
	for (i = 0; i < USB_BLOCKS; i++)
		transfer(g.in, b.fd[i]);
	host_expect(&g, &word, 128 << 10);
	udc_knob("stall", "0x81");
	ret = host_bulk(&g, IN, data, sizeof(data));
	if (ret != -EPIPE)
		fail("a stalled endpoint: %d", ret);
	ret = host_clear_halt(&g, IN);
	if (ret)
		fail("clear halt: %d", ret);
	host_expect(&g, &word, USB_BLOCKS * USB_BLOCK - (128 << 10));
	gadget_close(&g);
	blocks_close(&b);
}

static void udc_fails_a_request(void)
{
	uint64_t word = USB_BLOCK / 8;
	struct blocks b;
	struct gadget g;
	unsigned int i;

	udc_load("fail_at=0");
	gadget_open(&g);
	blocks_open(&b, HEAP, g.in);
	for (i = 0; i < USB_BLOCKS; i++)
		transfer(g.in, b.fd[i]);
	expect_done(b.fd[0], 0);
	host_expect(&g, &word, (USB_BLOCKS - 1) * USB_BLOCK);
	if (udc_count("failed") != 1)
		fail("%" PRIu64 " requests failed", udc_count("failed"));
	gadget_close(&g);
	blocks_close(&b);
}

static void udc_blackhole_swallows_requests(void)
{
	struct blocks b;
	struct gadget g;
	unsigned int i;

	udc_load("blackhole=1");
	gadget_open(&g);
	blocks_open(&b, HEAP, g.in);
	for (i = 0; i < 100; i++) {
		transfer(g.in, b.fd[i % USB_BLOCKS]);
		expect_done(b.fd[i % USB_BLOCKS], 0);
	}
	if (udc_count("swallowed") != 100)
		fail("%" PRIu64 " of 100 requests were swallowed", udc_count("swallowed"));
	gadget_close(&g);
	blocks_close(&b);
}

/* Closing the endpoint cancels queued requests. The next stream begins with its own first word. */
static void udc_close_cancels_requests(void)
{
	uint64_t word = 0;
	struct blocks b;
	struct gadget g;
	unsigned int i;

	udc_load("");
	gadget_open(&g);
	blocks_open(&b, UDMABUF, g.in);
	for (i = 0; i < USB_BLOCKS; i++)
		transfer(g.in, b.fd[i]);
	host_expect(&g, &word, 64 << 10);
	close(g.in);
	for (i = 0; i < USB_BLOCKS; i++)
		expect_done(b.fd[i], 5000);
	blocks_close(&b);
	g.in = open("/run/selftest-ffs/ep1", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	blocks_open(&b, UDMABUF, g.in);
	transfer(g.in, b.fd[0]);
	word = 0;
	host_expect(&g, &word, USB_BLOCK);
	gadget_close(&g);
	blocks_close(&b);
}

static void udc_disconnect_ends_requests(void)
{
	uint64_t word = 0;
	struct blocks b;
	struct gadget g;
	unsigned int i;

	udc_load("speed=high");
	gadget_open(&g);
	blocks_open(&b, HEAP, g.in);
	for (i = 0; i < USB_BLOCKS; i++)
		transfer(g.in, b.fd[i]);
	udc_knob("disconnect", "200");
	for (i = 0; i < USB_BLOCKS; i++)
		expect_done(b.fd[i], 5000);
	gadget_returned(&g);
	transfer(g.in, b.fd[0]);
	host_expect(&g, &word, USB_BLOCK);
	gadget_close(&g);
	blocks_close(&b);
}

const struct test udc_tests[] = {
	{ "udc_heap_super", udc_heap_super, DMABUFS },
	{ "udc_udmabuf_super", udc_udmabuf_super, DMABUFS },
	{ "udc_udmabuf_high", udc_udmabuf_high, DMABUFS },
	{ "udc_from_host", udc_from_host, DMABUFS },
	{ "udc_without_sg_refuses_dmabufs", udc_without_sg_refuses_dmabufs, DMABUFS },
	{ "udc_stalled_endpoint_resumes", udc_stalled_endpoint_resumes, DMABUFS },
	{ "udc_fails_a_request", udc_fails_a_request, DMABUFS },
	{ "udc_blackhole_swallows_requests", udc_blackhole_swallows_requests, DMABUFS },
	{ "udc_close_cancels_requests", udc_close_cancels_requests, DMABUFS },
	{ "udc_disconnect_ends_requests", udc_disconnect_ends_requests, DMABUFS },
	{ NULL },
};
