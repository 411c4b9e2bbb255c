// SPDX-License-Identifier: GPL-2.0-only
/*
 * iios-sim-slow (parameter slow=1) is an ADC without DMA, like most ADCs. A timer pushes scans
 * into the kernel's software FIFO (kfifo), which does not support DMABUFs. The pattern is lanes.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/workqueue.h>
#include <linux/iio/buffer.h>
#include <linux/iio/iio.h>
#include <linux/iio/kfifo_buf.h>

#include "sim.h"

#define CHANNELS	2
#define PERIOD_MS	5
#define MAX_RATE	1000000

struct sim_slow {
	struct iio_dev *indio_dev;
	struct delayed_work work;
	struct sim_layout layout;
	unsigned int rate;
	ktime_t begin;
	u64 pushed;
};

static const struct iio_chan_spec sim_slow_channels[CHANNELS] = {
	{ .type = IIO_VOLTAGE, .indexed = 1, .channel = 0, .scan_index = 0,
	  .scan_type = { .sign = 's', .realbits = 12, .storagebits = 16, .endianness = IIO_LE },
	  .info_mask_shared_by_all = BIT(IIO_CHAN_INFO_SAMP_FREQ) },
	{ .type = IIO_VOLTAGE, .indexed = 1, .channel = 1, .scan_index = 1,
	  .scan_type = { .sign = 's', .realbits = 12, .storagebits = 16, .endianness = IIO_LE },
	  .info_mask_shared_by_all = BIT(IIO_CHAN_INFO_SAMP_FREQ) },
};

/* Masks of a sequencer that converts one channel or the other, but never both. */
static const unsigned long sim_slow_masks[] = { BIT(0), BIT(1), 0 };

static bool slow_single;
module_param(slow_single, bool, 0444);

static void sim_slow_push(struct work_struct *work)
{
	struct sim_slow *slow = container_of(work, struct sim_slow, work.work);
	u8 scan[CHANNELS * sizeof(u64)] __aligned(8);
	u64 due = mul_u64_u64_div_u64(ktime_sub(ktime_get(), slow->begin), slow->rate,
				      NSEC_PER_SEC);

	for (; slow->pushed < due; slow->pushed++) {
		sim_scan_make(&slow->layout, slow->pushed, scan);
		iio_push_to_buffers(slow->indio_dev, scan);
	}
	schedule_delayed_work(&slow->work, msecs_to_jiffies(PERIOD_MS));
}

static int sim_slow_scan_mode(struct iio_dev *indio_dev, const unsigned long *mask)
{
	struct sim_slow *slow = iio_priv(indio_dev);

	sim_layout_make(&slow->layout, sim_slow_channels, CHANNELS, mask);
	return 0;
}

static int sim_slow_postenable(struct iio_dev *indio_dev)
{
	struct sim_slow *slow = iio_priv(indio_dev);

	slow->begin = ktime_get();
	slow->pushed = 0;
	schedule_delayed_work(&slow->work, 0);
	return 0;
}

static int sim_slow_predisable(struct iio_dev *indio_dev)
{
	struct sim_slow *slow = iio_priv(indio_dev);

	cancel_delayed_work_sync(&slow->work);
	return 0;
}

static const struct iio_buffer_setup_ops sim_slow_buffer_ops = {
	.postenable = sim_slow_postenable,
	.predisable = sim_slow_predisable,
};

static int sim_slow_read_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
			     int *val, int *val2, long mask)
{
	*val = ((struct sim_slow *)iio_priv(indio_dev))->rate;
	return IIO_VAL_INT;
}

static int sim_slow_write_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
			      int val, int val2, long mask)
{
	if (val < 1 || val > MAX_RATE || val2)
		return -EINVAL;
	if (iio_buffer_enabled(indio_dev))
		return -EBUSY;
	((struct sim_slow *)iio_priv(indio_dev))->rate = val;
	return 0;
}

static const struct iio_info sim_slow_info = {
	.read_raw = sim_slow_read_raw,
	.write_raw = sim_slow_write_raw,
	.update_scan_mode = sim_slow_scan_mode,
};

static int sim_slow_probe(struct platform_device *pdev)
{
	struct iio_dev *indio_dev = devm_iio_device_alloc(&pdev->dev, sizeof(struct sim_slow));
	struct sim_slow *slow;
	int ret;

	if (!indio_dev)
		return -ENOMEM;
	slow = iio_priv(indio_dev);
	slow->indio_dev = indio_dev;
	slow->layout.pattern = SIM_LANES;
	slow->rate = 1000;
	INIT_DELAYED_WORK(&slow->work, sim_slow_push);
	indio_dev->name = "iios-sim-slow";
	indio_dev->label = "slow";
	indio_dev->info = &sim_slow_info;
	indio_dev->channels = sim_slow_channels;
	indio_dev->num_channels = CHANNELS;
	indio_dev->modes = INDIO_DIRECT_MODE;
	if (slow_single)
		indio_dev->available_scan_masks = sim_slow_masks;
	ret = devm_iio_kfifo_buffer_setup(&pdev->dev, indio_dev, &sim_slow_buffer_ops);
	if (!ret)
		ret = devm_iio_device_register(&pdev->dev, indio_dev);
	return ret ? ret : sim_slow_dac_add(&pdev->dev);
}

static struct platform_driver sim_slow_driver = {
	.driver = { .name = "iios-sim-slow" },
	.probe = sim_slow_probe,
};

static struct platform_device *sim_slow_device;

int sim_slow_init(void)
{
	int ret = platform_driver_register(&sim_slow_driver);

	if (ret)
		return ret;
	sim_slow_device = platform_device_register_simple("iios-sim-slow", PLATFORM_DEVID_NONE,
							  NULL, 0);
	if (!IS_ERR(sim_slow_device))
		return 0;
	platform_driver_unregister(&sim_slow_driver);
	return PTR_ERR(sim_slow_device);
}

void sim_slow_exit(void)
{
	if (IS_ERR_OR_NULL(sim_slow_device))
		return;
	platform_device_unregister(sim_slow_device);
	platform_driver_unregister(&sim_slow_driver);
	sim_slow_device = NULL;
}
