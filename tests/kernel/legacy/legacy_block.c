// SPDX-License-Identifier: GPL-2.0-only
/* Blocks: their states, their references and the three lists of a buffer. */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "legacy.h"

static void block_release(struct legacy_block *block)
{
	struct legacy_buffer *buffer = block->buffer;

	legacy_memory_free(buffer->dev, block->memory, PAGE_ALIGN(block->size), block->address);
	kfree(block);
	iio_buffer_put(&buffer->queue.buffer);
}

static void block_release_work(struct work_struct *work)
{
	block_release(container_of(work, struct legacy_block, release));
}

/* The last reference can be dropped in an interrupt, where memory cannot be freed. */
static void block_release_later(struct kref *kref)
{
	schedule_work(&container_of(kref, struct legacy_block, kref)->release);
}

void legacy_block_put(struct legacy_block *block)
{
	kref_put(&block->kref, block_release_later);
}

struct legacy_block *legacy_block_alloc(struct legacy_buffer *buffer, u32 size)
{
	struct legacy_block *block = kzalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return NULL;
	block->memory = legacy_memory_alloc(buffer->dev, PAGE_ALIGN(size), &block->address);
	if (!block->memory) {
		kfree(block);
		return NULL;
	}
	block->buffer = buffer;
	block->size = size;
	block->state = LEGACY_DEQUEUED;
	INIT_LIST_HEAD(&block->head);
	INIT_WORK(&block->release, block_release_work);
	kref_init(&block->kref);
	iio_buffer_get(&buffer->queue.buffer);
	return block;
}

/* Gives up the buffer's reference. A block in the DMA is freed when the DMA has finished. */
void legacy_block_kill(struct legacy_block *block)
{
	struct legacy_buffer *buffer = block->buffer;

	spin_lock_irq(&buffer->queue.list_lock);
	if (block->state != LEGACY_ACTIVE)
		list_del_init(&block->head);
	block->state = LEGACY_DEAD;
	spin_unlock_irq(&buffer->queue.list_lock);
	legacy_block_put(block);
}

static void block_submit(struct legacy_block *block)
{
	struct legacy_buffer *buffer = block->buffer;

	spin_lock_irq(&buffer->queue.list_lock);
	block->state = LEGACY_ACTIVE;
	list_add_tail(&block->head, &buffer->active);
	spin_unlock_irq(&buffer->queue.list_lock);
	kref_get(&block->kref);
	if (!legacy_dma_submit(block))
		return;
	/* No error is reported: the block stays active until the blocks are freed. */
	spin_lock_irq(&buffer->queue.list_lock);
	list_del_init(&block->head);
	spin_unlock_irq(&buffer->queue.list_lock);
	legacy_block_put(block);
}

void legacy_block_enqueue(struct legacy_block *block)
{
	struct legacy_buffer *buffer = block->buffer;

	if (buffer->running) {
		block_submit(block);
		return;
	}
	spin_lock_irq(&buffer->queue.list_lock);
	block->state = LEGACY_QUEUED;
	list_add_tail(&block->head, &buffer->incoming);
	spin_unlock_irq(&buffer->queue.list_lock);
}

/* Called with list_lock held. Drops the reference of the DMA. */
static void block_complete(struct legacy_block *block)
{
	list_del_init(&block->head);
	if (block->state != LEGACY_DEAD) {
		block->state = LEGACY_DONE;
		list_add_tail(&block->head, &block->buffer->outgoing);
	}
	legacy_block_put(block);
}

static void wake(struct legacy_buffer *buffer)
{
	struct iio_buffer *iio = &buffer->queue.buffer;

	wake_up_interruptible_poll(&iio->pollq, iio->direction == IIO_BUFFER_DIRECTION_IN ?
				   EPOLLIN | EPOLLRDNORM : EPOLLOUT | EPOLLWRNORM);
}

void legacy_block_done(struct legacy_block *block)
{
	struct legacy_buffer *buffer = block->buffer;
	unsigned long flags;

	iio_buffer_get(&buffer->queue.buffer);
	spin_lock_irqsave(&buffer->queue.list_lock, flags);
	block_complete(block);
	spin_unlock_irqrestore(&buffer->queue.list_lock, flags);
	wake(buffer);
	iio_buffer_put(&buffer->queue.buffer);
}

void legacy_blocks_start(struct legacy_buffer *buffer)
{
	struct legacy_block *block, *next;
	LIST_HEAD(queued);

	buffer->running = true;
	spin_lock_irq(&buffer->queue.list_lock);
	list_splice_init(&buffer->incoming, &queued);
	spin_unlock_irq(&buffer->queue.list_lock);
	list_for_each_entry_safe(block, next, &queued, head) {
		list_del_init(&block->head);
		block_submit(block);
	}
}

/* Called when the DMA has stopped. Returns each block in it once, with bytes_used 0. */
void legacy_blocks_abort(struct legacy_buffer *buffer)
{
	struct legacy_block *block, *next;

	buffer->running = false;
	spin_lock_irq(&buffer->queue.list_lock);
	list_for_each_entry_safe(block, next, &buffer->active, head) {
		block->bytes_used = 0;
		block_complete(block);
	}
	spin_unlock_irq(&buffer->queue.list_lock);
	wake(buffer);
}

size_t legacy_blocks_done_bytes(struct legacy_buffer *buffer)
{
	struct legacy_block *block;
	size_t bytes = 0;

	spin_lock_irq(&buffer->queue.list_lock);
	list_for_each_entry(block, &buffer->outgoing, head)
		bytes += block->size;
	spin_unlock_irq(&buffer->queue.list_lock);
	return bytes;
}

/* Takes the block that was completed first. User space then owns it. */
struct legacy_block *legacy_block_take(struct legacy_buffer *buffer)
{
	struct legacy_block *block;

	spin_lock_irq(&buffer->queue.list_lock);
	block = list_first_entry_or_null(&buffer->outgoing, struct legacy_block, head);
	if (block) {
		list_del_init(&block->head);
		block->state = LEGACY_DEQUEUED;
	}
	spin_unlock_irq(&buffer->queue.list_lock);
	return block;
}
