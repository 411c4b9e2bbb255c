// SPDX-License-Identifier: GPL-2.0-only
/* The five requests of user space, and mappings of blocks. */
#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "legacy.h"

static unsigned int max_block_size = LEGACY_BLOCK_BYTES;
module_param(max_block_size, uint, 0644);
MODULE_PARM_DESC(max_block_size, "Largest size of a block in bytes");

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

/* Returns 0 with a count of 0 if no memory is left. */
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
	block->bytes_used = info->bytes_used;	/* also for a block that is refused below */
	block->flags = info->flags;
	if (state == LEGACY_DONE)
		list_del_init(&block->head);	/* it was not dequeued, so its samples are lost */
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
	legacy_block_put(vma->vm_private_data);
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
	legacy_block_put(block);
	return ret;
}
