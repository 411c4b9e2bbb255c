/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between Linux 6.1, 6.12 and 7.3 in the interfaces that the simulator uses. */
#ifndef SIM_COMPAT_H
#define SIM_COMPAT_H

#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* DMABUFs, output buffers on dmaengine, vectors of addresses instead of scatterlists. */
#define SIM_HAS_DMABUF	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0))

/* industrialio-backend with its files in debugfs. */
#define SIM_HAS_BACKEND	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#include <linux/adi-axi-common.h>
#else
#include <linux/fpga/adi-axi-common.h>
#endif

/* The names of symbol namespaces have been strings since Linux 6.13. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define SIM_IMPORT_NS(name)	MODULE_IMPORT_NS(#name)
#else
#define SIM_IMPORT_NS(name)	MODULE_IMPORT_NS(name)
#endif

/*
 * Unregisters a device whose software node is removed next. The release function can run later,
 * because a link to the device is removed in a work item. On Linux 7.x it accesses the node.
 */
static inline void sim_unregister_from_node(struct platform_device *pdev)
{
	struct device *dev = get_device(&pdev->dev);

	platform_device_unregister(pdev);
	device_set_node(dev, NULL);
	put_device(dev);
}

#endif
