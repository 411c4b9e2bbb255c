// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() and write() of ADI's 5.x and 6.1 kernels. The buffer has one block, so the converter
 * cannot store samples while user space reads the block.
 */
#include <linux/cleanup.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "legacy.h"

/*
 * Called with queue.lock held. A failed allocation is not reported, but read() then returns EBUSY.
 */
void legacy_single_start(struct legacy_buffer *buffer)
{
	struct iio_buffer *iio = &buffer->queue.buffer;
	struct legacy_block *block = legacy_block_alloc(buffer, iio->bytes_per_datum * iio->length);

	buffer->single = block;
	buffer->single_position = 0;
	if (!block)
		return;
	block->bytes_used = block->size;
	if (iio->direction == IIO_BUFFER_DIRECTION_IN)
		legacy_block_enqueue(block);
}

void legacy_single_stop(struct legacy_buffer *buffer)
{
	if (buffer->single)
		legacy_block_kill(buffer->single);
	buffer->single = NULL;
}

static bool single_ready(struct legacy_buffer *buffer)
{
	if (buffer->single->state == LEGACY_DEQUEUED)
		return true;
	if (!legacy_block_take(buffer))
		return false;
	buffer->single_position = 0;
	if (buffer->queue.buffer.direction == IIO_BUFFER_DIRECTION_OUT)
		buffer->single->bytes_used = buffer->single->size;
	return true;
}

/* Returns 0 while the block is in the DMA. The core then retries immediately. */
static int single_io(struct iio_buffer *iio, size_t n, char __user *to, const char __user *from)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);
	struct legacy_block *block;
	unsigned long left;
	void *memory;

	if (n < iio->bytes_per_datum)
		return -EINVAL;
	guard(mutex)(&buffer->queue.lock);
	if (buffer->count || !buffer->single)
		return -EBUSY;
	if (!single_ready(buffer))
		return 0;
	block = buffer->single;
	n = min(rounddown(n, iio->bytes_per_datum), block->bytes_used - buffer->single_position);
	memory = block->memory + buffer->single_position;
	left = to ? copy_to_user(to, memory, n) : copy_from_user(memory, from, n);
	if (left)
		return -EFAULT;
	buffer->single_position += n;
	if (buffer->single_position == block->bytes_used)
		legacy_block_enqueue(block);
	return n;
}

int legacy_single_read(struct iio_buffer *buffer, size_t n, char __user *data)
{
	return single_io(buffer, n, data, NULL);
}

int legacy_single_write(struct iio_buffer *buffer, size_t n, const char __user *data)
{
	return single_io(buffer, n, NULL, data);
}
