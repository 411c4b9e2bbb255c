// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a board's devices in debugfs: ADI's direct_reg_access and other files of the
 * drivers. direct_reg_access reaches a converter's core if bit 31 of the address is set, and an
 * SPI chip otherwise.
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/iio/iio.h>

#include "sim_board.h"

#define CORE	BIT(31)
#define WINDOW	0xffff			/* mask of the core's addresses */

static int sim_board_core_reg(struct sim_board_device *device, unsigned int reg,
			      unsigned int value, unsigned int *read)
{
	if (!reg && read) {
		*read = device->version;
		return 0;
	}
	return sim_xflow_core_reg(device->conv, reg, value, read);
}

int sim_board_reg(struct iio_dev *indio_dev, unsigned int reg, unsigned int value,
		  unsigned int *read)
{
	struct sim_board_device *device = iio_device_get_drvdata(indio_dev);
	u32 *chip;

	if (device->conv && device->core && (device->plain_core || reg & CORE)) {
		if (reg % sizeof(u32))
			return -EINVAL;
		return sim_board_core_reg(device, reg & WINDOW, value, read);
	}
	/* The addresses of an SPI chip have fewer bits than `reg`. */
	chip = &device->chip[reg % SIM_BOARD_REGISTERS];
	if (read)
		*read = READ_ONCE(*chip);
	else
		WRITE_ONCE(*chip, value);
	return 0;
}

static ssize_t sim_board_debug_read(struct file *file, char __user *user, size_t count, loff_t *at)
{
	struct sim_board_debug *debug = file->private_data;
	char *text = kmalloc(PAGE_SIZE, GFP_KERNEL);
	ssize_t length;

	if (!text)
		return -ENOMEM;
	length = sim_board_value_show(debug->value, text, PAGE_SIZE);
	if (length >= 0)
		length = simple_read_from_buffer(user, count, at, text, length);
	kfree(text);
	return length;
}

static ssize_t sim_board_debug_write(struct file *file, const char __user *user, size_t count,
				     loff_t *at)
{
	struct sim_board_debug *debug = file->private_data;
	char *text;
	int ret;

	if (count >= PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(user, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = sim_board_value_write(debug->value, strim(text));
	kfree(text);
	return ret ? ret : count;
}

static const struct file_operations sim_board_debug_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = sim_board_debug_read,
	.write = sim_board_debug_write,
};

/* Called after the IIO device was registered. The kernel removes its folder. */
void sim_board_debug_add(struct sim_board_device *device, struct iio_dev *indio_dev)
{
	struct dentry *dir = iio_get_debugfs_dentry(indio_dev);
	struct sim_board_debug *debug;

	if (!device->registers || IS_ERR_OR_NULL(dir))
		return; /* the kernel makes no folder in this case */
	list_for_each_entry(debug, &device->debugs, list)
		debugfs_create_file(debug->name, 0644, dir, debug, &sim_board_debug_ops);
}
