// SPDX-License-Identifier: GPL-2.0-only
/*
 * The converters' HDL cores as mainline IIO backends. They give access to the cores' registers,
 * of which the simulator has one, 0x88. The backends are in this module because a front end holds
 * a reference to the module of its backend, and the simulator cannot hold one to itself.
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/property.h>

#include "axi_bus.h"
#include "compat.h"

#if SIM_HAS_BACKEND
#include <linux/iio/backend.h>

static const struct software_node axi_backend_nodes[AXI_BUS_CORES] = {
	{ .name = "iios-axi-core0" },
	{ .name = "iios-axi-core1" },
	{ .name = "iios-axi-core2" },
	{ .name = "iios-axi-core3" },
	{ .name = "iios-axi-core4" },
	{ .name = "iios-axi-core5" },
	{ .name = "iios-axi-core6" },
	{ .name = "iios-axi-core7" },
};

static struct platform_device *axi_backends[AXI_BUS_CORES];

static int axi_backend_reg(struct iio_backend *back, unsigned int reg, unsigned int value,
			   unsigned int *read)
{
	struct platform_device *pdev = iio_backend_get_priv(back);

	return axi_bus_core_reg(pdev->id, reg, value, read);
}

static const struct iio_backend_ops axi_backend_ops = {
	.debugfs_reg_access = axi_backend_reg,
};

static const struct iio_backend_info axi_backend_info = {
	.name = "iios-axi-core",
	.ops = &axi_backend_ops,
};

static int axi_backend_probe(struct platform_device *pdev)
{
	return devm_iio_backend_register(&pdev->dev, &axi_backend_info, pdev);
}

static struct platform_driver axi_backend_driver = {
	.driver = { .name = "iios-axi-core" },
	.probe = axi_backend_probe,
};

const struct software_node *axi_backend_node(unsigned int core)
{
	return &axi_backend_nodes[core];
}
EXPORT_SYMBOL_GPL(axi_backend_node);

int axi_backend_init(void)
{
	unsigned int i;
	int ret = platform_driver_register(&axi_backend_driver);

	for (i = 0; i < AXI_BUS_CORES && !ret; i++) {
		struct platform_device_info info = { .name = "iios-axi-core", .id = i };

		ret = software_node_register(&axi_backend_nodes[i]);
		if (ret)
			break;
		info.fwnode = software_node_fwnode(&axi_backend_nodes[i]);
		axi_backends[i] = platform_device_register_full(&info);
		ret = PTR_ERR_OR_ZERO(axi_backends[i]);
	}
	if (ret)
		axi_backend_exit();
	return ret;
}

void axi_backend_exit(void)
{
	unsigned int i;

	for (i = 0; i < AXI_BUS_CORES; i++) {
		if (!IS_ERR_OR_NULL(axi_backends[i]))
			sim_unregister_from_node(axi_backends[i]);
		software_node_unregister(&axi_backend_nodes[i]);
	}
	platform_driver_unregister(&axi_backend_driver);
}

SIM_IMPORT_NS(IIO_BACKEND);
#else
int axi_backend_init(void)
{
	return 0;
}

void axi_backend_exit(void)
{
}
#endif
