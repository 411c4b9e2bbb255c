/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build includes this file before the kernel's own adi-axi-adc.c and adi-axi-dac.c, which stay
 * unmodified. It replaces memory-mapped I/O with axi_bus_core.c. Because there is no device tree,
 * it also selects the match table entry for which each driver is probed.
 */
#ifndef AXI_CORE_SHIM_H
#define AXI_CORE_SHIM_H

#include <linux/io.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/regmap.h>

#include "axi_bus.h"

#define devm_platform_ioremap_resource(pdev, n)		axi_bus_window(&(pdev)->dev)

#undef devm_regmap_init_mmio
#define devm_regmap_init_mmio(dev, base, config)	axi_bus_regmap(dev, config)

#define device_get_match_data(dev)			axi_bus_match_data(dev)

#endif
