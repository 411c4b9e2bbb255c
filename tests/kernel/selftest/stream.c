// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab.h"

struct enqueue {
	uint32_t fd, flags;
	uint64_t bytes_used;
};

/* Debian 12's headers do not have these definitions. */
#define GET_FD		_IOWR('i', 0x91, int)
#define ATTACH		_IOW('i', 0x92, int)
#define DETACH		_IOW('i', 0x93, int)
#define ENQUEUE		_IOW('i', 0x94, struct enqueue)

struct export_fence {
	uint32_t flags;
	int32_t fd;
};
#define EXPORT_FENCE	_IOWR('b', 2, struct export_fence)

static int from_heap(size_t bytes)
{
	struct dma_heap_allocation_data data = { .len = bytes, .fd_flags = O_RDWR | O_CLOEXEC };
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);

	if (heap < 0 || ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data))
		fail("dma-heap: %s", strerror(errno));
	close(heap);
	return data.fd;
}

static int from_memfd(size_t bytes, int *memfd)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;

	*memfd = memfd_create("block", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (ftruncate(*memfd, bytes) || fcntl(*memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fail("memfd: %s", strerror(errno));
	create.memfd = *memfd;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	if (fd < 0)
		fail("udmabuf: %s", strerror(errno));
	close(device);
	return fd;
}

static void block_open(struct stream *s, struct block *b)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW };

	b->memfd = -1;
	b->fence = -1;
	b->fd = s->memory == HEAP && !heapless() ? from_heap(s->block_bytes) :
						   from_memfd(s->block_bytes, &b->memfd);
	b->data = mmap(NULL, s->block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (b->data == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	ioctl(b->fd, DMA_BUF_IOCTL_SYNC, &sync);
	memset(b->data, 0xee, s->block_bytes);
	sync.flags |= DMA_BUF_SYNC_END;
	ioctl(b->fd, DMA_BUF_IOCTL_SYNC, &sync);
	if (ioctl(s->buffer, ATTACH, &b->fd))
		fail("ATTACH: %s", strerror(errno));
}

void stream_open(struct stream *s, unsigned int mask)
{
	struct layout layout;
	char path[256], length[32];
	unsigned int i;

	if (!has_dmabufs())
		s->memory = FILEIO;
	layout_read(s->device, s->output, mask, &layout);
	if (!device_path(s->device, "@/dev/", path, sizeof(path)))
		fail("no device %s", s->device);
	s->chr = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (s->chr < 0)
		fail("%s: %s", path, strerror(errno));
	s->buffer = 0;
	if (ioctl(s->chr, GET_FD, &s->buffer))
		fail("GET_FD: %s", strerror(errno));
	fcntl(s->buffer, F_SETFL, O_NONBLOCK);
	snprintf(length, sizeof(length), "%zu", (s->memory == FILEIO ? 2 : 1) * s->block_bytes /
		 layout.scan_bytes);
	if (device_put(s->device, "buffer0/length", length))
		fail("length = %s refused", length);
	for (i = 0; i < s->blocks && s->memory != FILEIO; i++)
		block_open(s, &s->block[i]);
	s->next = 0;
}

void stream_start(struct stream *s)
{
	unsigned int i;
	int ret;

	for (i = 0; i < s->blocks && s->memory != FILEIO && !s->output; i++)
		if ((ret = stream_enqueue(s, i)))
			fail("ENQUEUE %u: %s", i, strerror(-ret));
	ret = device_put(s->device, "buffer0/enable", "1");
	if (ret)
		fail("%s: enable: %s", s->device, strerror(-ret));
}

int stream_enqueue(struct stream *s, unsigned int number)
{
	struct block *b = &s->block[number];
	struct enqueue request = { .fd = b->fd, .bytes_used = s->block_bytes };
	struct export_fence fence = { .flags = DMA_BUF_SYNC_RW, .fd = -1 };

	if (b->fence >= 0)
		close(b->fence);
	b->fence = -1;
	if (ioctl(s->buffer, ENQUEUE, &request))
		return -errno;
	if (ioctl(b->fd, EXPORT_FENCE, &fence))
		fail("EXPORT_SYNC_FILE: %s", strerror(errno));
	b->fence = fence.fd;
	b->queued = true;
	return 0;
}

bool fence_info(int fence, char driver[32], int *status)
{
	struct sync_fence_info one = { 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&one };

	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info))
		return false;
	snprintf(driver, 32, "%s", one.driver_name);
	*status = info.status;
	return true;
}

/*
 * Returns whether the fence is the stub, whose time is before that of any transfer. Since Linux 7
 * the stub has no name of its own.
 */
bool fence_is_stub(int fence, uint64_t since_ns)
{
	struct sync_fence_info one = { 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&one };

	if (ioctl(fence, SYNC_IOC_FILE_INFO, &info))
		return false;
	return info.status == 1 && one.timestamp_ns < since_ns;
}

int stream_wait(struct stream *s, int timeout_ms)
{
	struct block *b = &s->block[s->next];
	struct pollfd wait = { .fd = b->fence, .events = POLLIN };
	char driver[32];
	int status;

	if (poll(&wait, 1, timeout_ms) <= 0)
		return 0;
	if (!fence_info(b->fence, driver, &status))
		fail("SYNC_IOC_FILE_INFO: %s", strerror(errno));
	b->queued = false;
	s->next = (s->next + 1) % s->blocks;
	return status;
}

void stream_close(struct stream *s)
{
	unsigned int i;

	device_put(s->device, "buffer0/enable", "0");
	for (i = 0; i < s->blocks && s->memory != FILEIO; i++) {
		struct block *b = &s->block[i];

		ioctl(s->buffer, DETACH, &b->fd);
		munmap(b->data, s->block_bytes);
		close(b->fd);
		if (b->memfd >= 0)
			close(b->memfd);
		if (b->fence >= 0)
			close(b->fence);
	}
	close(s->buffer);
	close(s->chr);
}

static size_t take_block(struct stream *s, uint8_t *data, size_t bytes)
{
	unsigned int number = s->next;
	size_t part = bytes < s->block_bytes ? bytes : s->block_bytes;
	int ret = stream_wait(s, 5000);

	if (ret != 1)
		fail("block: %s", ret ? strerror(-ret) : "timeout");
	memcpy(data, s->block[number].data, part);
	return part;
}

static size_t take_file(struct stream *s, uint8_t *data, size_t bytes)
{
	struct pollfd wait = { .fd = s->buffer, .events = POLLIN };
	size_t part = bytes < s->block_bytes ? bytes : s->block_bytes, done = 0;

	while (done < part) {
		ssize_t n;

		if (poll(&wait, 1, 5000) <= 0)
			fail("fileio: timeout");
		n = read(s->buffer, data + done, part - done);
		if (n < 0 && errno != EAGAIN)
			fail("read: %s", strerror(errno));
		done += n > 0 ? n : 0;
	}
	return part;
}

void capture(struct stream *s, uint8_t *data, size_t bytes, uint64_t pauses, unsigned int pause)
{
	size_t done = 0, number = 0;

	while (done < bytes) {
		unsigned int last = s->next;

		done += s->memory == FILEIO ? take_file(s, data + done, bytes - done) :
					      take_block(s, data + done, bytes - done);
		if (number < 64 && pauses >> number & 1)
			pause_ms(pause);
		number++;
		if (s->memory != FILEIO) {
			int ret = stream_enqueue(s, last);

			if (ret)
				fail("ENQUEUE again: %s", strerror(-ret));
		}
	}
}

uint8_t *record(const char *device, enum memory memory, unsigned int mask, size_t bytes,
		size_t block_bytes)
{
	struct stream s = { .device = device, .memory = memory, .block_bytes = block_bytes,
			    .blocks = 4 };
	uint8_t *data = malloc(bytes);

	stream_open(&s, mask);
	stream_start(&s);
	capture(&s, data, bytes, 0, 0);
	stream_close(&s);
	return data;
}
