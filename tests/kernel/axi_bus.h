/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AXI_BUS_H
#define AXI_BUS_H

#include <linux/types.h>

struct device;
struct dma_device;
struct regmap;
struct regmap_config;
struct software_node;

/* The simulator's functions behind the bus. read() and write() are called in any context. */
struct axi_bus_ops {
	u32 (*read)(unsigned int core, unsigned int reg);
	void (*write)(unsigned int core, unsigned int reg, u32 value);
	int (*controller)(struct dma_device *dma);
	/* Accesses a register of the converter's core. May sleep. */
	int (*core_reg)(unsigned int core, unsigned int reg, u32 value, u32 *read);
};

#define AXI_BUS_CORES	8
#define AXI_BUS_WINDOW	4096

/* Attaches the simulator to the bus. NULL detaches it. */
void axi_bus_attach(const struct axi_bus_ops *ops);

/* The AXI-DMAC driver calls these functions (axi_dmac_shim.h). */
u32 axi_bus_read(const volatile void __iomem *address);
void axi_bus_write(u32 value, volatile void __iomem *address);
void __iomem *axi_bus_window(struct device *dev);
int axi_bus_controller(struct dma_device *dma);

/* The drivers of the converters' cores call these functions (axi_core_shim.h). */
struct regmap *axi_bus_regmap(struct device *dev, const struct regmap_config *config);
const void *axi_bus_match_data(struct device *dev);

/* These functions are for the backends (axi_backend.c). */
int axi_bus_core_reg(unsigned int core, unsigned int reg, u32 value, u32 *read);
const struct software_node *axi_backend_node(unsigned int core);
int axi_backend_init(void);
void axi_backend_exit(void);

#endif
