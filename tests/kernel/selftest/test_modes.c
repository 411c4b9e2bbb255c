// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() and write() on kernels with legacy blocks, and unplugging. The script `run` tests the mode
 * `broken`.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "legacy.h"

#define BLOCK	(64 << 10)
#define CMA	"/sys/module/industrialio_buffer_dmaengine/parameters/cma"

static void a_half_read_block_excludes_others(void)
{
	struct legacy l;
	char data[256];

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	legacy_enable(&l, true);
	expect("poll", legacy_poll(l.fd, 2000), POLLIN);
	expect("read()", read(l.fd, data, sizeof(data)), sizeof(data));
	expect("ALLOC", legacy_alloc(l.fd, 1, BLOCK, NULL), -EBUSY);
	legacy_enable(&l, false);
	expect("ALLOC after disable", legacy_alloc(l.fd, 1, BLOCK, NULL), -EBUSY);
	close(l.chr);
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	expect("ALLOC of another program", legacy_alloc(l.fd, 1, BLOCK, NULL), -EBUSY);
	legacy_enable(&l, true);
	legacy_enable(&l, false);
	expect("ALLOC after enable and disable", legacy_alloc(l.fd, 1, BLOCK, NULL), 0);
	legacy_close(&l);
	free(record(ADC, FILEIO, ALL, 1 << 20, BLOCK));
}

static void the_device_file_cannot_be_read_while_the_buffer_file_is_open(void)
{
	struct legacy l;
	char data[256];

	must_load("");
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	expect("read()", read(l.chr, data, sizeof(data)) < 0 ? -errno : 0, -EBUSY);
	legacy_close(&l);
}

static void after_unplug_requests_fail_and_the_mapping_stays(void)
{
	struct block_info info;
	struct legacy l;
	uint64_t word;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 2, BLOCK);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	expect("DEQUEUE", legacy_wait(&l, &info), 0);
	knob(ADC, "rate", 1000);
	expect("ENQUEUE", legacy_enqueue(&l, 1, 0, 0), 0);
	knob(ADC, "unplug", 1);
	expect("poll", legacy_poll(l.fd, 100), 0);
	expect("DEQUEUE", legacy_dequeue(&l, &info), -ENODEV);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), -ENODEV);
	expect("QUERY", legacy_query(l.fd, 0, &info), -ENODEV);
	expect("ALLOC", legacy_alloc(l.fd, 1, BLOCK, NULL), -ENODEV);
	expect("FREE", legacy_free(l.fd), -ENODEV);
	memcpy(&word, l.data[0] + BLOCK - 8, 8);
	expect("the last word", word, BLOCK / 8 - 1);
	legacy_unmap(&l);
	close(l.chr);
	knob(ADC, "replug", 1);
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	legacy_blocks(&l, 1, BLOCK);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	knob(ADC, "unplug", 1);
	legacy_close(&l);
	knob(ADC, "replug", 1);
	must_load("");
}

static void a_freed_block_in_flight_is_completed_safely(void)
{
	struct legacy l;
	int i;

	must_load("rate=1000000");
	for (i = 0; i < 20; i++) {
		legacy_open(&l, ADC, ALL, i % 2 ? DEVICE_FILE : BUFFER_FILE);
		legacy_blocks(&l, 4, 4096);
		legacy_enqueue(&l, 0, 0, 0);
		legacy_enable(&l, true);
		legacy_enqueue(&l, 1, 0, 0);
		legacy_enqueue(&l, 2, 0, 0);
		legacy_unmap(&l);
		expect("FREE", legacy_free(l.fd), 0);
		pause_ms(i % 3);
		legacy_close(&l);
	}
}

static void a_single_block_loses_samples_between_reads(void)
{
	const size_t bytes = 4 << 20;
	struct stream s = { .device = ADC, .memory = FILEIO, .block_bytes = BLOCK };
	uint8_t *data = malloc(bytes);
	uint64_t word, last = 0, gaps = 0;
	size_t i;

	must_load("rate=4000000 fifo=0");
	stream_open(&s, ALL);
	stream_start(&s);
	expect("poll before the first sample", legacy_poll(s.buffer, 0), POLLIN);
	capture(&s, data, bytes, 0, 0);
	stream_close(&s);
	for (i = 0; i < bytes; i += 8, last = word) {
		memcpy(&word, data + i, 8);
		gaps += word != (i ? last + 1 : 0);
		if (word != (i ? last + 1 : 0) && i % (2 * BLOCK))
			fail("a gap inside a block, at byte %zu", i);
	}
	if (!gaps || gaps > count(ADC, "gap_count"))
		fail("%" PRIu64 " gaps; the ADC counts %" PRIu64, gaps, count(ADC, "gap_count"));
	free(data);
}

static void a_single_block_is_played_by_write(void)
{
	struct stream s = { .device = DAC, .output = true, .memory = FILEIO, .block_bytes = BLOCK };
	uint64_t word, data[4096];
	unsigned int i;

	must_load("");
	stream_open(&s, ALL);
	stream_start(&s);
	expect("poll", legacy_poll(s.buffer, 0), POLLOUT);
	fcntl(s.buffer, F_SETFL, 0);
	for (word = 0; word < 40 * 4096; ) {
		for (i = 0; i < 4096; i++)
			data[i] = word++;
		expect("write()", write(s.buffer, data, sizeof(data)), sizeof(data));
	}
	await_count(DAC, "delivered", 40 * 4096);
	expect("mismatches", count(DAC, "mismatches"), 0);
	stream_close(&s);
}

static void a_single_block_without_memory_is_not_reported(void)
{
	struct legacy l;

	must_load("");
	expect("cma", put(CMA, "4096"), 0);
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	legacy_enable(&l, true);
	expect("ALLOC", legacy_alloc(l.fd, 1, 4096, NULL), 0);
	legacy_free(l.fd);
	expect("poll", legacy_poll(l.fd, 0), 0);
	legacy_enable(&l, false);
	expect("cma", put(CMA, "0"), 0);
	legacy_enable(&l, true);
	expect("ALLOC while there is a single block", legacy_alloc(l.fd, 1, 4096, NULL), -EBUSY);
	expect("poll", legacy_poll(l.fd, 0), POLLIN);
	legacy_close(&l);
}

const struct test mode_tests[] = {
	{ "a_half_read_block_excludes_others", a_half_read_block_excludes_others, BLOCKS_AND_READING },
	{ "the_device_file_cannot_be_read_while_the_buffer_file_is_open",
	  the_device_file_cannot_be_read_while_the_buffer_file_is_open, BLOCKS_AND_READING },
	{ "after_unplug_requests_fail_and_the_mapping_stays",
	  after_unplug_requests_fail_and_the_mapping_stays, BLOCKS },
	{ "a_freed_block_in_flight_is_completed_safely", a_freed_block_in_flight_is_completed_safely, BLOCKS },
	{ "a_single_block_loses_samples_between_reads", a_single_block_loses_samples_between_reads, ONE_BLOCK },
	{ "a_single_block_is_played_by_write", a_single_block_is_played_by_write, ONE_BLOCK },
	{ "a_single_block_without_memory_is_not_reported",
	  a_single_block_without_memory_is_not_reported, ONE_BLOCK },
	{ NULL, NULL, READING },
};
