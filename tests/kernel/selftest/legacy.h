/* SPDX-License-Identifier: GPL-2.0-only */
/* The user space interface of ADI's legacy blocks. */
#ifndef SELFTEST_LEGACY_H
#define SELFTEST_LEGACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

struct alloc_request {
	uint32_t type, size, count, id;
};

struct block_info {
	uint32_t id, size, bytes_used, type, flags, offset;
	uint64_t timestamp;
};

#define GET_FD		_IOWR('i', 0x91, int)
#define ATTACH		_IOW('i', 0x92, int)
#define BLOCK_ALLOC	_IOWR('i', 0xa0, struct alloc_request)
#define BLOCK_FREE	_IO('i', 0xa1)
#define BLOCK_QUERY	_IOWR('i', 0xa2, struct block_info)
#define BLOCK_ENQUEUE	_IOWR('i', 0xa3, struct block_info)
#define BLOCK_DEQUEUE	_IOWR('i', 0xa4, struct block_info)

#define BLOCK_CYCLIC	2
#define LEGACY_BLOCKS	64

enum file { DEVICE_FILE, BUFFER_FILE };

struct legacy {
	const char *device;
	bool output;
	int chr, fd;			/* fd: for requests */
	unsigned int count;
	size_t size;
	uint8_t *data[LEGACY_BLOCKS];
};

/* Opens the device with the given channels, disabled and without blocks. */
void legacy_open(struct legacy *legacy, const char *device, unsigned int mask, enum file file);
/* Allocates and maps blocks. The kernel must grant all of them. */
void legacy_blocks(struct legacy *legacy, unsigned int count, size_t size);
void legacy_unmap(struct legacy *legacy);
void legacy_close(struct legacy *legacy);	/* disables, unmaps and frees */
void legacy_enable(struct legacy *legacy, bool on);

/* These return 0 or -errno. */
int legacy_alloc(int fd, unsigned int count, size_t size, struct alloc_request *granted);
int legacy_free(int fd);
int legacy_query(int fd, unsigned int id, struct block_info *info);
int legacy_enqueue(struct legacy *legacy, unsigned int id, size_t bytes, unsigned int flags);
int legacy_dequeue(struct legacy *legacy, struct block_info *info);	/* does not wait */
/* Gets the next block, which must be done within two seconds. */
int legacy_wait(struct legacy *legacy, struct block_info *info);
short legacy_poll(int fd, int timeout_ms);

void expect(const char *what, long got, long expected);
/* Waits until a counter of the simulator has at least this value. */
void await_count(const char *device, const char *name, uint64_t least);

#endif
