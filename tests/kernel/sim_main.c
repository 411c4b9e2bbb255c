// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulator has one or two ADCs and a DAC, each with its own AXI-DMAC core, and a front end
 * without a buffer.
 */
#include <linux/module.h>
#include <linux/platform_device.h>

#include "sim.h"

static struct sim_converter sim_converters[] = {
	{ .name = "iios-sim-adc", .label = "rx" },
	{ .name = "iios-sim-adc2", .label = "rx2" },
	{ .name = "iios-sim-dac", .label = "tx", .core.tx = true },
};

/* Returns the converter with this number, or NULL. */
struct sim_converter *sim_converter(unsigned int number)
{
	if (sim_params_board())
		return sim_board_converter(number);
	if (number >= ARRAY_SIZE(sim_converters))
		return sim_chip_of(number);
	if (!sim_converters[number].core.client)
		return NULL;
	return &sim_converters[number];
}

/* Sets the rate of all converters of one direction, when the front end changes it. */
int sim_converters_set_rate(bool tx, u64 rate)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(sim_converters) && !ret; i++)
		if (sim_converter(i) && sim_converters[i].core.tx == tx)
			ret = sim_converter_set_rate(&sim_converters[i], rate);
	return ret;
}

u64 sim_converters_rate(bool tx)
{
	return sim_converters[tx ? 2 : 0].nominal_rate;
}

static void sim_remove_all(void)
{
	unsigned int i;

	sim_debugfs_exit();
	sim_slow_exit();
	sim_phy_exit();
	sim_board_exit();
	sim_chip_exit();
	for (i = 0; i < ARRAY_SIZE(sim_converters); i++)
		sim_converter_exit(&sim_converters[i]);
	platform_driver_unregister(&sim_converter_driver);
	sim_cores_exit();
}

static int sim_add_all(void)
{
	unsigned int i;
	int ret = 0;

	if (sim_params_board())
		return sim_board_init(sim_params_board());
	for (i = 0; i < ARRAY_SIZE(sim_converters) && !ret; i++) {
		struct sim_converter *conv = &sim_converters[i];

		if (!conv->core.tx && i >= sim_params_adcs())
			continue;
		ret = sim_params_apply(conv, i);
		if (!ret)
			ret = sim_converter_init(conv);
		if (!ret)
			sim_debugfs_add(conv);
	}
	if (!ret)
		ret = sim_chip_init(sim_params_converter());
	if (!ret)
		ret = sim_phy_init();
	if (!ret && sim_params_slow())
		ret = sim_slow_init();
	return ret;
}

static int __init sim_init(void)
{
	int ret = sim_params_check();

	if (ret)
		return ret;
	ret = sim_cores_init();
	if (ret)
		return ret;
	ret = platform_driver_register(&sim_converter_driver);
	if (ret) {
		sim_cores_exit();
		return ret;
	}
	sim_debugfs_init();
	ret = sim_add_all();
	if (ret)
		sim_remove_all();
	return ret;
}
module_init(sim_init);

static void __exit sim_exit(void)
{
	sim_remove_all();
}
module_exit(sim_exit);

MODULE_DESCRIPTION("AXI-DMAC cores, converters and a front end for the tests of iio-stream");
MODULE_LICENSE("GPL");
#if SIM_HAS_DMABUF
SIM_IMPORT_NS(IIO_DMAENGINE_BUFFER);
#endif
#if SIM_HAS_BACKEND
SIM_IMPORT_NS(IIO_BACKEND);
#endif
