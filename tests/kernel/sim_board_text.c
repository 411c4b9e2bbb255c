// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the description of a board, which script/lab/board.py makes from a libiio context. It
 * consists of lines of words that are separated by tabs. A "device" line begins a device, and the
 * following lines belong to it.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "sim_board.h"

LIST_HEAD(sim_board_devices);
LIST_HEAD(sim_board_values);

static struct sim_board_device *sim_board_last(void)
{
	if (list_empty(&sim_board_devices))
		return NULL;
	return list_last_entry(&sim_board_devices, struct sim_board_device, list);
}

/* Returns the next word. "-" means none. */
static char *sim_board_word(char **line)
{
	char *word = strsep(line, "\t");

	return word && strcmp(word, "-") ? word : NULL;
}

static int sim_board_number(char **line, unsigned int *number)
{
	char *word = sim_board_word(line);

	return word ? kstrtouint(word, 0, number) : -EINVAL;
}

/* device NAME KIND in|out ALIGN CLOCK */
static int sim_board_device_line(char *line)
{
	static const char * const kinds[] = { "plain", "dma", "fifo", "bus", "trigger" };
	struct sim_board_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	char *word;
	int kind;

	if (!device)
		return -ENOMEM;
	INIT_LIST_HEAD(&device->attrs);
	INIT_LIST_HEAD(&device->debugs);
	device->number = sim_board_last() ? sim_board_last()->number + 1 : 0;
	list_add_tail(&device->list, &sim_board_devices);
	device->name = sim_board_word(&line);
	word = sim_board_word(&line);
	kind = word ? match_string(kinds, ARRAY_SIZE(kinds), word) : -EINVAL;
	if (kind < 0)
		return -EINVAL;
	device->kind = kind;
	word = sim_board_word(&line);
	device->output = word && !strcmp(word, "out");
	if (sim_board_number(&line, &device->align))
		return -EINVAL;
	device->clock = sim_board_word(&line);
	device->divider = 1;
	return 0;
}

/* Reads the type, the numbers, the modifier and the extended name of a channel. */
static int sim_board_channel_name(struct iio_chan_spec *chan, char **line)
{
	unsigned int type, modifier;
	char *word;
	int ret = sim_board_number(line, &type);

	word = sim_board_word(line);
	if (word) {
		chan->indexed = 1;
		ret = ret ?: kstrtoint(word, 0, &chan->channel);
	}
	word = sim_board_word(line);
	if (word) {
		chan->differential = 1;
		ret = ret ?: kstrtoint(word, 0, &chan->channel2);
	}
	ret = ret ?: sim_board_number(line, &modifier);
	if (!ret && modifier) {
		chan->modified = 1;
		chan->channel2 = modifier;
	}
	chan->type = type;
	chan->extend_name = sim_board_word(line);
	return ret;
}

/* scan INDEX TYPE CHANNEL CHANNEL2 MODIFIER EXTEND be|le SIGN REALBITS STORAGEBITS REPEAT SHIFT */
static int sim_board_scan_line(struct sim_board_device *device, char *line)
{
	struct iio_chan_spec *chan = &device->channels[device->channel_count];
	unsigned int index, real, storage, repeat, shift;
	char *endian, *sign;

	if (device->channel_count == SIM_MAX_CHANNELS || sim_board_number(&line, &index) ||
	    sim_board_channel_name(chan, &line))
		return -EINVAL;
	endian = sim_board_word(&line);
	sign = sim_board_word(&line);
	if (!endian || !sign || sim_board_number(&line, &real) ||
	    sim_board_number(&line, &storage) || sim_board_number(&line, &repeat) ||
	    sim_board_number(&line, &shift))
		return -EINVAL;
	if (!real || real + shift > storage || storage > 64 || repeat > 1)
		return -EINVAL;
	chan->scan_index = index;
	chan->output = device->output;
	chan->scan_type.endianness = strcmp(endian, "be") ? IIO_LE : IIO_BE;
	chan->scan_type.sign = *sign;
	chan->scan_type.realbits = real;
	chan->scan_type.storagebits = storage;
	chan->scan_type.shift = shift;
	device->channel_count++;
	return 0;
}

/* masks MASK...: the only subsets of the channels that the driver accepts */
static int sim_board_masks_line(struct sim_board_device *device, char *line)
{
	unsigned int count = 0, mask;

	while (line) {
		if (count == SIM_BOARD_MASKS - 1 || sim_board_number(&line, &mask))
			return -EINVAL;
		device->masks[count++] = mask;
	}
	return 0;
}

/* Returns one value for all attributes of the same clock. */
static struct sim_board_value *sim_board_value_make(const char *clock, bool error, const char *text)
{
	struct sim_board_value *value;

	if (clock)
		list_for_each_entry(value, &sim_board_values, list)
			if (value->clock && !strcmp(value->clock, clock))
				return value;
	value = kzalloc(sizeof(*value), GFP_KERNEL);
	if (!value)
		return NULL;
	value->clock = clock;
	value->error = error ? "ERROR" : NULL;
	list_add_tail(&value->list, &sim_board_values);
	return sim_board_value_set(value, text) ? NULL : value;
}

/* NAME, NAME/DIVIDER if the device's core divides the clock, or NAME/list for the list of rates. */
static const char *sim_board_clock_word(struct sim_board_attr *attr, char *word)
{
	const char *name = word ? strsep(&word, "/") : NULL;

	if (word && !kstrtou64(word, 10, &attr->device->divider))
		attr->clock = SIM_BOARD_DIVIDED;
	else if (word)
		attr->clock = SIM_BOARD_CHOICE;
	return name;
}

/* attr FILE MODE LIMITS CLOCK GUARD ok|error VALUE. The value of a clock is the undivided one. */
static int sim_board_attr_line(struct sim_board_device *device, char *line)
{
	struct sim_board_attr *attr = kzalloc(sizeof(*attr), GFP_KERNEL);
	const char *clock;
	unsigned int mode;
	char *state;

	if (!attr)
		return -ENOMEM;
	list_add_tail(&attr->list, &device->attrs);
	attr->device = device;
	sysfs_attr_init(&attr->dev_attr.attr);
	attr->dev_attr.attr.name = sim_board_word(&line);
	if (!attr->dev_attr.attr.name || sim_board_number(&line, &mode))
		return -EINVAL;
	attr->dev_attr.attr.mode = mode;
	attr->dev_attr.show = sim_board_show;
	attr->dev_attr.store = sim_board_store;
	attr->limits_name = sim_board_word(&line);
	clock = sim_board_clock_word(attr, sim_board_word(&line));
	attr->guard_name = sim_board_word(&line);
	state = sim_board_word(&line);
	attr->value = sim_board_value_make(clock, !state || !strcmp(state, "error"), line);
	return attr->value ? 0 : -ENOMEM;
}

/* debug NAME ok|error VALUE */
static int sim_board_debug_line(struct sim_board_device *device, char *line)
{
	struct sim_board_debug *debug = kzalloc(sizeof(*debug), GFP_KERNEL);
	char *state;

	if (!debug)
		return -ENOMEM;
	list_add_tail(&debug->list, &device->debugs);
	debug->device = device;
	debug->name = sim_board_word(&line);
	state = sim_board_word(&line);
	debug->value = sim_board_value_make(NULL, !state || !strcmp(state, "error"), line);
	return debug->name && debug->value ? 0 : -EINVAL;
}

/* registers ZERO VERSION: value of register 0, and version of the core if there is one */
static int sim_board_registers_line(struct sim_board_device *device, char *line)
{
	unsigned int zero, i;

	for (i = 0; i < SIM_BOARD_REGISTERS; i++)
		device->chip[i] = (u8)~i;
	device->registers = true;
	if (sim_board_number(&line, &zero))
		return -EINVAL;
	device->chip[0] = zero;
	device->core = !sim_board_number(&line, &device->version);
	device->plain_core = device->core && device->version == zero;
	return 0;
}

static int sim_board_line(char *line)
{
	struct sim_board_device *device = sim_board_last();
	char *what = strsep(&line, "\t");

	if (!*what)
		return 0;
	if (!line)
		return -EINVAL;
	if (!strcmp(what, "device"))
		return sim_board_device_line(line);
	if (!device)
		return -EINVAL;
	if (!strcmp(what, "label")) {
		device->label = line;
		return 0;
	}
	if (!strcmp(what, "scan"))
		return sim_board_scan_line(device, line);
	if (!strcmp(what, "masks"))
		return sim_board_masks_line(device, line);
	if (!strcmp(what, "attr"))
		return sim_board_attr_line(device, line);
	if (!strcmp(what, "debug"))
		return sim_board_debug_line(device, line);
	if (!strcmp(what, "registers"))
		return sim_board_registers_line(device, line);
	return -EINVAL;
}

/* The text is used until sim_board_forget() is called. */
int sim_board_parse(char *text)
{
	unsigned int number = 1;
	int ret = 0;

	for (; text && !ret; number++)
		ret = sim_board_line(strsep(&text, "\n"));
	if (ret)
		pr_err("iios-sim: the board's description is wrong in line %u\n", number - 1);
	return ret;
}

void sim_board_forget(void)
{
	struct sim_board_device *device, *next_device;
	struct sim_board_attr *attr, *next_attr;
	struct sim_board_debug *debug, *next_debug;
	struct sim_board_value *value, *next_value;

	list_for_each_entry_safe(device, next_device, &sim_board_devices, list) {
		list_for_each_entry_safe(attr, next_attr, &device->attrs, list)
			kfree(attr);
		list_for_each_entry_safe(debug, next_debug, &device->debugs, list)
			kfree(debug);
		kfree(device->group.attrs);
		kfree(device);
	}
	list_for_each_entry_safe(value, next_value, &sim_board_values, list) {
		kfree(value->text);
		kfree(value);
	}
	INIT_LIST_HEAD(&sim_board_devices);
	INIT_LIST_HEAD(&sim_board_values);
}
