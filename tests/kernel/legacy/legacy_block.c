// SPDX-License-Identifier: GPL-2.0-only
/* Blocks: their memory, their states and the five requests of user space. */
#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "legacy.h"

static unsigned int max_block_size = LEGACY_BLOCK_BYTES;
module_param(max_block_size, uint, 0644);
MODULE_PARM_DESC(max_block_size, "Largest size of a block in bytes");

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

/* The last reference may go in an interrupt, where memory cannot be freed. */
static void block_release_later(struct kref *kref)
{
	schedule_work(&container_of(kref, struct legacy_block, kref)->release);
}

static void block_put(struct legacy_block *block)
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
	block_put(block);
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
	/* Nobody learns of this: the block stays in its state until the blocks are freed. */
	spin_lock_irq(&buffer->queue.list_lock);
	list_del_init(&block->head);
	spin_unlock_irq(&buffer->queue.list_lock);
	block_put(block);
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

/* With list_lock. Drops the DMA's reference. */
static void block_complete(struct legacy_block *block)
{
	list_del_init(&block->head);
	if (block->state != LEGACY_DEAD) {
		block->state = LEGACY_DONE;
		list_add_tail(&block->head, &block->buffer->outgoing);
	}
	block_put(block);
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

/* The DMA has stopped: what was in it comes back once, empty. */
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

/* The block that was done first, which then is user space's. */
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

static void describe(const struct legacy_block *block, struct legacy_block_info *info)
{
	*info = (struct legacy_block_info){
		.id = block->id,
		.size = block->size,
		.bytes_used = block->bytes_used,
		.flags = block->flags,
		.offset = block->offset,
	};
}

/* Success with a count of 0 is usual: too much was asked for, or no memory is left. */
int legacy_alloc(struct legacy_buffer *buffer, struct legacy_alloc_request *request)
{
	unsigned int number;

	guard(mutex)(&buffer->queue.lock);
	if (buffer->queue.fileio.active_block || buffer->single)
		return -EBUSY;
	request->count = min(request->count, LEGACY_BLOCKS - buffer->count);
	request->size = min(request->size, max_block_size);
	request->id = buffer->count;
	if (!request->count || !request->size)
		return 0;
	for (number = 0; number < request->count; number++) {
		struct legacy_block *block = legacy_block_alloc(buffer, request->size);

		if (!block)
			break;
		block->id = buffer->count;
		block->offset = buffer->next_offset;
		buffer->next_offset += PAGE_ALIGN(request->size);
		spin_lock_irq(&buffer->queue.list_lock);
		buffer->blocks[buffer->count++] = block;
		spin_unlock_irq(&buffer->queue.list_lock);
	}
	request->count = number;
	return 0;
}

void legacy_free(struct legacy_buffer *buffer)
{
	guard(mutex)(&buffer->queue.lock);
	while (buffer->count) {
		struct legacy_block *block;

		spin_lock_irq(&buffer->queue.list_lock);
		block = buffer->blocks[--buffer->count];
		spin_unlock_irq(&buffer->queue.list_lock);
		legacy_block_kill(block);
	}
	buffer->next_offset = 0;
}

int legacy_query(struct legacy_buffer *buffer, struct legacy_block_info *info)
{
	guard(mutex)(&buffer->queue.lock);
	if (info->id >= buffer->count)
		return -EINVAL;
	describe(buffer->blocks[info->id], info);
	return 0;
}

int legacy_enqueue(struct legacy_buffer *buffer, const struct legacy_block_info *info)
{
	struct legacy_block *block;
	enum legacy_state state;

	guard(mutex)(&buffer->queue.lock);
	if (info->id >= buffer->count)
		return -EINVAL;
	block = buffer->blocks[info->id];
	spin_lock_irq(&buffer->queue.list_lock);
	state = block->state;
	block->bytes_used = info->bytes_used;	/* also if the block is refused */
	block->flags = info->flags;
	if (state == LEGACY_DONE)
		list_del_init(&block->head);	/* never dequeued: its samples are lost */
	spin_unlock_irq(&buffer->queue.list_lock);
	if (state == LEGACY_QUEUED)
		return 0;
	if (state != LEGACY_DEQUEUED && state != LEGACY_DONE)
		return -EBUSY;
	legacy_block_enqueue(block);
	return 0;
}

int legacy_dequeue(struct legacy_buffer *buffer, struct legacy_block_info *info)
{
	struct legacy_block *block;

	guard(mutex)(&buffer->queue.lock);
	block = legacy_block_take(buffer);
	if (!block)
		return -EAGAIN;
	describe(block, info);
	return 0;
}

static void mapping_open(struct vm_area_struct *vma)
{
	struct legacy_block *block = vma->vm_private_data;

	kref_get(&block->kref);
}

static void mapping_close(struct vm_area_struct *vma)
{
	block_put(vma->vm_private_data);
}

static const struct vm_operations_struct mapping_ops = {
	.open = mapping_open,
	.close = mapping_close,
};

int legacy_mmap(struct legacy_buffer *buffer, struct vm_area_struct *vma)
{
	size_t bytes = vma->vm_end - vma->vm_start;
	struct legacy_block *block = NULL;
	unsigned int number;
	int ret;

	spin_lock_irq(&buffer->queue.list_lock);
	for (number = 0; number < buffer->count && !block; number++)
		if (buffer->blocks[number]->offset >> PAGE_SHIFT == vma->vm_pgoff)
			block = buffer->blocks[number];
	if (block)
		kref_get(&block->kref);
	spin_unlock_irq(&buffer->queue.list_lock);
	if (!block)
		return -EINVAL;
	ret = -EINVAL;
	if (bytes > PAGE_ALIGN(block->size))
		goto put;
	vma->vm_pgoff = 0;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	ret = dma_mmap_coherent(buffer->dev, vma, block->memory, block->address, bytes);
	if (ret)
		goto put;
	vma->vm_ops = &mapping_ops;
	vma->vm_private_data = block;
	return 0;
put:
	block_put(block);
	return ret;
}
