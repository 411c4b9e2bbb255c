// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices of a real board (parameter board=FILE). Devices with DMA are converters like those of
 * the simulator. The others have a kfifo or no buffer. All devices are registered in the order of
 * the board, so that they get the same numbers.
 */
#include <linux/kernel_read_file.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/iio/iio.h>
#include <linux/iio/trigger.h>

#include "sim_board.h"

#define MAX_TEXT	SZ_1M

static char *sim_board_text;
static struct sim_converter *sim_board_converters[AXI_BUS_CORES];
static bool sim_board_driven;

struct sim_converter *sim_board_converter(unsigned int core)
{
	return core < AXI_BUS_CORES ? sim_board_converters[core] : NULL;
}

/* Called before the IIO device is registered. Copies and extends its info. */
void sim_board_dress(struct sim_board_device *device, struct iio_dev *indio_dev)
{
	device->info = *indio_dev->info;
	device->info.attrs = &device->group;
	device->info.debugfs_reg_access = device->registers ? sim_board_reg : NULL;
	indio_dev->info = &device->info;
	indio_dev->name = device->name;
	indio_dev->label = device->label;
	if (device->masks[0])
		indio_dev->available_scan_masks = device->masks;
	iio_device_set_drvdata(indio_dev, device);
}

static const struct iio_info sim_board_plain_info;

static int sim_board_probe(struct platform_device *pdev)
{
	struct sim_board_device *device =
		*(struct sim_board_device **)dev_get_platdata(&pdev->dev);
	struct iio_dev *indio_dev;
	int ret;

	if (device->kind == SIM_BOARD_FIFO)
		indio_dev = sim_board_fifo_alloc(device, &pdev->dev);
	else
		indio_dev = devm_iio_device_alloc(&pdev->dev, 0);
	if (!indio_dev)
		return -ENOMEM;
	if (!indio_dev->info)
		indio_dev->info = &sim_board_plain_info;
	indio_dev->modes |= INDIO_DIRECT_MODE;
	sim_board_dress(device, indio_dev);
	ret = devm_iio_device_register(&pdev->dev, indio_dev);
	if (!ret)
		sim_board_debug_add(device, indio_dev);
	return ret;
}

static struct platform_driver sim_board_driver = {
	.driver = { .name = "iios-board" },
	.probe = sim_board_probe,
};

static int sim_board_add_plain(struct sim_board_device *device)
{
	struct platform_device_info info = {
		.name = "iios-board",
		.id = device->number,
		.data = &device,
		.size_data = sizeof(device),
	};

	device->pdev = platform_device_register_full(&info);
	return PTR_ERR_OR_ZERO(device->pdev);
}

/* Returns the alignment of the board's device if the cores support it, otherwise `align`. */
static unsigned int sim_board_align(const struct sim_board_device *device, unsigned int align)
{
	return device->align >= 2 && device->align <= 16 && is_power_of_2(device->align) ?
	       device->align : align;
}

static int sim_board_add_converter(struct sim_board_device *device)
{
	struct sim_converter *conv;
	unsigned int core = 0, i;
	bool first = !device->output;
	u64 rate;
	int ret;

	while (core < AXI_BUS_CORES && sim_board_converters[core])
		core++;
	if (core == AXI_BUS_CORES)
		return -ENOSPC;
	for (i = 0; i < core; i++)
		first &= sim_board_converters[i]->core.tx;
	conv = kzalloc(sizeof(*conv), GFP_KERNEL);
	if (!conv)
		return -ENOMEM;
	sim_board_converters[core] = conv;
	device->conv = conv;
	conv->board = device;
	conv->name = device->name ?: "unnamed";
	conv->core.tx = device->output;
	snprintf(conv->platform_name, sizeof(conv->platform_name), "iios-sim-board.%u", core);
	sim_params_apply_board(conv, core, first);
	conv->core.align = sim_board_align(device, conv->core.align);
	memcpy(conv->channels, device->channels, sizeof(conv->channels));
	conv->channel_count = device->channel_count;
	rate = sim_board_rate(device);
	if (rate && !conv->stream.rate)
		conv->nominal_rate = rate;
	ret = sim_converter_init(conv);
	if (!ret)
		sim_debugfs_add(conv);
	return ret;
}

static void sim_board_release(struct device *dev)
{
	kfree(dev);
}

/* Adds a device on the bus that is not an IIO device, such as iio_sysfs_trigger. */
static int sim_board_add_bus(struct sim_board_device *device)
{
	struct device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int ret;

	if (!dev)
		return -ENOMEM;
	dev->bus = &iio_bus_type;
	dev->release = sim_board_release;
	dev->groups = device->groups;
	dev_set_name(dev, "%s", device->name);
	ret = device_register(dev);
	if (ret)
		put_device(dev);
	else
		device->bus_device = dev;
	return ret;
}

static int sim_board_add_trigger(struct sim_board_device *device)
{
	struct iio_trigger *trigger = iio_trigger_alloc(NULL, "%s", device->name);
	int ret;

	if (!trigger)
		return -ENOMEM;
	ret = iio_trigger_register(trigger);
	if (ret)
		iio_trigger_free(trigger);
	else
		device->trigger = trigger;
	return ret;
}

static int sim_board_add(struct sim_board_device *device)
{
	int ret = sim_board_attrs_make(device);

	if (ret)
		return ret;
	switch (device->kind) {
	case SIM_BOARD_DMA:
		return sim_board_add_converter(device);
	case SIM_BOARD_BUS:
		return sim_board_add_bus(device);
	case SIM_BOARD_TRIGGER:
		return sim_board_add_trigger(device);
	default:
		return sim_board_add_plain(device);
	}
}

static int sim_board_read(const char *path)
{
	void *text = NULL;
	ssize_t size;

	size = kernel_read_file_from_path(path, 0, &text, MAX_TEXT, NULL, READING_FIRMWARE);
	if (size < 0) {
		pr_err("iios-sim: cannot read the board's description %s (%zd)\n", path, size);
		return size;
	}
	sim_board_text = kvmalloc(size + 1, GFP_KERNEL);
	if (sim_board_text) {
		memcpy(sim_board_text, text, size);
		sim_board_text[size] = 0;
	}
	vfree(text);
	return sim_board_text ? sim_board_parse(sim_board_text) : -ENOMEM;
}

int sim_board_init(const char *path)
{
	struct sim_board_device *device;
	int ret = sim_board_read(path);

	if (ret)
		return ret;
	ret = platform_driver_register(&sim_board_driver);
	if (ret)
		return ret;
	sim_board_driven = true;
	list_for_each_entry(device, &sim_board_devices, list) {
		ret = sim_board_add(device);
		if (ret) {
			pr_err("iios-sim: cannot add %s (%d)\n", device->name ?: "device", ret);
			break;
		}
	}
	return ret;
}

static void sim_board_remove(struct sim_board_device *device)
{
	if (!IS_ERR_OR_NULL(device->pdev))
		platform_device_unregister(device->pdev);
	if (device->bus_device)
		device_unregister(device->bus_device);
	if (device->trigger) {
		iio_trigger_unregister(device->trigger);
		iio_trigger_free(device->trigger);
	}
	if (device->conv)
		sim_converter_exit(device->conv);
}

/* Can also be called after a failed or omitted init. */
void sim_board_exit(void)
{
	struct sim_board_device *device;
	unsigned int i;

	list_for_each_entry_reverse(device, &sim_board_devices, list)
		sim_board_remove(device);
	if (sim_board_driven)
		platform_driver_unregister(&sim_board_driver);
	sim_board_driven = false;
	for (i = 0; i < AXI_BUS_CORES; i++) {
		kfree(sim_board_converters[i]);
		sim_board_converters[i] = NULL;
	}
	sim_board_forget();
	kvfree(sim_board_text);
	sim_board_text = NULL;
}
