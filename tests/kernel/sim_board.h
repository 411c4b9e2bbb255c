/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_BOARD_H
#define SIM_BOARD_H

#include <linux/device.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/iio/iio.h>

#include "sim.h"

#define SIM_BOARD_MASKS		32
#define SIM_BOARD_REGISTERS	256	/* of an SPI chip; addresses wrap at this number */

struct sim_board_device;

/* The value of an attribute. Several attributes share it if the hardware has one clock for them. */
struct sim_board_value {
	struct list_head list;
	const char *clock;		/* the clock's name, or NULL if the value is not a clock */
	const char *error;		/* not NULL: reads fail, as they did on the board */
	const struct sim_board_attr *limits;	/* of a clock, for all attributes that write it */
	char *text;
};

struct sim_board_attr {
	struct list_head list;
	struct device_attribute dev_attr;
	struct sim_board_device *device;
	struct sim_board_value *value;
	const char *limits_name;	/* attribute with the allowed values */
	const struct sim_board_attr *limits;
	enum { SIM_BOARD_WHOLE, SIM_BOARD_DIVIDED, SIM_BOARD_CHOICE } clock;
	char *guard_name;		/* FILE=VALUE:ERRNO: condition for a write */
	const struct sim_board_attr *guard;
	const char *guard_text;
	int guard_errno;
};

struct sim_board_debug {
	struct list_head list;
	struct sim_board_device *device;
	const char *name;
	struct sim_board_value *value;
};

enum sim_board_kind { SIM_BOARD_PLAIN, SIM_BOARD_DMA, SIM_BOARD_FIFO, SIM_BOARD_BUS,
		      SIM_BOARD_TRIGGER };

struct sim_board_device {
	struct list_head list;
	const char *name;		/* or NULL */
	const char *label;
	enum sim_board_kind kind;
	bool output;
	unsigned int number;
	unsigned int align;
	const char *clock;
	u64 divider;			/* divider of the clock in the core: 1 or 8 */
	struct list_head attrs;
	struct list_head debugs;
	struct attribute_group group;
	const struct attribute_group *groups[2];
	struct iio_info info;
	struct iio_chan_spec channels[SIM_MAX_CHANNELS];
	unsigned int channel_count;
	unsigned long masks[SIM_BOARD_MASKS];
	bool registers;			/* has direct_reg_access */
	bool core;			/* direct_reg_access reaches it at 0x80000000 */
	u32 version;			/* of the core */
	bool plain_core;		/* the core is at 0 too, because there is no chip */
	u32 chip[SIM_BOARD_REGISTERS];
	struct sim_converter *conv;
	struct platform_device *pdev;
	struct device *bus_device;
	struct iio_trigger *trigger;
};

/* ---- sim_board.c: declarations that are not in sim.h ---- */

extern struct list_head sim_board_devices;
extern struct list_head sim_board_values;

/* ---- sim_board_text.c: parses the description that script/lab/board.py makes ---- */

int sim_board_parse(char *text);
void sim_board_forget(void);

/* ---- sim_board_attr.c ---- */

int sim_board_attrs_make(struct sim_board_device *device);
int sim_board_value_write(struct sim_board_value *value, const char *text);
int sim_board_value_set(struct sim_board_value *value, const char *text);
ssize_t sim_board_value_show(struct sim_board_value *value, char *out, size_t size);
ssize_t sim_board_show(struct device *dev, struct device_attribute *attr, char *buf);
ssize_t sim_board_store(struct device *dev, struct device_attribute *attr, const char *buf,
			size_t count);
u64 sim_board_rate(const struct sim_board_device *device);

/* ---- sim_board_number.c ---- */

int sim_board_fit(const char *old, const char *limits, const char *wanted, char *out, size_t size);

/* ---- sim_board_debug.c: debugfs ---- */

int sim_board_reg(struct iio_dev *indio_dev, unsigned int reg, unsigned int value,
		  unsigned int *read);

/* ---- sim_board_fifo.c: devices with a kfifo ---- */

struct iio_dev *sim_board_fifo_alloc(struct sim_board_device *device, struct device *dev);

#endif
