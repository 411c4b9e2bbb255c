// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bus between the kernel's AXI-DMAC driver and the simulated cores. It is a separate module so
 * that the driver depends on it and not on the simulator. The simulator can then be unloaded, and
 * loaded with other parameters, while the driver stays loaded.
 */
#include <linux/dmaengine.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "axi_bus.h"

/* This is real memory, because the driver's regmap in debugfs reads it directly. */
static u8 axi_bus_memory[AXI_BUS_CORES][AXI_BUS_WINDOW] __aligned(AXI_BUS_WINDOW);
static const struct axi_bus_ops *axi_bus_ops;

void axi_bus_attach(const struct axi_bus_ops *ops)
{
	WRITE_ONCE(axi_bus_ops, ops);
}
EXPORT_SYMBOL_GPL(axi_bus_attach);

u32 axi_bus_read(const volatile void __iomem *address)
{
	const struct axi_bus_ops *ops = READ_ONCE(axi_bus_ops);
	unsigned long offset = (uintptr_t)address - (uintptr_t)axi_bus_memory;

	return ops ? ops->read(offset / AXI_BUS_WINDOW, offset % AXI_BUS_WINDOW) : ~0U;
}
EXPORT_SYMBOL_GPL(axi_bus_read);

void axi_bus_write(u32 value, volatile void __iomem *address)
{
	const struct axi_bus_ops *ops = READ_ONCE(axi_bus_ops);
	unsigned long offset = (uintptr_t)address - (uintptr_t)axi_bus_memory;

	if (ops)
		ops->write(offset / AXI_BUS_WINDOW, offset % AXI_BUS_WINDOW, value);
}
EXPORT_SYMBOL_GPL(axi_bus_write);

void __iomem *axi_bus_window(struct device *dev)
{
	int core = to_platform_device(dev)->id;

	if (core < 0 || core >= AXI_BUS_CORES)
		return IOMEM_ERR_PTR(-ENODEV);
	return (void __iomem *)axi_bus_memory[core];
}
EXPORT_SYMBOL_GPL(axi_bus_window);

int axi_bus_controller(struct dma_device *dma)
{
	const struct axi_bus_ops *ops = READ_ONCE(axi_bus_ops);

	return ops ? ops->controller(dma) : -ENODEV;
}
EXPORT_SYMBOL_GPL(axi_bus_controller);

int axi_bus_core_reg(unsigned int core, unsigned int reg, u32 value, u32 *read)
{
	const struct axi_bus_ops *ops = READ_ONCE(axi_bus_ops);

	return ops ? ops->core_reg(core, reg, value, read) : -ENODEV;
}

static int __init axi_bus_init(void)
{
	return axi_backend_init();
}
module_init(axi_bus_init);

static void __exit axi_bus_exit(void)
{
	axi_backend_exit();
}
module_exit(axi_bus_exit);

MODULE_DESCRIPTION("Bus between dma-axi-dmac and the iio-stream simulator");
MODULE_LICENSE("GPL");
