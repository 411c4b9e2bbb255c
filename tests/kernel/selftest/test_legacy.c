// SPDX-License-Identifier: GPL-2.0-only
/* Streams with ADI's legacy blocks. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "lab.h"
#include "legacy.h"

#define BLOCK	(64 << 10)

static void fill_ramp(uint8_t *data, size_t bytes, uint64_t word)
{
	size_t i;

	for (i = 0; i < bytes / 8; i++, word++)
		memcpy(data + 8 * i, &word, 8);
}

static void expect_ramp(const uint8_t *data, size_t bytes, uint64_t word)
{
	size_t i;

	for (i = 0; i < bytes / 8; i++, word++)
		if (memcmp(data + 8 * i, &word, 8))
			fail("word %" PRIu64 " of the ramp differs", word);
}

/* Captures `total` blocks. Checks every word and the order, and that no block has a time stamp. */
static void capture_blocks(const char *parameters, enum file file, unsigned int blocks, size_t size,
			   unsigned int total)
{
	struct block_info info;
	struct legacy l;
	unsigned int i;

	must_load(parameters);
	legacy_open(&l, ADC, ALL, file);
	legacy_blocks(&l, blocks, size);
	for (i = 0; i < blocks; i++)
		expect("ENQUEUE", legacy_enqueue(&l, i, 0, 0), 0);
	legacy_enable(&l, true);
	for (i = 0; i < total; i++) {
		expect("DEQUEUE", legacy_wait(&l, &info), 0);
		expect("id", info.id, i % blocks);
		expect("bytes", info.bytes_used, size);
		expect("flags and time stamp", info.flags | info.timestamp | info.type, 0);
		expect_ramp(l.data[info.id], size, (uint64_t)i * (size / 8));
		expect("ENQUEUE", legacy_enqueue(&l, info.id, 0, 0), 0);
	}
	legacy_close(&l);
}

static void blocks_capture_the_ramp(void)
{
	capture_blocks("", DEVICE_FILE, 4, BLOCK, 100);
	capture_blocks("", BUFFER_FILE, 4, BLOCK, 100);
	capture_blocks("sg=0", DEVICE_FILE, 4, BLOCK, 100);
	capture_blocks("instant=1", BUFFER_FILE, 4, BLOCK, 100);
	capture_blocks("", DEVICE_FILE, LEGACY_BLOCKS, 4096, 500);
}

static void blocks_of_16_mib_capture_the_ramp(void)
{
	capture_blocks("", DEVICE_FILE, 2, 16 << 20, 3);
	capture_blocks("sg=0", DEVICE_FILE, 2, 16 << 20, 3);
}

static void expect_played(uint64_t scans)
{
	await_count(DAC, "delivered", scans);
	expect("scans played", count(DAC, "delivered"), scans);
	expect("mismatches", count(DAC, "mismatches"), 0);
}

static void play_blocks(const char *parameters, enum file file)
{
	struct block_info info;
	struct legacy l;
	unsigned int i;

	must_load(parameters);
	legacy_open(&l, DAC, ALL, file);
	legacy_blocks(&l, 4, BLOCK);
	expect("poll before enable", legacy_poll(l.fd, 0), 0);
	for (i = 0; i < 40; i++) {
		if (i >= 4) {
			expect("DEQUEUE", legacy_wait(&l, &info), 0);
			expect("id", info.id, i % 4);
		}
		fill_ramp(l.data[i % 4], BLOCK, i * (BLOCK / 8));
		/* The last block is only half full. */
		expect("ENQUEUE", legacy_enqueue(&l, i % 4, i < 39 ? BLOCK : BLOCK / 2, 0), 0);
		if (i == 3)
			legacy_enable(&l, true);
	}
	expect_played(39 * BLOCK / 8 + BLOCK / 16);
	legacy_close(&l);
}

static void blocks_play_the_ramp(void)
{
	play_blocks("", DEVICE_FILE);
	play_blocks("", BUFFER_FILE);
	play_blocks("sg=0", DEVICE_FILE);
}

static void empty_and_odd_blocks_are_done_at_once_and_not_played(void)
{
	struct block_info info;
	struct legacy l;

	must_load("");
	legacy_open(&l, DAC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 3, BLOCK);
	fill_ramp(l.data[0], BLOCK, 0);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 4096, 0), 0);
	expect("ENQUEUE of 0 bytes", legacy_enqueue(&l, 1, 0, 0), 0);
	expect("ENQUEUE of 4100 bytes", legacy_enqueue(&l, 2, 4100, 0), 0);
	legacy_enable(&l, true);
	expect("DEQUEUE", legacy_wait(&l, &info), 0);
	expect("first id", info.id, 1);
	expect("its bytes", info.bytes_used, 0);
	expect("DEQUEUE", legacy_wait(&l, &info), 0);
	expect("second id", info.id, 2);
	expect("its bytes", info.bytes_used, 4100);
	expect("DEQUEUE", legacy_wait(&l, &info), 0);
	expect("third id", info.id, 0);
	expect_played(512);
	legacy_close(&l);
}

static void cyclic_block(const char *parameters, unsigned int interrupts)
{
	struct block_info info;
	struct legacy l;

	must_load(parameters);
	legacy_open(&l, DAC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 2, BLOCK);
	fill_ramp(l.data[0], BLOCK, 0);
	expect("ENQUEUE", legacy_enqueue(&l, 0, BLOCK, BLOCK_CYCLIC), 0);
	legacy_enable(&l, true);
	await_count(DAC, "delivered", 5 * BLOCK / 8);
	expect("a second ENQUEUE", legacy_enqueue(&l, 1, BLOCK, 0), 0);
	expect("ENQUEUE of the cyclic block", legacy_enqueue(&l, 0, BLOCK, BLOCK_CYCLIC), -EBUSY);
	await_count(DAC, "delivered", 20 * BLOCK / 8);
	expect("DEQUEUE", legacy_dequeue(&l, &info), -EAGAIN);
	expect("interrupts", count(DAC, "interrupts"), interrupts);
	expect("underflows", count(DAC, "underflows"), 0);
	legacy_enable(&l, false);
	expect("DEQUEUE after disable", legacy_wait(&l, &info), 0);
	expect("id, bytes", info.id | info.bytes_used, 0);
	expect("its flags", info.flags, BLOCK_CYCLIC);
	expect("a second DEQUEUE", legacy_wait(&l, &info), 0);
	expect("its bytes", info.bytes_used, 0);
	expect("a third DEQUEUE", legacy_dequeue(&l, &info), -EAGAIN);
	legacy_close(&l);
}

static void a_cyclic_block_repeats_without_interrupts(void)
{
	cyclic_block("check=none dac_rate=1000000 fifo=0", 0);
	/* The only interrupt is that of the start. */
	cyclic_block("check=none dac_rate=1000000 fifo=0 sg=0", 1);
}

/* With scatter-gather the driver reports a full block, as with DMABUFs. */
static void a_short_transfer_is_reported_only_without_scatter_gather(void)
{
	struct block_info info;
	struct legacy l;
	int sg, i;

	for (sg = 0; sg < 2; sg++) {
		must_load(sg ? "short_at=1 short_bytes=800" : "short_at=1 short_bytes=800 sg=0");
		legacy_open(&l, ADC, ALL, DEVICE_FILE);
		legacy_blocks(&l, 3, BLOCK);
		for (i = 0; i < 3; i++)
			expect("ENQUEUE", legacy_enqueue(&l, i, 0, 0), 0);
		legacy_enable(&l, true);
		for (i = 0; i < 3; i++) {
			expect("DEQUEUE", legacy_wait(&l, &info), 0);
			expect("bytes", info.bytes_used, i == 1 && !sg ? BLOCK - 800 : BLOCK);
		}
		legacy_close(&l);
	}
}

static void disable_returns_blocks_in_flight_once(void)
{
	struct block_info info;
	struct legacy l;
	int i;

	must_load("rate=1000");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 3, BLOCK);
	for (i = 0; i < 3; i++)
		expect("ENQUEUE", legacy_enqueue(&l, i, 0, 0), 0);
	legacy_enable(&l, true);
	expect("DEQUEUE", legacy_dequeue(&l, &info), -EAGAIN);
	legacy_enable(&l, false);
	for (i = 0; i < 3; i++) {
		expect("poll", legacy_poll(l.fd, 0), POLLIN);
		expect("DEQUEUE", legacy_dequeue(&l, &info), 0);
		expect("id", info.id, i);
		expect("bytes", info.bytes_used, 0);
	}
	expect("poll after the last one", legacy_poll(l.fd, 0), 0);
	expect("DEQUEUE after the last one", legacy_dequeue(&l, &info), -EAGAIN);
	legacy_close(&l);
}

const struct test legacy_tests[] = {
	{ "blocks_capture_the_ramp", blocks_capture_the_ramp, BLOCKS },
	{ "blocks_of_16_mib_capture_the_ramp", blocks_of_16_mib_capture_the_ramp, BLOCKS },
	{ "blocks_play_the_ramp", blocks_play_the_ramp, BLOCKS },
	{ "empty_and_odd_blocks_are_done_at_once_and_not_played",
	  empty_and_odd_blocks_are_done_at_once_and_not_played, BLOCKS },
	{ "a_cyclic_block_repeats_without_interrupts", a_cyclic_block_repeats_without_interrupts, BLOCKS },
	{ "a_short_transfer_is_reported_only_without_scatter_gather",
	  a_short_transfer_is_reported_only_without_scatter_gather, BLOCKS },
	{ "disable_returns_blocks_in_flight_once", disable_returns_blocks_in_flight_once, BLOCKS },
	{ NULL, NULL, READING },
};
