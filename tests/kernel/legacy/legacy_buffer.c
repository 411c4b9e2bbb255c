// SPDX-License-Identifier: GPL-2.0-only
/* The IIO buffer, with the functions that drivers take from industrialio-buffer-dmaengine. */
#include <linux/cleanup.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/iio/buffer-dmaengine.h>
#include <linux/iio/sysfs.h>

#include "legacy.h"

static char *mode = "fixed";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "read() and write() of ADI's kernels: fixed, broken (any panics) or single");

static const char *const mode_names[] = { "fixed", "broken", "single" };
static int chosen;

enum legacy_mode legacy_mode(void)
{
	return chosen;
}

static int buffer_request_update(struct iio_buffer *iio)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);

	if (READ_ONCE(buffer->count))
		return 0;
	if (chosen == LEGACY_BROKEN)
		panic("iios-legacy: enabling a DMA buffer without blocks corrupts memory on ADI's kernel");
	return chosen == LEGACY_SINGLE ? 0 : iio_dma_buffer_request_update(iio);
}

static int buffer_enable(struct iio_buffer *iio, struct iio_dev *indio_dev)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);
	int ret = iio_dma_buffer_enable(iio, indio_dev);

	if (ret)
		return ret;
	guard(mutex)(&buffer->queue.lock);
	legacy_blocks_start(buffer);
	if (!buffer->count && chosen == LEGACY_SINGLE)
		legacy_single_start(buffer);
	return 0;
}

static int buffer_disable(struct iio_buffer *iio, struct iio_dev *indio_dev)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);
	int ret = iio_dma_buffer_disable(iio, indio_dev);

	guard(mutex)(&buffer->queue.lock);
	legacy_single_stop(buffer);
	return ret;
}

/* Returns the bytes that poll() compares. In mode single, the block counts in every state. */
static size_t buffer_usage(struct iio_buffer *iio)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);

	scoped_guard(mutex, &buffer->queue.lock) {
		if (buffer->count)
			return legacy_blocks_done_bytes(buffer);
		if (buffer->single)
			return buffer->single->size;
	}
	return iio_dma_buffer_usage(iio);
}

/*
 * ADI's 6.12 dereferences a null pointer here if there are blocks. It is not known what older
 * kernels do.
 */
static bool has_blocks(struct iio_buffer *iio, const char *call)
{
	if (!READ_ONCE(legacy_buffer_of(iio)->count))
		return false;
	if (chosen == LEGACY_FIXED)
		panic("iios-legacy: %s() on a buffer with blocks uses a null pointer on ADI's kernel", call);
	return true;
}

static int buffer_read(struct iio_buffer *iio, size_t n, char __user *data)
{
	if (has_blocks(iio, "read"))
		return -EBUSY;
	return chosen == LEGACY_SINGLE ? legacy_single_read(iio, n, data) : iio_dma_buffer_read(iio, n, data);
}

static int buffer_write(struct iio_buffer *iio, size_t n, const char __user *data)
{
	if (has_blocks(iio, "write"))
		return -EBUSY;
	return chosen == LEGACY_SINGLE ? legacy_single_write(iio, n, data) : iio_dma_buffer_write(iio, n, data);
}

static void buffer_release(struct iio_buffer *iio)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);

	iio_dma_buffer_release(&buffer->queue);
	put_device(buffer->dev);
	kfree(buffer);
}

/* The buffer has no functions for DMABUFs, so the core refuses to attach one with EPERM. */
static const struct iio_buffer_access_funcs buffer_access = {
	.read = buffer_read,
	.write = buffer_write,
	.set_bytes_per_datum = iio_dma_buffer_set_bytes_per_datum,
	.set_length = iio_dma_buffer_set_length,
	.request_update = buffer_request_update,
	.enable = buffer_enable,
	.disable = buffer_disable,
	.data_available = buffer_usage,
	.space_available = buffer_usage,
	.release = buffer_release,
	.modes = INDIO_BUFFER_HARDWARE,
	.flags = INDIO_BUFFER_FLAG_FIXED_WATERMARK,
};

struct legacy_buffer *legacy_buffer_known(struct iio_buffer *buffer)
{
	return buffer && buffer->access == &buffer_access ? legacy_buffer_of(buffer) : NULL;
}

static ssize_t length_align_bytes_show(struct device *dev, struct device_attribute *attr, char *text)
{
	struct iio_buffer *buffer = to_iio_dev_attr(attr)->buffer;

	return sysfs_emit(text, "%zu\n", legacy_buffer_of(buffer)->align);
}

static IIO_DEVICE_ATTR_RO(length_align_bytes, 0);

static const struct iio_dev_attr *buffer_attributes[] = {
	&iio_dev_attr_length_align_bytes,
	NULL,
};

static size_t least_width(u32 widths)
{
	return widths ? __ffs(widths) : 1;
}

static struct legacy_buffer *buffer_alloc(struct device *dev, const char *channel)
{
	struct legacy_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	struct dma_slave_caps caps;
	struct dma_chan *chan;
	int ret;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	chan = dma_request_chan(dev, channel);
	if (IS_ERR(chan)) {
		ret = PTR_ERR(chan);
		goto free;
	}
	ret = dma_get_slave_caps(chan, &caps);
	if (ret)
		goto release;
	buffer->chan = chan;
	buffer->dev = get_device(chan->device->dev);
	buffer->align = max(least_width(caps.src_addr_widths), least_width(caps.dst_addr_widths));
	buffer->max_size = dma_get_max_seg_size(buffer->dev);
	INIT_LIST_HEAD(&buffer->fileio_active);
	INIT_LIST_HEAD(&buffer->incoming);
	INIT_LIST_HEAD(&buffer->active);
	INIT_LIST_HEAD(&buffer->outgoing);
	iio_dma_buffer_init(&buffer->queue, buffer->dev, &legacy_fileio_ops);
	buffer->queue.buffer.attrs = buffer_attributes;
	buffer->queue.buffer.access = &buffer_access;
	return buffer;

release:
	dma_release_channel(chan);
free:
	kfree(buffer);
	return ERR_PTR(ret);
}

void iio_dmaengine_buffer_free(struct iio_buffer *iio)
{
	struct legacy_buffer *buffer = legacy_buffer_of(iio);

	iio_dma_buffer_exit(&buffer->queue);
	dma_release_channel(buffer->chan);
	iio_buffer_put(iio);
}
EXPORT_SYMBOL_NS_GPL(iio_dmaengine_buffer_free, IIO_DMAENGINE_BUFFER);

struct iio_buffer *iio_dmaengine_buffer_setup_ext(struct device *dev, struct iio_dev *indio_dev,
						  const char *channel, enum iio_buffer_direction dir)
{
	struct legacy_buffer *buffer = buffer_alloc(dev, channel);
	int ret;

	if (IS_ERR(buffer))
		return ERR_CAST(buffer);
	indio_dev->modes |= INDIO_BUFFER_HARDWARE;
	buffer->queue.buffer.direction = dir;
	ret = iio_device_attach_buffer(indio_dev, &buffer->queue.buffer);
	if (!ret)
		return &buffer->queue.buffer;
	iio_dmaengine_buffer_free(&buffer->queue.buffer);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(iio_dmaengine_buffer_setup_ext, IIO_DMAENGINE_BUFFER);

static void free_action(void *buffer)
{
	iio_dmaengine_buffer_free(buffer);
}

int devm_iio_dmaengine_buffer_setup_ext(struct device *dev, struct iio_dev *indio_dev,
					const char *channel, enum iio_buffer_direction dir)
{
	struct iio_buffer *buffer = iio_dmaengine_buffer_setup_ext(dev, indio_dev, channel, dir);

	return IS_ERR(buffer) ? PTR_ERR(buffer) : devm_add_action_or_reset(dev, free_action, buffer);
}
EXPORT_SYMBOL_NS_GPL(devm_iio_dmaengine_buffer_setup_ext, IIO_DMAENGINE_BUFFER);

/*
 * There is no exit function, so the module stays loaded. The core's files have pointers to its
 * functions.
 */
static int __init legacy_init(void)
{
	chosen = match_string(mode_names, ARRAY_SIZE(mode_names), mode);
	if (chosen < 0) {
		pr_err("iios-legacy: mode is fixed, broken or single, not %s\n", mode);
		return -EINVAL;
	}
	return legacy_file_init();
}
module_init(legacy_init);

MODULE_DESCRIPTION("Stand-in for the DMA buffers of Analog Devices' kernels");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(IIO_DMA_BUFFER);
