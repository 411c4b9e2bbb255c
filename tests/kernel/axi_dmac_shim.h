/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build includes this file before the kernel's own dma-axi-dmac.c, which stays unmodified.
 * After the real kernel headers, it replaces memory-mapped I/O, clocks and the device tree with
 * the bus of axi_bus.c, because the emulated machine has none of them for this core.
 */
#ifndef AXI_DMAC_SHIM_H
#define AXI_DMAC_SHIM_H

#include <linux/clk.h>
#include <linux/dmaengine.h>
#include <linux/io.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/of_dma.h>
#include <linux/platform_device.h>
#include <linux/regmap.h>

#include "axi_bus.h"

#undef readl
#undef writel
#define readl(address)				axi_bus_read(address)
#define writel(value, address)			axi_bus_write(value, address)

/* Linux 6.12 maps the registers with the first function, and Linux 6.1 with the second one. */
#define devm_platform_ioremap_resource(pdev, n)	axi_bus_window(&(pdev)->dev)
#define devm_ioremap_resource(dev, res)		axi_bus_window(dev)

#define devm_clk_get_enabled(dev, id)		((struct clk *)NULL)
#undef devm_clk_get
#define devm_clk_get(dev, id)			((struct clk *)NULL)

#define of_dma_controller_register(node, xlate, dma)	axi_bus_controller(dma)
#define of_dma_controller_free(node)			((void)(node))

#endif
