// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab.h"
#include "legacy.h"

void expect(const char *what, long got, long expected)
{
	if (got != expected)
		fail("%s: %ld, expected %ld", what, got, expected);
}

void await_count(const char *device, const char *name, uint64_t least)
{
	double deadline = now() + 10;

	while (count(device, name) < least) {
		if (now() > deadline)
			fail("%s: %s is %" PRIu64 " after 10 s, expected %" PRIu64, device, name,
			     count(device, name), least);
		pause_ms(5);
	}
}

int legacy_alloc(int fd, unsigned int count, size_t size, struct alloc_request *granted)
{
	struct alloc_request request = { .size = size, .count = count, .id = 77 };
	int ret = ioctl(fd, BLOCK_ALLOC, &request) ? -errno : 0;

	if (granted)
		*granted = request;
	return ret;
}

int legacy_free(int fd)
{
	return ioctl(fd, BLOCK_FREE) ? -errno : 0;
}

int legacy_query(int fd, unsigned int id, struct block_info *info)
{
	*info = (struct block_info){ .id = id };
	return ioctl(fd, BLOCK_QUERY, info) ? -errno : 0;
}

int legacy_enqueue(struct legacy *l, unsigned int id, size_t bytes, unsigned int flags)
{
	struct block_info info = { .id = id, .bytes_used = bytes, .flags = flags };

	return ioctl(l->fd, BLOCK_ENQUEUE, &info) ? -errno : 0;
}

int legacy_dequeue(struct legacy *l, struct block_info *info)
{
	memset(info, 0x55, sizeof(*info));
	return ioctl(l->fd, BLOCK_DEQUEUE, info) ? -errno : 0;
}

short legacy_poll(int fd, int timeout_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&wait, 1, timeout_ms) > 0 ? wait.revents : 0;
}

int legacy_wait(struct legacy *l, struct block_info *info)
{
	int ret = legacy_dequeue(l, info);

	if (ret == -EAGAIN && legacy_poll(l->fd, 2000))
		ret = legacy_dequeue(l, info);
	return ret;
}

void legacy_enable(struct legacy *l, bool on)
{
	expect("enable", device_put(l->device, "buffer0/enable", on ? "1" : "0"), 0);
}

void legacy_open(struct legacy *l, const char *device, unsigned int mask, enum file file)
{
	struct layout layout;
	char path[256];

	*l = (struct legacy){ .device = device, .output = !strcmp(device, DAC) };
	layout_read(device, l->output, mask, &layout);
	if (!device_path(device, "@/dev/", path, sizeof(path)))
		fail("no device %s", device);
	l->chr = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (l->chr < 0)
		fail("%s: %s", path, strerror(errno));
	if (file == BUFFER_FILE && ioctl(l->chr, GET_FD, &l->fd))
		fail("GET_FD: %s", strerror(errno));
	if (file == BUFFER_FILE)
		fcntl(l->fd, F_SETFL, O_NONBLOCK);
	else
		l->fd = l->chr;
	legacy_enable(l, false);
	expect("FREE", legacy_free(l->fd), 0);
}

void legacy_blocks(struct legacy *l, unsigned int count, size_t size)
{
	int protection = l->output ? PROT_READ | PROT_WRITE : PROT_READ;
	struct alloc_request granted;
	struct block_info info;

	expect("ALLOC", legacy_alloc(l->fd, count, size, &granted), 0);
	expect("granted blocks", granted.count, count);
	l->size = size;
	for (; count; count--, l->count++) {
		expect("QUERY", legacy_query(l->fd, l->count, &info), 0);
		l->data[l->count] = mmap(NULL, size, protection, MAP_SHARED, l->fd, info.offset);
		if (l->data[l->count] == MAP_FAILED)
			fail("mmap: %s", strerror(errno));
	}
}

void legacy_unmap(struct legacy *l)
{
	while (l->count)
		munmap(l->data[--l->count], l->size);
}

void legacy_close(struct legacy *l)
{
	device_put(l->device, "buffer0/enable", "0");
	legacy_unmap(l);
	legacy_free(l->fd);
	if (l->fd != l->chr)
		close(l->fd);
	close(l->chr);
}
