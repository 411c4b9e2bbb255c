// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attributes of a board's devices: they show what the board showed, take what its drivers
 * take, and move together where the hardware has one clock.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "sim_board.h"

static DEFINE_MUTEX(sim_board_lock);	/* every value's text */

int sim_board_value_set(struct sim_board_value *value, const char *text)
{
	char *copy = kstrdup(text ? text : "", GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	kfree(value->text);
	value->text = copy;
	return 0;
}

/* For what has no limits. */
int sim_board_value_write(struct sim_board_value *value, const char *text)
{
	int ret;

	mutex_lock(&sim_board_lock);
	ret = sim_board_value_set(value, text);
	mutex_unlock(&sim_board_lock);
	return ret;
}

static u64 sim_board_integer(const char *text)
{
	return simple_strtoull(text, NULL, 10);
}

/* The converter whose clock this is: the device's own before another's. */
static struct sim_converter *sim_board_clocked(const struct sim_board_value *value,
					       const struct sim_board_device *own)
{
	struct sim_board_device *device;
	struct sim_converter *found = NULL;

	if (!value->clock)
		return NULL;
	list_for_each_entry(device, &sim_board_devices, list) {
		if (!device->conv || !device->clock || strcmp(device->clock, value->clock))
			continue;
		if (device == own)
			return device->conv;
		if (!found)
			found = device->conv;
	}
	return found;
}

/* What the board's description says of the device's clock, 0: nothing. */
u64 sim_board_rate(const struct sim_board_device *device)
{
	struct sim_board_value *value;

	if (device->clock)
		list_for_each_entry(value, &sim_board_values, list)
			if (value->clock && !strcmp(value->clock, device->clock))
				return sim_board_integer(value->text);
	return 0;
}

ssize_t sim_board_value_show(struct sim_board_value *value, const struct sim_board_device *device,
			     char *out, size_t size)
{
	struct sim_converter *conv = sim_board_clocked(value, device);
	ssize_t length;

	if (value->error)
		return -EIO;
	mutex_lock(&sim_board_lock);
	/* The simulator's own knob and parameter `rate` move the clock as well. */
	if (conv && conv->nominal_rate != sim_board_integer(value->text))
		length = scnprintf(out, size, "%llu\n", conv->nominal_rate);
	else
		length = scnprintf(out, size, "%s\n", value->text);
	mutex_unlock(&sim_board_lock);
	return length;
}

static struct sim_board_attr *sim_board_attr_of(struct device_attribute *attr)
{
	return container_of(attr, struct sim_board_attr, dev_attr);
}

ssize_t sim_board_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct sim_board_attr *board_attr = sim_board_attr_of(attr);

	return sim_board_value_show(board_attr->value, board_attr->device, buf, PAGE_SIZE);
}

static int sim_board_set_clock(struct sim_board_value *value, u64 rate)
{
	struct sim_board_device *device;
	int ret = 0;

	list_for_each_entry(device, &sim_board_devices, list)
		if (!ret && device->conv && device->clock && !strcmp(device->clock, value->clock))
			ret = sim_converter_set_rate(device->conv, rate);
	return ret;
}

/* With the lock held. */
static int sim_board_write(struct sim_board_attr *attr, const char *wanted, char *fitted)
{
	const char *limits = attr->limits ? attr->limits->value->text : NULL;
	int ret;

	if (attr->guard && strcmp(attr->guard->value->text, attr->guard_text))
		return -attr->guard_errno;
	ret = sim_board_fit(attr->value->text, limits, wanted, fitted, PAGE_SIZE);
	if (!ret && attr->value->clock)
		ret = sim_board_set_clock(attr->value, sim_board_integer(fitted));
	return ret ? ret : sim_board_value_set(attr->value, fitted);
}

ssize_t sim_board_store(struct device *dev, struct device_attribute *attr, const char *buf,
			size_t count)
{
	char *wanted = kstrndup(buf, count, GFP_KERNEL), *fitted = kmalloc(PAGE_SIZE, GFP_KERNEL);
	int ret = -ENOMEM;

	if (wanted && fitted) {
		mutex_lock(&sim_board_lock);
		ret = sim_board_write(sim_board_attr_of(attr), strim(wanted), fitted);
		mutex_unlock(&sim_board_lock);
	}
	kfree(wanted);
	kfree(fitted);
	return ret ? ret : count;
}

static const struct sim_board_attr *sim_board_find(const struct sim_board_device *device,
						   const char *name)
{
	const struct sim_board_attr *attr;

	if (name)
		list_for_each_entry(attr, &device->attrs, list)
			if (!strcmp(attr->dev_attr.attr.name, name))
				return attr;
	return NULL;
}

/* FILE=VALUE:ERRNO */
static int sim_board_guard(struct sim_board_device *device, struct sim_board_attr *attr)
{
	char *rest = attr->guard_name, *file = strsep(&rest, "="), *text = strsep(&rest, ":");

	attr->guard = sim_board_find(device, file);
	attr->guard_text = text;
	return text && rest ? kstrtoint(rest, 0, &attr->guard_errno) : -EINVAL;
}

/* The group of all attributes, and who belongs to whom. */
int sim_board_attrs_make(struct sim_board_device *device)
{
	struct sim_board_attr *attr;
	unsigned int count = 0;

	list_for_each_entry(attr, &device->attrs, list) {
		int ret = attr->guard_name ? sim_board_guard(device, attr) : 0;

		if (ret)
			return ret;
		attr->limits = sim_board_find(device, attr->limits_name);
		count++;
	}
	device->group.attrs = kcalloc(count + 1, sizeof(*device->group.attrs), GFP_KERNEL);
	if (!device->group.attrs)
		return -ENOMEM;
	count = 0;
	list_for_each_entry(attr, &device->attrs, list)
		device->group.attrs[count++] = &attr->dev_attr.attr;
	device->groups[0] = &device->group;
	return 0;
}
