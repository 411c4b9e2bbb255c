// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register 0x88 of the converter's core, which reports overflow and underflow. Kernels give access
 * to it in debugfs in two ways: backendK/direct_reg_access (mainline), and direct_reg_access with
 * bit 31 set in the address (ADI's kernels).
 */
#include <linux/delay.h>
#include <linux/platform_device.h>
#include <linux/property.h>

#include "sim.h"

#if SIM_HAS_BACKEND
#include <linux/iio/backend.h>
#endif

#define REG_VERSION	0x00
#define REG_XFLOW	0x88
#define ADI_CORE	BIT(31)

/* Returns the version that ADI's cores have in their first register. */
static u32 sim_core_version(struct sim_converter *conv)
{
	return conv->core.tx ? ADI_AXI_PCORE_VER(9, 1, 'b') : ADI_AXI_PCORE_VER(10, 1, 'b');
}

int sim_xflow_core_reg(struct sim_converter *conv, unsigned int reg, u32 value, u32 *read)
{
	u32 flags;

	if (conv->xflow_delay_ms)
		msleep(min_t(u64, conv->xflow_delay_ms, 60000));
	conv->xflow_reads += !!read;
	if (reg != REG_XFLOW) {
		if (read)
			*read = reg == REG_VERSION ? sim_core_version(conv) : 0;
		return 0;
	}
	flags = sim_stream_xflow(&conv->stream, read ? 0 : value);
	if (read)
		*read = flags;
	return 0;
}

int sim_xflow_bus(unsigned int core, unsigned int reg, u32 value, u32 *read)
{
	struct sim_converter *conv = sim_converter(core);

	if (conv && conv->chip)
		return sim_chip_core_reg(conv, reg, value, read);
	return conv ? sim_xflow_core_reg(conv, reg, value, read) : -ENODEV;
}

/* Accesses a chip on SPI, which gets only twelve bits of an address. */
static int sim_spi_reg(struct sim_converter *conv, unsigned int reg, unsigned int value,
		       unsigned int *read)
{
	u8 *cell = &conv->spi_file[reg % sizeof(conv->spi_file)];

	if (read) {
		*read = *cell;
		return 0;
	}
	*cell = value;
	conv->spi_writes++;
	return 0;
}

/*
 * Accesses the registers of the core if bit 31 of the address is set, as on ADI's kernels. The
 * front end itself has no registers, so it reads as 0.
 */
int sim_xflow_front_end(struct iio_dev *indio_dev, unsigned int reg, unsigned int value,
			unsigned int *read)
{
	struct sim_converter *conv = sim_from_iio(indio_dev);

	if (conv->xflow == SIM_XFLOW_SPI)
		return sim_spi_reg(conv, reg, value, read);
	if (reg & ADI_CORE) {
		if (conv->xflow != SIM_XFLOW_ADI)
			return -EINVAL;
		return sim_xflow_core_reg(conv, reg & ~ADI_CORE, value, read);
	}
	if (read)
		*read = 0;
	return 0;
}

/*
 * Returns the node through which the front end of the platform device finds the backend. The
 * property is not registered with the device itself, which would make a "managed" node. The IIO
 * device inherits the node of its parent, and the kernel would release a managed node twice.
 */
struct fwnode_handle *sim_xflow_node(struct sim_converter *conv)
{
#if SIM_HAS_BACKEND
	if (conv->xflow == SIM_XFLOW_MAINLINE) {
		struct property_entry entries[] = {
			PROPERTY_ENTRY_REF("io-backends", axi_backend_node(conv->core.id)),
			{ }
		};

		return fwnode_create_software_node(entries, NULL);
	}
#endif
	return NULL;
}

/* Called after the IIO device was registered. */
int sim_xflow_add(struct sim_converter *conv, struct iio_dev *indio_dev)
{
#if SIM_HAS_BACKEND
	struct iio_backend *back;

	if (conv->xflow != SIM_XFLOW_MAINLINE)
		return 0;
	back = devm_iio_backend_get(indio_dev->dev.parent, NULL);
	if (IS_ERR(back))
		return PTR_ERR(back);
	iio_backend_debugfs_add(back, indio_dev);
#endif
	return 0;
}
