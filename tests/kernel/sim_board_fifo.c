// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slow converters of a board, without DMA. A timer fills or empties the kernel's software FIFO
 * (kfifo), which does not support DMABUFs. The pattern is lanes. A timestamp channel has the time.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/iio/buffer.h>
#include <linux/iio/buffer_impl.h>
#include <linux/iio/iio.h>
#include <linux/iio/kfifo_buf.h>

#include "sim_board.h"

#define PERIOD_MS	5
#define DEFAULT_RATE	1000
#define MAX_RATE	100000

struct sim_board_fifo {
	struct sim_board_device *device;
	struct iio_dev *indio_dev;
	struct delayed_work work;
	struct sim_layout layout;
	u64 rate;
	ktime_t begin;
	u64 moved;
};

static bool sim_board_fifo_scan(struct sim_board_fifo *fifo)
{
	u8 scan[(SIM_MAX_CHANNELS + 1) * sizeof(u64)] __aligned(8);

	if (fifo->device->output)
		return !iio_pop_from_buffer(fifo->indio_dev->buffer, scan);
	sim_scan_make(&fifo->layout, fifo->moved, scan);
	/* The timestamp is not part of the layout. The IIO core appends it if it is enabled. */
	iio_push_to_buffers_with_timestamp(fifo->indio_dev, scan, iio_get_time_ns(fifo->indio_dev));
	return true;
}

static void sim_board_fifo_work(struct work_struct *work)
{
	struct sim_board_fifo *fifo = container_of(work, struct sim_board_fifo, work.work);
	u64 due = mul_u64_u64_div_u64(ktime_sub(ktime_get(), fifo->begin), fifo->rate,
				      NSEC_PER_SEC);

	while (fifo->moved < due && sim_board_fifo_scan(fifo))
		fifo->moved++;
	fifo->moved = due;		/* an output skips scans without data */
	schedule_delayed_work(&fifo->work, msecs_to_jiffies(PERIOD_MS));
}

static int sim_board_fifo_mode(struct iio_dev *indio_dev, const unsigned long *mask)
{
	struct sim_board_fifo *fifo = iio_priv(indio_dev);

	sim_layout_make(&fifo->layout, indio_dev->channels, fifo->device->channel_count, mask);
	return 0;
}

static int sim_board_fifo_postenable(struct iio_dev *indio_dev)
{
	struct sim_board_fifo *fifo = iio_priv(indio_dev);

	fifo->begin = ktime_get();
	fifo->moved = 0;
	fifo->rate = sim_board_rate(fifo->device);
	if (!fifo->rate || fifo->rate > MAX_RATE)
		fifo->rate = DEFAULT_RATE;
	schedule_delayed_work(&fifo->work, 0);
	return 0;
}

static int sim_board_fifo_predisable(struct iio_dev *indio_dev)
{
	struct sim_board_fifo *fifo = iio_priv(indio_dev);

	cancel_delayed_work_sync(&fifo->work);
	return 0;
}

static const struct iio_buffer_setup_ops sim_board_fifo_ops = {
	.postenable = sim_board_fifo_postenable,
	.predisable = sim_board_fifo_predisable,
};

static const struct iio_info sim_board_fifo_info = {
	.update_scan_mode = sim_board_fifo_mode,
};

struct iio_dev *sim_board_fifo_alloc(struct sim_board_device *device, struct device *dev)
{
	struct iio_dev *indio_dev = devm_iio_device_alloc(dev, sizeof(struct sim_board_fifo));
	struct sim_board_fifo *fifo;

	if (!indio_dev)
		return NULL;
	fifo = iio_priv(indio_dev);
	fifo->device = device;
	fifo->indio_dev = indio_dev;
	fifo->layout.pattern = SIM_LANES;
	INIT_DELAYED_WORK(&fifo->work, sim_board_fifo_work);
	indio_dev->info = &sim_board_fifo_info;
	indio_dev->channels = device->channels;
	indio_dev->num_channels = device->channel_count;
	if (devm_iio_kfifo_buffer_setup(dev, indio_dev, &sim_board_fifo_ops))
		return NULL;
	if (device->output)
		indio_dev->buffer->direction = IIO_BUFFER_DIRECTION_OUT;
	return indio_dev;
}
