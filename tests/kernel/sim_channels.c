// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IIO channels of a converter: four voltages, which are I and Q of two signals, in one of
 * several scan types. An ADC can also have a counter.
 */
#include <linux/string.h>

#include "sim.h"

static const struct sim_scan_type {
	const char *name;
	u8 realbits, storagebits, shift;
	enum iio_endian endianness;
} sim_scan_types[] = {
	{ "s16", 16, 16, 0, IIO_LE },
	{ "s12", 12, 16, 0, IIO_LE },
	{ "s14l", 14, 16, 2, IIO_LE },
	{ "be16", 16, 16, 0, IIO_BE },
	{ "s32", 32, 32, 0, IIO_LE },
	{ "s24", 24, 32, 0, IIO_LE },
};

static void sim_channel_voltage(struct iio_chan_spec *chan, unsigned int number, bool output,
				const struct sim_scan_type *type)
{
	chan->type = IIO_VOLTAGE;
	chan->indexed = 1;
	chan->channel = number / 2;
	chan->modified = 1;
	chan->channel2 = number % 2 ? IIO_MOD_Q : IIO_MOD_I;
	chan->output = output;
	chan->scan_index = number;
	chan->scan_type.sign = 's';
	chan->scan_type.realbits = type->realbits;
	chan->scan_type.storagebits = type->storagebits;
	chan->scan_type.shift = type->shift;
	chan->scan_type.endianness = type->endianness;
	chan->info_mask_shared_by_all = BIT(IIO_CHAN_INFO_SAMP_FREQ);
}

static void sim_channel_counter(struct iio_chan_spec *chan, unsigned int bits)
{
	chan->type = IIO_COUNT;
	chan->indexed = 1;
	chan->scan_index = SIM_VOLTAGES;
	chan->scan_type.sign = 'u';
	chan->scan_type.realbits = bits;
	chan->scan_type.storagebits = bits;
	chan->scan_type.endianness = IIO_LE;
}

int sim_channels_make(struct sim_converter *conv, const char *scan, unsigned int counter)
{
	const struct sim_scan_type *type = sim_scan_types;
	unsigned int i;

	while (strcmp(type->name, scan))
		if (++type == sim_scan_types + ARRAY_SIZE(sim_scan_types))
			return -EINVAL;
	if (counter && counter != 32 && counter != 64)
		return -EINVAL;
	for (i = 0; i < SIM_VOLTAGES; i++)
		sim_channel_voltage(&conv->channels[i], i, conv->core.tx, type);
	conv->channel_count = SIM_VOLTAGES;
	if (counter && !conv->core.tx)
		sim_channel_counter(&conv->channels[conv->channel_count++], counter);
	return 0;
}
