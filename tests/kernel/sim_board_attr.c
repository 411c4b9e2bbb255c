// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attributes of a board's devices. They show the values of the board, accept the values that
 * its drivers accept, and change together if the hardware has one clock.
 */
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "sim_board.h"

#define DIVIDER	8	/* of the cores */

static DEFINE_MUTEX(sim_board_lock);	/* protects the texts of all values */

int sim_board_value_set(struct sim_board_value *value, const char *text)
{
	char *copy = kstrdup(text ? text : "", GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	kfree(value->text);
	value->text = copy;
	return 0;
}

/* Writes a value without limits. */
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

/* Returns the converter with this clock. The converter of `own` takes precedence over others. */
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

/* Returns the rate that follows from the device's clock in the description, or 0 without one. */
u64 sim_board_rate(const struct sim_board_device *device)
{
	struct sim_board_value *value;

	if (device->clock)
		list_for_each_entry(value, &sim_board_values, list)
			if (value->clock && !strcmp(value->clock, device->clock))
				return div64_u64(sim_board_integer(value->text), device->divider);
	return 0;
}

ssize_t sim_board_value_show(struct sim_board_value *value, char *out, size_t size)
{
	ssize_t length;

	if (value->error)
		return -EIO;
	mutex_lock(&sim_board_lock);
	length = scnprintf(out, size, "%s\n", value->text);
	mutex_unlock(&sim_board_lock);
	return length;
}

/*
 * Called with the lock held. The knob and the parameter `rate` of the simulator also change the
 * clock.
 */
static u64 sim_board_clock_now(const struct sim_board_attr *attr, bool *moved)
{
	const struct sim_converter *conv = sim_board_clocked(attr->value, attr->device);
	u64 clock = sim_board_integer(attr->value->text);

	*moved = conv && conv->nominal_rate != div64_u64(clock, conv->board->divider);
	return *moved ? conv->nominal_rate * conv->board->divider : clock;
}

/* Called with the lock held. */
static ssize_t sim_board_clock_show(const struct sim_board_attr *attr, char *out)
{
	bool moved;
	u64 clock = sim_board_clock_now(attr, &moved);

	switch (attr->clock) {
	case SIM_BOARD_DIVIDED:
		return sysfs_emit(out, "%llu\n", div64_u64(clock, attr->device->divider));
	case SIM_BOARD_CHOICE:
		return sysfs_emit(out, "%llu %llu \n", clock, div64_u64(clock, DIVIDER));
	default:
		return moved ? sysfs_emit(out, "%llu\n", clock) :
			       sysfs_emit(out, "%s\n", attr->value->text);
	}
}

static struct sim_board_attr *sim_board_attr_of(struct device_attribute *attr)
{
	return container_of(attr, struct sim_board_attr, dev_attr);
}

ssize_t sim_board_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct sim_board_attr *board_attr = sim_board_attr_of(attr);
	ssize_t length;

	if (!board_attr->value->clock || board_attr->value->error)
		return sim_board_value_show(board_attr->value, buf, PAGE_SIZE);
	mutex_lock(&sim_board_lock);
	length = sim_board_clock_show(board_attr, buf);
	mutex_unlock(&sim_board_lock);
	return length;
}

static int sim_board_set_clock(struct sim_board_value *value, u64 rate)
{
	struct sim_board_device *device;
	int ret = 0;

	list_for_each_entry(device, &sim_board_devices, list)
		if (!ret && device->conv && device->clock && !strcmp(device->clock, value->clock))
			ret = sim_converter_set_rate(device->conv, div64_u64(rate, device->divider));
	return ret;
}

/*
 * Sets the divider of ADI's core, which is 1 or 8. Returns -EINVAL if the divider that is nearest
 * to the wanted rate is neither of them.
 */
static int sim_board_divide(struct sim_board_attr *attr, const char *wanted)
{
	bool moved;
	u64 clock = sim_board_clock_now(attr, &moved), rate, divider;

	if (kstrtou64(wanted, 10, &rate) || !rate)
		return -EINVAL;
	divider = DIV64_U64_ROUND_CLOSEST(clock, rate);
	if (divider != 1 && divider != DIVIDER)
		return -EINVAL;
	attr->device->divider = divider;
	return attr->device->conv ?
		sim_converter_set_rate(attr->device->conv, div64_u64(clock, divider)) : 0;
}

/* Called with the lock held. */
static int sim_board_write(struct sim_board_attr *attr, const char *wanted, char *fitted)
{
	const struct sim_board_attr *limits = attr->limits ? attr->limits : attr->value->limits;
	int ret;

	if (attr->guard_errno && !attr->guard)
		return -attr->guard_errno;
	if (attr->clock == SIM_BOARD_DIVIDED)
		return sim_board_divide(attr, wanted);
	if (attr->guard && strcmp(attr->guard->value->text, attr->guard_text))
		return -attr->guard_errno;
	ret = sim_board_fit(attr->value->text, limits ? limits->value->text : NULL, wanted, fitted,
			    PAGE_SIZE);
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

/* Parses FILE=VALUE:ERRNO, or =:ERRNO for an attribute that cannot be written. */
static int sim_board_guard(struct sim_board_device *device, struct sim_board_attr *attr)
{
	char *rest = attr->guard_name, *file = strsep(&rest, "="), *text = strsep(&rest, ":");

	attr->guard = sim_board_find(device, file);
	attr->guard_text = text;
	return text && rest ? kstrtoint(rest, 0, &attr->guard_errno) : -EINVAL;
}

/* Makes the group of all attributes, and connects each with its limits and guard. */
int sim_board_attrs_make(struct sim_board_device *device)
{
	struct sim_board_attr *attr;
	unsigned int count = 0;

	list_for_each_entry(attr, &device->attrs, list) {
		int ret = attr->guard_name ? sim_board_guard(device, attr) : 0;

		if (ret)
			return ret;
		attr->limits = sim_board_find(device, attr->limits_name);
		if (attr->value->clock && attr->limits && *attr->limits->value->text == '[')
			attr->value->limits = attr->limits;
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
