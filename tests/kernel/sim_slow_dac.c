// SPDX-License-Identifier: GPL-2.0-only
/*
 * iios-sim-slow-dac (parameter slow=1) is a DAC without DMA. A timer takes scans out of the
 * kernel's software FIFO (kfifo). Parameters show how many scans it has played, and the value of
 * the last one.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/workqueue.h>
#include <linux/iio/buffer.h>
#include <linux/iio/buffer_impl.h>
#include <linux/iio/iio.h>
#include <linux/iio/kfifo_buf.h>

#include "sim.h"

#define PERIOD_MS	5
#define RATE		20000

static unsigned long long slow_played;
module_param(slow_played, ullong, 0644);
static unsigned int slow_last;
module_param(slow_last, uint, 0444);

struct sim_slow_dac {
	struct iio_dev *indio_dev;
	struct delayed_work work;
	ktime_t begin;
	u64 moved;
};

static const struct iio_chan_spec sim_slow_dac_channels[] = {
	{ .type = IIO_VOLTAGE, .indexed = 1, .channel = 0, .output = 1, .scan_index = 0,
	  .scan_type = { .sign = 's', .realbits = 16, .storagebits = 16, .endianness = IIO_LE },
	  .info_mask_shared_by_all = BIT(IIO_CHAN_INFO_SAMP_FREQ) },
};

static void sim_slow_dac_pop(struct work_struct *work)
{
	struct sim_slow_dac *dac = container_of(work, struct sim_slow_dac, work.work);
	u64 due = mul_u64_u64_div_u64(ktime_sub(ktime_get(), dac->begin), RATE, NSEC_PER_SEC);
	u8 scan[sizeof(u64)] __aligned(8);

	for (; dac->moved < due; dac->moved++) {
		if (iio_pop_from_buffer(dac->indio_dev->buffer, scan))
			break;
		slow_played++;
		slow_last = scan[0] | scan[1] << 8;
	}
	dac->moved = due;
	schedule_delayed_work(&dac->work, msecs_to_jiffies(PERIOD_MS));
}

static int sim_slow_dac_postenable(struct iio_dev *indio_dev)
{
	struct sim_slow_dac *dac = iio_priv(indio_dev);

	dac->begin = ktime_get();
	dac->moved = 0;
	schedule_delayed_work(&dac->work, 0);
	return 0;
}

static int sim_slow_dac_predisable(struct iio_dev *indio_dev)
{
	cancel_delayed_work_sync(&((struct sim_slow_dac *)iio_priv(indio_dev))->work);
	return 0;
}

static const struct iio_buffer_setup_ops sim_slow_dac_buffer_ops = {
	.postenable = sim_slow_dac_postenable,
	.predisable = sim_slow_dac_predisable,
};

static int sim_slow_dac_read_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
				 int *val, int *val2, long mask)
{
	*val = RATE;
	return IIO_VAL_INT;
}

static const struct iio_info sim_slow_dac_info = {
	.read_raw = sim_slow_dac_read_raw,
};

int sim_slow_dac_add(struct device *dev)
{
	struct iio_dev *indio_dev = devm_iio_device_alloc(dev, sizeof(struct sim_slow_dac));
	struct sim_slow_dac *dac;
	int ret;

	if (!indio_dev)
		return -ENOMEM;
	dac = iio_priv(indio_dev);
	dac->indio_dev = indio_dev;
	INIT_DELAYED_WORK(&dac->work, sim_slow_dac_pop);
	indio_dev->name = "iios-sim-slow-dac";
	indio_dev->info = &sim_slow_dac_info;
	indio_dev->channels = sim_slow_dac_channels;
	indio_dev->num_channels = ARRAY_SIZE(sim_slow_dac_channels);
	indio_dev->modes = INDIO_DIRECT_MODE;
	ret = devm_iio_kfifo_buffer_setup(dev, indio_dev, &sim_slow_dac_buffer_ops);
	if (ret)
		return ret;
	indio_dev->buffer->direction = IIO_BUFFER_DIRECTION_OUT;
	return devm_iio_device_register(dev, indio_dev);
}
