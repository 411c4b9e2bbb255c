// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulator: one or two ADCs and a DAC, each behind an AXI-DMAC core of its own, and a front
 * end. Parameters and knobs are described in docs/simulator.md.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "sim.h"

static char *scan = "s16";
module_param(scan, charp, 0444);
static char *pattern = "ramp";
module_param(pattern, charp, 0444);
static char *check = "ramp";
module_param(check, charp, 0444);
static unsigned int counter;
module_param(counter, uint, 0444);
static unsigned int adcs = 1;
module_param(adcs, uint, 0444);
static unsigned int align = 8;
module_param(align, uint, 0444);
static bool sg = true;
module_param(sg, bool, 0444);
static unsigned long long rate;
module_param(rate, ullong, 0444);
static unsigned long long fifo = 4096;
module_param(fifo, ullong, 0444);
static unsigned long long start;
module_param(start, ullong, 0444);

#define NOMINAL_RATE	30720000

static struct sim_converter sim_converters[] = {
	{ .name = "iios-sim-adc", .label = "rx" },
	{ .name = "iios-sim-adc2", .label = "rx2" },
	{ .name = "iios-sim-dac", .label = "tx", .core.tx = true },
};

static int __init sim_add(unsigned int number)
{
	struct sim_converter *conv = &sim_converters[number];
	int ret = sim_channels_make(conv, scan, counter);

	if (ret)
		return ret;
	conv->core.id = number;
	conv->core.sg = sg;
	conv->core.align = align;
	conv->core.refuse_at = SIM_NEVER;
	conv->core.refuse_count = 1;
	conv->layout.start = conv->core.tx ? 0 : start;
	conv->layout.pattern = sim_pattern_parse(conv->core.tx ? check : pattern);
	conv->check.pattern = conv->layout.pattern;
	conv->nominal_rate = rate ? rate : NOMINAL_RATE;
	conv->stream.rate = rate;
	conv->stream.fifo = fifo;
	conv->stream.faults.stall_at = SIM_NEVER;
	conv->stream.faults.dead_at = SIM_NEVER;
	conv->stream.faults.drop_at = SIM_NEVER;
	return sim_converter_init(conv);
}

static void sim_remove_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_converters); i++)
		sim_converter_exit(&sim_converters[i]);
	platform_driver_unregister(&sim_converter_driver);
	sim_cores_exit();
}

static int __init sim_init(void)
{
	unsigned int i;
	int ret;

	if (!is_power_of_2(align) || align < 2 || align > 16 || adcs > 2 || rate > SIM_MAX_RATE ||
	    sim_pattern_parse(pattern) < 0 || sim_pattern_parse(check) < 0)
		return -EINVAL;
	ret = sim_cores_init();
	if (ret)
		return ret;
	ret = platform_driver_register(&sim_converter_driver);
	if (ret) {
		sim_cores_exit();
		return ret;
	}
	for (i = 0; i < ARRAY_SIZE(sim_converters) && !ret; i++)
		if (sim_converters[i].core.tx || i < adcs)
			ret = sim_add(i);
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

MODULE_DESCRIPTION("AXI-DMAC cores, ADCs and DACs for the tests of iio-stream");
MODULE_LICENSE("GPL");
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("IIO_DMAENGINE_BUFFER");
#elif SIM_HAS_DMABUF
MODULE_IMPORT_NS(IIO_DMAENGINE_BUFFER);
#endif
