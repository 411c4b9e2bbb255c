/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block interface of Analog Devices' kernels (IIO_DMA_BUF_MMAP_LEGACY) for Debian's kernels.
 * These files replace industrialio-buffer-dmaengine.ko. The kernel's IIO core and
 * industrialio-buffer-dma.ko stay unmodified.
 */
#ifndef LEGACY_H
#define LEGACY_H

#include <linux/dmaengine.h>
#include <linux/ioctl.h>
#include <linux/kref.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/iio/buffer-dma.h>
#include <linux/iio/iio.h>

struct device;
struct vm_area_struct;

#define LEGACY_BLOCKS		64
#define LEGACY_BLOCK_BYTES	(16 << 20)

/* ---- the interface for user space ---- */

struct legacy_alloc_request {
	__u32 type;
	__u32 size;
	__u32 count;
	__u32 id;
};

struct legacy_block_info {
	__u32 id;
	__u32 size;
	__u32 bytes_used;
	__u32 type;
	__u32 flags;
	__u32 offset;
	__u64 timestamp;
};

#define LEGACY_CYCLIC	BIT(1)

#define LEGACY_ALLOC	_IOWR('i', 0xa0, struct legacy_alloc_request)
#define LEGACY_FREE	_IO('i', 0xa1)
#define LEGACY_QUERY	_IOWR('i', 0xa2, struct legacy_block_info)
#define LEGACY_ENQUEUE	_IOWR('i', 0xa3, struct legacy_block_info)
#define LEGACY_DEQUEUE	_IOWR('i', 0xa4, struct legacy_block_info)

/* ---- legacy_block.c: blocks and the lists of a buffer ---- */

enum legacy_state { LEGACY_DEQUEUED, LEGACY_QUEUED, LEGACY_ACTIVE, LEGACY_DONE, LEGACY_DEAD };

struct legacy_block {
	struct list_head head;		/* in one of the buffer's three lists */
	struct kref kref;		/* one each for the buffer, the DMA and each mapping */
	struct work_struct release;
	struct legacy_buffer *buffer;
	void *memory;
	dma_addr_t address;
	enum legacy_state state;
	u32 id, size, bytes_used, flags, offset;
};

struct legacy_buffer {
	struct iio_dma_buffer_queue queue;	/* the kernel's queue, for read() and write() */
	struct dma_chan *chan;
	struct device *dev;			/* allocates the memory */
	size_t align, max_size;
	struct list_head fileio_active;		/* the kernel's own blocks in the DMA */

	/* Protected by queue.lock; the lists, the table and states also by queue.list_lock. */
	struct legacy_block *blocks[LEGACY_BLOCKS];
	unsigned int count;
	u32 next_offset;
	struct list_head incoming, active, outgoing;
	bool running;
	bool has_file;				/* made by IIO_BUFFER_GET_FD */
	struct legacy_block *single;		/* in mode single: the only block of read() and write() */
	size_t single_position;
};

static inline struct legacy_buffer *legacy_buffer_of(struct iio_buffer *buffer)
{
	return container_of(buffer, struct legacy_buffer, queue.buffer);
}

struct legacy_block *legacy_block_alloc(struct legacy_buffer *buffer, u32 size);
void legacy_block_put(struct legacy_block *block);
void legacy_block_kill(struct legacy_block *block);
void legacy_block_enqueue(struct legacy_block *block);
struct legacy_block *legacy_block_take(struct legacy_buffer *buffer);
void legacy_block_done(struct legacy_block *block);
size_t legacy_blocks_done_bytes(struct legacy_buffer *buffer);
void legacy_blocks_start(struct legacy_buffer *buffer);
void legacy_blocks_abort(struct legacy_buffer *buffer);

/* ---- legacy_request.c: the requests of user space ---- */

int legacy_alloc(struct legacy_buffer *buffer, struct legacy_alloc_request *request);
void legacy_free(struct legacy_buffer *buffer);
int legacy_query(struct legacy_buffer *buffer, struct legacy_block_info *info);
int legacy_enqueue(struct legacy_buffer *buffer, const struct legacy_block_info *info);
int legacy_dequeue(struct legacy_buffer *buffer, struct legacy_block_info *info);
int legacy_mmap(struct legacy_buffer *buffer, struct vm_area_struct *vma);

/* ---- legacy_memory.c: memory of blocks ---- */

void *legacy_memory_alloc(struct device *dev, size_t bytes, dma_addr_t *address);
void legacy_memory_free(struct device *dev, void *memory, size_t bytes, dma_addr_t address);

/* ---- legacy_dma.c: transfers ---- */

int legacy_dma_submit(struct legacy_block *block);
extern const struct iio_dma_buffer_ops legacy_fileio_ops;

/* ---- legacy_single.c: read() and write() with one block ---- */

void legacy_single_start(struct legacy_buffer *buffer);
void legacy_single_stop(struct legacy_buffer *buffer);
int legacy_single_read(struct iio_buffer *buffer, size_t n, char __user *data);
int legacy_single_write(struct iio_buffer *buffer, size_t n, const char __user *data);

/* ---- legacy_buffer.c: the IIO buffer ---- */

enum legacy_mode { LEGACY_FIXED, LEGACY_BROKEN, LEGACY_SINGLE };

enum legacy_mode legacy_mode(void);
struct legacy_buffer *legacy_buffer_known(struct iio_buffer *buffer);	/* NULL: another implementation */

/* ---- legacy_file.c: ioctls and mmap on the core's files ---- */

int legacy_file_init(void);

#endif
