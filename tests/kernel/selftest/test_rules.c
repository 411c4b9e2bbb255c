// SPDX-License-Identifier: GPL-2.0-only
/* The rules of ADI's legacy blocks, and the effects on programs that break them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab.h"
#include "legacy.h"

#define BLOCK		(64 << 10)
#define PARAMETERS	"/sys/module/industrialio_buffer_dmaengine/parameters"

static long page(void)
{
	return sysconf(_SC_PAGESIZE);
}

static void a_dma_buffer_has_blocks_and_no_dmabufs(void)
{
	struct alloc_request granted;
	int nothing = -1;
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	expect("ATTACH", ioctl(l.fd, ATTACH, &nothing) ? -errno : 0, -EPERM);
	expect("FREE on the device's file", legacy_free(l.chr), 0);
	expect("ALLOC on the device's file", legacy_alloc(l.chr, 1, page(), &granted), 0);
	expect("count", granted.count, 1);
	legacy_close(&l);
}

static void a_kfifo_has_neither_blocks_nor_dmabufs(void)
{
	int chr, fd = 0, nothing = -1;
	char path[256];

	must_load("slow=1");
	if (!device_path("iios-sim-slow", "@/dev/", path, sizeof(path)))
		fail("no iios-sim-slow");
	chr = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	expect("FREE", legacy_free(chr), 0);
	expect("ALLOC", legacy_alloc(chr, 1, page(), NULL), -ENOSYS);
	expect("mmap", mmap(NULL, page(), PROT_READ, MAP_SHARED, chr, 0) == MAP_FAILED ? -errno : 0, -ENODEV);
	expect("GET_FD", ioctl(chr, GET_FD, &fd), 0);
	expect("ATTACH", ioctl(fd, ATTACH, &nothing) ? -errno : 0, -EPERM);
	close(fd);
	close(chr);
}

static void alloc_grants_64_blocks_of_16_mib_at_most(void)
{
	struct alloc_request granted;
	struct block_info info;
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	expect("ALLOC of 0 bytes", legacy_alloc(l.fd, 3, 0, &granted), 0);
	expect("count", granted.count, 3);
	expect("QUERY", legacy_query(l.fd, 0, &info), -EINVAL);
	expect("ALLOC of 32 MiB", legacy_alloc(l.fd, 1, 32 << 20, &granted), 0);
	expect("size", granted.size, 16 << 20);
	expect("ALLOC of 100", legacy_alloc(l.fd, 100, 1000, &granted), 0);
	expect("count", granted.count, 63);
	expect("id", granted.id, 1);
	expect("ALLOC of one more", legacy_alloc(l.fd, 1, 1000, &granted), 0);
	expect("count", granted.count, 0);
	expect("QUERY of the last", legacy_query(l.fd, 63, &info), 0);
	expect("size", info.size, 1000);
	expect("offset", info.offset, (16 << 20) + 62 * page());
	expect("QUERY", legacy_query(l.fd, 64, &info), -EINVAL);
	legacy_close(&l);
}

static void alloc_grants_what_the_memory_limit_allows(void)
{
	struct alloc_request granted;
	struct legacy l;
	double deadline;

	must_load("");
	expect("cma", put(PARAMETERS "/cma", "1048576"), 0);
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	expect("ALLOC", legacy_alloc(l.fd, 8, 256 << 10, &granted), 0);
	expect("count", granted.count, 4);
	expect("ALLOC", legacy_alloc(l.fd, 1, page(), &granted), 0);
	expect("count", granted.count, 0);
	l.data[0] = mmap(NULL, 256 << 10, PROT_READ, MAP_SHARED, l.fd, 0);
	deadline = now() + 10;
	do {	/* A work item frees the memory. */
		expect("FREE", legacy_free(l.fd), 0);
		expect("ALLOC while one is mapped", legacy_alloc(l.fd, 8, 256 << 10, &granted), 0);
	} while (granted.count < 3 && now() < deadline);
	expect("count", granted.count, 3);
	munmap(l.data[0], 256 << 10);
	legacy_close(&l);
	expect("cma", put(PARAMETERS "/cma", "0"), 0);
}

static void enqueue_follows_the_state_of_the_block(void)
{
	struct block_info info;
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	expect("ENQUEUE without blocks", legacy_enqueue(&l, 0, 0, 0), -EINVAL);
	legacy_blocks(&l, 2, BLOCK);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	expect("ENQUEUE of a queued block", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	await_count(ADC, "interrupts", 1);
	expect("poll", legacy_poll(l.fd, 2000), POLLIN);
	expect("ENQUEUE of a block that is done", legacy_enqueue(&l, 0, 0, 0), 0);
	expect("DEQUEUE", legacy_wait(&l, &info), 0);
	if (memcmp(l.data[0], "\0\x20\0\0\0\0\0\0", 8))
		fail("the first samples are still in the block");
	expect("DEQUEUE", legacy_dequeue(&l, &info), -EAGAIN);
	legacy_enable(&l, false);
	knob(ADC, "rate", 1000);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	expect("ENQUEUE of a block in flight", legacy_enqueue(&l, 0, 0, 0), -EBUSY);
	expect("ENQUEUE of a block that does not exist", legacy_enqueue(&l, 2, 0, 0), -EINVAL);
	legacy_close(&l);
}

/* length_align_bytes is 8, so a transfer of another size is never started. */
static void a_size_that_is_not_aligned_is_done_at_once(void)
{
	struct block_info info;
	struct legacy l;

	must_load("rate=1000");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 1, BLOCK - 4);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	expect("DEQUEUE", legacy_wait(&l, &info), 0);
	expect("bytes", info.bytes_used, BLOCK - 4);
	expect("transfers", count(ADC, "transfers"), 0);
	legacy_close(&l);
}

static void poll_waits_for_the_watermark(void)
{
	struct block_info info;
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	expect("length", device_put(ADC, "buffer0/length", "4096"), 0);
	legacy_blocks(&l, 2, 1024);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	await_count(ADC, "interrupts", 1);
	expect("poll with 1024 of 2048 bytes", legacy_poll(l.fd, 100), 0);
	expect("ENQUEUE", legacy_enqueue(&l, 1, 0, 0), 0);
	expect("poll with 2048 bytes", legacy_poll(l.fd, 2000), POLLIN);
	expect("DEQUEUE", legacy_dequeue(&l, &info), 0);
	legacy_close(&l);
}

static long try_map(int fd, size_t bytes, int protection, int flags, off_t at)
{
	void *data = mmap(NULL, bytes, protection, flags, fd, at);

	if (data == MAP_FAILED)
		return -errno;
	munmap(data, bytes);
	return 0;
}

static void a_mapping_is_shared_and_of_one_block(void)
{
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	expect("ALLOC", legacy_alloc(l.fd, 2, 5000, NULL), 0);
	expect("whole pages", try_map(l.fd, 8192, PROT_READ, MAP_SHARED, 8192), 0);
	expect("less", try_map(l.fd, 4096, PROT_READ, MAP_SHARED, 0), 0);
	expect("more", try_map(l.fd, 12288, PROT_READ, MAP_SHARED, 0), -EINVAL);
	expect("an offset inside", try_map(l.fd, 4096, PROT_READ, MAP_SHARED, 4096), -EINVAL);
	expect("private", try_map(l.fd, 8192, PROT_READ, MAP_PRIVATE, 0), -EINVAL);
	expect("ADC, without PROT_READ", try_map(l.fd, 8192, PROT_NONE, MAP_SHARED, 0), -EINVAL);
	legacy_close(&l);
	legacy_open(&l, DAC, ALL, DEVICE_FILE);
	expect("ALLOC", legacy_alloc(l.fd, 2, 5000, NULL), 0);
	expect("DAC, with PROT_WRITE", try_map(l.fd, 8192, PROT_WRITE, MAP_SHARED, 0), 0);
	expect("DAC, without PROT_WRITE", try_map(l.fd, 8192, PROT_READ, MAP_SHARED, 0), -EINVAL);
	legacy_close(&l);
}

static void a_mapping_is_copied_but_not_pinned(void)
{
	int file = open("/tmp/blocks", O_RDWR | O_CREAT | O_TRUNC, 0600), pipes[2];
	struct iovec part;
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 1, BLOCK);
	part = (struct iovec){ l.data[0], 4096 };
	expect("write()", write(file, l.data[0], 4096), 4096);
	expect("pipe()", pipe(pipes), 0);
	expect("vmsplice()", vmsplice(pipes[1], &part, 1, 0) < 0 ? -errno : 0, -EFAULT);
	close(file);
	legacy_close(&l);
}

static void a_mapping_keeps_the_device_open(void)
{
	struct legacy l;
	char path[256];
	int again;

	must_load("");
	legacy_open(&l, ADC, ALL, DEVICE_FILE);
	legacy_blocks(&l, 1, BLOCK);
	close(l.chr);
	device_path(ADC, "@/dev/", path, sizeof(path));
	again = open(path, O_RDWR | O_CLOEXEC);
	expect("open() while it is mapped", again < 0 ? -errno : 0, -EBUSY);
	legacy_unmap(&l);
	again = open(path, O_RDWR | O_CLOEXEC);
	expect("open() afterwards", again < 0 ? -errno : 0, 0);
	close(again);
}

static void a_blocking_dequeue_waits_for_a_block(void)
{
	struct block_info info;
	struct legacy l;
	double begin;

	must_load("rate=100000");
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	legacy_blocks(&l, 1, BLOCK);
	fcntl(l.fd, F_SETFL, 0);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	begin = now();
	expect("DEQUEUE", legacy_dequeue(&l, &info), 0);
	expect("bytes", info.bytes_used, BLOCK);
	if (count(ADC, "delivered") < BLOCK / 8 || now() - begin > 10)
		fail("DEQUEUE returned before or long after the block was done");
	legacy_close(&l);
}

static void both_files_have_the_same_blocks(void)
{
	struct alloc_request granted;
	struct block_info info;
	struct legacy l;

	must_load("");
	legacy_open(&l, ADC, ALL, BUFFER_FILE);
	expect("ALLOC", legacy_alloc(l.fd, 2, BLOCK, NULL), 0);
	expect("ALLOC on the device's file", legacy_alloc(l.chr, 1, BLOCK, &granted), 0);
	expect("id", granted.id, 2);
	expect("QUERY", legacy_query(l.fd, 2, &info), 0);
	expect("ENQUEUE", legacy_enqueue(&l, 0, 0, 0), 0);
	legacy_enable(&l, true);
	expect("poll", legacy_poll(l.fd, 2000), POLLIN);
	expect("poll of the device's file", legacy_poll(l.chr, 0), 0);
	legacy_enable(&l, false);
	close(l.fd);
	expect("QUERY after close()", legacy_query(l.chr, 0, &info), -EINVAL);
	l.fd = l.chr;
	legacy_close(&l);
}

const struct test rule_tests[] = {
	{ "a_dma_buffer_has_blocks_and_no_dmabufs", a_dma_buffer_has_blocks_and_no_dmabufs, BLOCKS },
	{ "a_kfifo_has_neither_blocks_nor_dmabufs", a_kfifo_has_neither_blocks_nor_dmabufs, BLOCKS },
	{ "alloc_grants_64_blocks_of_16_mib_at_most", alloc_grants_64_blocks_of_16_mib_at_most, BLOCKS },
	{ "alloc_grants_what_the_memory_limit_allows", alloc_grants_what_the_memory_limit_allows, BLOCKS },
	{ "enqueue_follows_the_state_of_the_block", enqueue_follows_the_state_of_the_block, BLOCKS },
	{ "a_size_that_is_not_aligned_is_done_at_once", a_size_that_is_not_aligned_is_done_at_once, BLOCKS },
	{ "poll_waits_for_the_watermark", poll_waits_for_the_watermark, BLOCKS },
	{ "a_mapping_is_shared_and_of_one_block", a_mapping_is_shared_and_of_one_block, BLOCKS },
	{ "a_mapping_is_copied_but_not_pinned", a_mapping_is_copied_but_not_pinned, BLOCKS },
	{ "a_mapping_keeps_the_device_open", a_mapping_keeps_the_device_open, BLOCKS },
	{ "a_blocking_dequeue_waits_for_a_block", a_blocking_dequeue_waits_for_a_block, BLOCKS },
	{ "both_files_have_the_same_blocks", both_files_have_the_same_blocks, BLOCKS },
	{ NULL, NULL, READING },
};
