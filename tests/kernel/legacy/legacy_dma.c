// SPDX-License-Identifier: GPL-2.0-only
/* Transfers the two kinds of blocks with dmaengine. */
#include <linux/dmaengine.h>

#include "legacy.h"

static enum dma_transfer_direction direction_of(struct legacy_buffer *buffer)
{
	return buffer->queue.buffer.direction == IIO_BUFFER_DIRECTION_IN ? DMA_DEV_TO_MEM : DMA_MEM_TO_DEV;
}

static size_t largest(struct legacy_buffer *buffer, size_t size)
{
	return round_down(min(size, buffer->max_size), buffer->align);
}

static void block_transferred(void *data, const struct dmaengine_result *result)
{
	struct legacy_block *block = data;

	block->bytes_used -= result->residue;
	legacy_block_done(block);
}

/* A cyclic transfer has no callback, so the core repeats it without an interrupt. */
int legacy_dma_submit(struct legacy_block *block)
{
	struct legacy_buffer *buffer = block->buffer;
	struct dma_async_tx_descriptor *desc;

	if (buffer->queue.buffer.direction == IIO_BUFFER_DIRECTION_IN)
		block->bytes_used = block->size;
	if (!block->bytes_used || block->bytes_used > block->size ||
	    block->bytes_used > largest(buffer, block->bytes_used)) {
		legacy_block_done(block);	/* nothing is transferred, and no error is reported */
		return 0;
	}
	if (block->flags & LEGACY_CYCLIC)
		desc = dmaengine_prep_dma_cyclic(buffer->chan, block->address, block->bytes_used,
						 block->bytes_used, direction_of(buffer), 0);
	else
		desc = dmaengine_prep_slave_single(buffer->chan, block->address, block->bytes_used,
						   direction_of(buffer), DMA_PREP_INTERRUPT);
	if (!desc)
		return -ENOMEM;
	if (!(block->flags & LEGACY_CYCLIC)) {
		desc->callback_result = block_transferred;
		desc->callback_param = block;
	}
	if (dma_submit_error(dmaengine_submit(desc)))
		return -EIO;
	dma_async_issue_pending(buffer->chan);
	return 0;
}

static void fileio_transferred(void *data, const struct dmaengine_result *result)
{
	struct iio_dma_buffer_block *block = data;
	unsigned long flags;

	spin_lock_irqsave(&block->queue->list_lock, flags);
	list_del(&block->head);
	spin_unlock_irqrestore(&block->queue->list_lock, flags);
	block->bytes_used -= result->residue;
	iio_dma_buffer_block_done(block);
}

static int fileio_submit(struct iio_dma_buffer_queue *queue, struct iio_dma_buffer_block *block)
{
	struct legacy_buffer *buffer = container_of(queue, struct legacy_buffer, queue);
	struct dma_async_tx_descriptor *desc;
	size_t most = largest(buffer, block->size);

	if (queue->buffer.direction == IIO_BUFFER_DIRECTION_IN)
		block->bytes_used = most;
	if (!block->bytes_used || block->bytes_used > most)
		return -EINVAL;
	desc = dmaengine_prep_slave_single(buffer->chan, block->phys_addr, block->bytes_used,
					   direction_of(buffer), DMA_PREP_INTERRUPT);
	if (!desc)
		return -ENOMEM;
	desc->callback_result = fileio_transferred;
	desc->callback_param = block;
	spin_lock_irq(&queue->list_lock);
	list_add_tail(&block->head, &buffer->fileio_active);
	spin_unlock_irq(&queue->list_lock);
	if (dma_submit_error(dmaengine_submit(desc))) {
		spin_lock_irq(&queue->list_lock);
		list_del(&block->head);
		spin_unlock_irq(&queue->list_lock);
		return -EIO;
	}
	dma_async_issue_pending(buffer->chan);
	return 0;
}

static void fileio_abort(struct iio_dma_buffer_queue *queue)
{
	struct legacy_buffer *buffer = container_of(queue, struct legacy_buffer, queue);

	dmaengine_terminate_sync(buffer->chan);
	legacy_blocks_abort(buffer);
	iio_dma_buffer_block_list_abort(queue, &buffer->fileio_active);
}

const struct iio_dma_buffer_ops legacy_fileio_ops = {
	.submit = fileio_submit,
	.abort = fileio_abort,
};
