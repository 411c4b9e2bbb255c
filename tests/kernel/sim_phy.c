// SPDX-License-Identifier: GPL-2.0-only
/*
 * The front end is an IIO device without a buffer. Its attributes have the names of ADI's
 * ad9361-phy. Values are checked and rounded as in a transceiver, so that a value that is read
 * back can differ from the written one.
 */
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/iio/iio.h>

#include "sim.h"

static unsigned int phy_delay_ms;
module_param(phy_delay_ms, uint, 0644);

enum sim_phy_item { RX_LO, TX_LO, RX_BANDWIDTH, TX_BANDWIDTH, RX_RATE, TX_RATE, ITEMS };

static const struct sim_phy_range {
	u64 min, max, step, initial;
} sim_phy_ranges[ITEMS] = {
	[RX_LO] = { 70000000, 6000000000, 2, 2400000000 },
	[TX_LO] = { 47000000, 6000000000, 2, 2450000000 },
	[RX_BANDWIDTH] = { 200000, 56000000, 1000, 18000000 },
	[TX_BANDWIDTH] = { 200000, 40000000, 1000, 18000000 },
};

#define RX_GAIN_MIN	(-3000000)	/* micro-dB */
#define RX_GAIN_MAX	71000000
#define RX_GAIN_STEP	1000000
#define TX_GAIN_MIN	(-89750000)
#define TX_GAIN_STEP	250000
#define MANUAL		0

struct sim_phy {
	u64 values[ITEMS];
	int gain[2];			/* micro-dB: receive, transmit */
	unsigned int gain_mode;
	unsigned int port[2];
};

static ssize_t sim_phy_read(struct iio_dev *indio_dev, uintptr_t item,
			    const struct iio_chan_spec *chan, char *buf)
{
	struct sim_phy *phy = iio_priv(indio_dev);

	if (item == RX_RATE || item == TX_RATE)
		return sysfs_emit(buf, "%llu\n", sim_converters_rate(item == TX_RATE));
	return sysfs_emit(buf, "%llu\n", READ_ONCE(phy->values[item]));
}

static ssize_t sim_phy_write(struct iio_dev *indio_dev, uintptr_t item,
			     const struct iio_chan_spec *chan, const char *buf, size_t len)
{
	const struct sim_phy_range *range = &sim_phy_ranges[item];
	struct sim_phy *phy = iio_priv(indio_dev);
	u64 value, beyond;
	int ret = kstrtoull(buf, 10, &value);

	if (ret)
		return ret;
	if (item == RX_RATE || item == TX_RATE) {
		ret = sim_converters_set_rate(item == TX_RATE, value);
		return ret ? ret : len;
	}
	if (value < range->min || value > range->max)
		return -EINVAL;
	msleep(min(phy_delay_ms, 60000u));
	div64_u64_rem(value, range->step, &beyond);
	WRITE_ONCE(phy->values[item], value - beyond);
	return len;
}

static int sim_phy_get_mode(struct iio_dev *indio_dev, const struct iio_chan_spec *chan)
{
	return ((struct sim_phy *)iio_priv(indio_dev))->gain_mode;
}

static int sim_phy_set_mode(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
			    unsigned int mode)
{
	((struct sim_phy *)iio_priv(indio_dev))->gain_mode = mode;
	return 0;
}

static int sim_phy_get_port(struct iio_dev *indio_dev, const struct iio_chan_spec *chan)
{
	return ((struct sim_phy *)iio_priv(indio_dev))->port[chan->output];
}

static int sim_phy_set_port(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
			    unsigned int port)
{
	((struct sim_phy *)iio_priv(indio_dev))->port[chan->output] = port;
	return 0;
}

static const char * const sim_phy_modes[] = {
	"manual", "fast_attack", "slow_attack", "hybrid",
};
static const char * const sim_phy_rx_ports[] = { "A_BALANCED", "B_BALANCED", "C_BALANCED" };
static const char * const sim_phy_tx_ports[] = { "A", "B" };

#define SIM_PHY_ENUM(_name, _items, _what) static const struct iio_enum _name = {	\
	.items = _items, .num_items = ARRAY_SIZE(_items),				\
	.get = sim_phy_get_##_what, .set = sim_phy_set_##_what,				\
}
SIM_PHY_ENUM(sim_phy_mode_enum, sim_phy_modes, mode);
SIM_PHY_ENUM(sim_phy_rx_port_enum, sim_phy_rx_ports, port);
SIM_PHY_ENUM(sim_phy_tx_port_enum, sim_phy_tx_ports, port);

#define SIM_PHY_ATTR(_name, _shared, _item) {						\
	.name = _name, .shared = _shared, .private = _item,				\
	.read = sim_phy_read, .write = sim_phy_write,					\
}

static const struct iio_chan_spec_ext_info sim_phy_rx_lo[] = {
	SIM_PHY_ATTR("frequency", IIO_SEPARATE, RX_LO), { }
};
static const struct iio_chan_spec_ext_info sim_phy_tx_lo[] = {
	SIM_PHY_ATTR("frequency", IIO_SEPARATE, TX_LO), { }
};
static const struct iio_chan_spec_ext_info sim_phy_rx[] = {
	IIO_ENUM("gain_control_mode", IIO_SEPARATE, &sim_phy_mode_enum),
	IIO_ENUM_AVAILABLE("gain_control_mode", IIO_SHARED_BY_TYPE, &sim_phy_mode_enum),
	IIO_ENUM("rf_port_select", IIO_SEPARATE, &sim_phy_rx_port_enum),
	IIO_ENUM_AVAILABLE("rf_port_select", IIO_SHARED_BY_TYPE, &sim_phy_rx_port_enum),
	SIM_PHY_ATTR("rf_bandwidth", IIO_SHARED_BY_TYPE, RX_BANDWIDTH),
	SIM_PHY_ATTR("sampling_frequency", IIO_SHARED_BY_TYPE, RX_RATE),
	{ }
};
static const struct iio_chan_spec_ext_info sim_phy_tx[] = {
	IIO_ENUM("rf_port_select", IIO_SEPARATE, &sim_phy_tx_port_enum),
	IIO_ENUM_AVAILABLE("rf_port_select", IIO_SHARED_BY_TYPE, &sim_phy_tx_port_enum),
	SIM_PHY_ATTR("rf_bandwidth", IIO_SHARED_BY_TYPE, TX_BANDWIDTH),
	SIM_PHY_ATTR("sampling_frequency", IIO_SHARED_BY_TYPE, TX_RATE),
	{ }
};

static const struct iio_chan_spec sim_phy_channels[] = {
	{ .type = IIO_ALTVOLTAGE, .indexed = 1, .output = 1, .channel = 0, .scan_index = -1,
	  .extend_name = "RX_LO", .ext_info = sim_phy_rx_lo },
	{ .type = IIO_ALTVOLTAGE, .indexed = 1, .output = 1, .channel = 1, .scan_index = -1,
	  .extend_name = "TX_LO", .ext_info = sim_phy_tx_lo },
	{ .type = IIO_VOLTAGE, .indexed = 1, .channel = 0, .scan_index = -1,
	  .info_mask_separate = BIT(IIO_CHAN_INFO_HARDWAREGAIN), .ext_info = sim_phy_rx },
	{ .type = IIO_VOLTAGE, .indexed = 1, .output = 1, .channel = 0, .scan_index = -1,
	  .info_mask_separate = BIT(IIO_CHAN_INFO_HARDWAREGAIN), .ext_info = sim_phy_tx },
};

static int sim_phy_read_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
			    int *val, int *val2, long mask)
{
	struct sim_phy *phy = iio_priv(indio_dev);
	int gain = READ_ONCE(phy->gain[chan->output]);

	*val = gain / 1000000;
	*val2 = gain % 1000000;
	return IIO_VAL_INT_PLUS_MICRO_DB;
}

static int sim_phy_write_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan,
			     int val, int val2, long mask)
{
	struct sim_phy *phy = iio_priv(indio_dev);
	int min = chan->output ? TX_GAIN_MIN : RX_GAIN_MIN;
	int max = chan->output ? 0 : RX_GAIN_MAX;
	int step = chan->output ? TX_GAIN_STEP : RX_GAIN_STEP;
	int gain;

	if (val < -1000 || val > 1000)
		return -EINVAL;
	gain = val * 1000000 + (val < 0 ? -val2 : val2);
	if (gain < min || gain > max)
		return -EINVAL;
	if (!chan->output && phy->gain_mode != MANUAL)
		return -EOPNOTSUPP;
	gain = min + (gain - min + step / 2) / step * step;
	WRITE_ONCE(phy->gain[chan->output], gain);
	return 0;
}

static int sim_phy_format(struct iio_dev *indio_dev, const struct iio_chan_spec *chan, long mask)
{
	return IIO_VAL_INT_PLUS_MICRO_DB;
}

static const struct iio_info sim_phy_info = {
	.read_raw = sim_phy_read_raw,
	.write_raw = sim_phy_write_raw,
	.write_raw_get_fmt = sim_phy_format,
};

static int sim_phy_probe(struct platform_device *pdev)
{
	struct iio_dev *indio_dev = devm_iio_device_alloc(&pdev->dev, sizeof(struct sim_phy));
	struct sim_phy *phy;
	unsigned int i;

	if (!indio_dev)
		return -ENOMEM;
	phy = iio_priv(indio_dev);
	for (i = 0; i < ITEMS; i++)
		phy->values[i] = sim_phy_ranges[i].initial;
	phy->gain[0] = 40000000;
	phy->gain[1] = -10000000;
	indio_dev->name = "iios-sim-phy";
	indio_dev->label = "phy";
	indio_dev->info = &sim_phy_info;
	indio_dev->channels = sim_phy_channels;
	indio_dev->num_channels = ARRAY_SIZE(sim_phy_channels);
	indio_dev->modes = INDIO_DIRECT_MODE;
	return devm_iio_device_register(&pdev->dev, indio_dev);
}

static struct platform_driver sim_phy_driver = {
	.driver = { .name = "iios-sim-phy" },
	.probe = sim_phy_probe,
};

static struct platform_device *sim_phy_device;

int sim_phy_init(void)
{
	int ret = platform_driver_register(&sim_phy_driver);

	if (ret)
		return ret;
	sim_phy_device = platform_device_register_simple("iios-sim-phy", PLATFORM_DEVID_NONE,
							 NULL, 0);
	if (IS_ERR(sim_phy_device)) {
		platform_driver_unregister(&sim_phy_driver);
		return PTR_ERR(sim_phy_device);
	}
	return 0;
}

void sim_phy_exit(void)
{
	if (IS_ERR_OR_NULL(sim_phy_device))
		return;
	platform_device_unregister(sim_phy_device);
	platform_driver_unregister(&sim_phy_driver);
	sim_phy_device = NULL;
}
