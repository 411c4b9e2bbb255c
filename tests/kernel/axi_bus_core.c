// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes register accesses of the kernel's AXI-ADC and AXI-DAC drivers to the simulated cores, see
 * axi_core_shim.h.
 */
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/regmap.h>

#include "axi_bus.h"

static int axi_bus_core_read(void *context, unsigned int reg, unsigned int *value)
{
	*value = 0;
	return axi_bus_core_reg(to_platform_device(context)->id, reg, 0, value);
}

static int axi_bus_core_write(void *context, unsigned int reg, unsigned int value)
{
	return axi_bus_core_reg(to_platform_device(context)->id, reg, value, NULL);
}

struct regmap *axi_bus_regmap(struct device *dev, const struct regmap_config *config)
{
	struct regmap_config ours = *config;

	ours.reg_read = axi_bus_core_read;
	ours.reg_write = axi_bus_core_write;
	return devm_regmap_init(dev, NULL, dev, &ours);
}
EXPORT_SYMBOL_GPL(axi_bus_regmap);

/* The first entry of each driver's match table is the plain core. */
const void *axi_bus_match_data(struct device *dev)
{
	return dev->driver->of_match_table->data;
}
EXPORT_SYMBOL_GPL(axi_bus_match_data);
