/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_H
#define SIM_H

#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/property.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/iio/iio.h>

#include "compat.h"
#include "sim_core.h"

#define SIM_NEVER		U64_MAX	/* position of a fault that is off */
#define SIM_MAX_CHANNELS	16	/* of a board; the simulator's own devices have five */
#define SIM_VOLTAGES		4
#define SIM_MAX_RATE		2000000000

/* ---- sim_pattern.c: the bytes of a stream ---- */

enum sim_pattern { SIM_RAMP, SIM_LANES, SIM_STAMP, SIM_NONE };

struct sim_element {
	unsigned int offset;		/* in the scan */
	unsigned int bytes;
	unsigned int realbits;
	unsigned int shift;
	bool big_endian;
	bool is_signed;
	bool counter;			/* holds the scan counter, not a lane */
	u64 lane;			/* the constant part of the value */
};

struct sim_layout {
	enum sim_pattern pattern;
	u64 start;			/* the scan counter's first value */
	unsigned int scan_bytes;
	unsigned int count;
	struct sim_element elements[SIM_MAX_CHANNELS];
	u64 stuck_low, stuck_high;	/* faults: bits of 16-bit words that are always 0, 1 */
	u64 repeat;			/* fault: period of repeated bytes; 0: off */
};

int sim_pattern_parse(const char *name);
size_t sim_pattern_chunk(enum sim_pattern pattern);
void sim_layout_make(struct sim_layout *layout, const struct iio_chan_spec *channels,
		     unsigned int count, const unsigned long *mask);
u64 sim_element_value(const struct sim_element *element, u64 counter);
void sim_scan_make(const struct sim_layout *layout, u64 scan, u8 *out);
void sim_fill_lanes(const struct sim_layout *layout, u8 *out, u64 position, size_t bytes);
void sim_pattern_fill(const struct sim_layout *layout, void *memory, u64 position, size_t bytes);

/* ---- sim_check.c: checks the data that a DAC plays ---- */

struct sim_check {
	enum sim_pattern pattern;
	u64 mismatches, gaps, repeats;	/* units: words of a ramp, scans of lanes */
	u64 first_unit, first_expected, first_got;
	s64 shift;			/* of the data relative to the number of the unit */
	u8 part[SIM_MAX_CHANNELS * sizeof(u64)];
	u8 expected[512];
};

void sim_check_restart(struct sim_check *check, enum sim_pattern pattern);
void sim_check(struct sim_check *check, const struct sim_layout *layout, const u8 *data,
	       u64 position, size_t bytes);

/* ---- sim_stream.c and sim_clock.c: the sample clock, the FIFO and losses ---- */

struct sim_gap {
	u64 at;				/* absolute scan at which it begins */
	u64 lost;			/* scans */
	u64 delivered;			/* scans delivered before it (truth list only) */
};

#define SIM_PENDING_GAPS	64
#define SIM_PENDING_DROPS	8
#define SIM_TRUE_GAPS		4096

/* The register shows a drop from the moment when the clock reaches its first scan. */
struct sim_drop {
	u64 begin, end;			/* the first lost scan, and the first one after the loss */
	bool shown;
};

struct sim_faults {
	u64 stall_at, stall_ms;		/* the core stops for a time */
	u64 dead_at;			/* the core stops forever */
	u64 drop_at, drop, drop_every;	/* scans vanish */
	u64 drop_xflow;			/* the register shows the drop */
};

struct sim_stream {
	spinlock_t lock;		/* protects all members below */
	bool tx;
	bool running;
	bool started;			/* DAC: the first transfer has begun */
	bool idle;			/* the core has nothing to work on */
	unsigned int scan_bytes;
	u64 fifo;			/* scans */
	u64 rate;			/* scans per second, 0: unlimited */
	ktime_t clock_time;		/* at this time ... */
	u64 clock_scans;		/* ... this many scans had been produced */
	ktime_t busy_since;
	u64 idle_scans;			/* value of the clock when the core became idle */
	u64 position;			/* next byte, including lost ones */
	u64 moved;			/* bytes delivered or played */
	size_t quiet;			/* bytes until the next event, 0: unknown */
	bool stalled;
	ktime_t stalled_until;
	struct sim_faults faults;

	struct sim_gap pending[SIM_PENDING_GAPS];
	unsigned int pending_first, pending_count;
	struct sim_gap *gaps;		/* the true gaps, as delivered */
	u64 gap_count;
	u64 lost, lost_pending;		/* scans */
	/* The same values when the last block was complete, which a user can observe. */
	u64 moved_done, gaps_done, lost_done;
	u64 underflows, underflow_scans;
	u32 xflow;			/* register 0x88 */
	struct sim_drop drops[SIM_PENDING_DROPS];	/* not shown by the register yet */
	unsigned int drop_count;
};

#define SIM_UNDERFLOW	BIT(0)
#define SIM_OVERFLOW	BIT(2)

enum sim_take { SIM_TAKE_WAIT = 0, SIM_TAKE_DEAD = -1 };

void sim_stream_prepare(struct sim_stream *stream, unsigned int scan_bytes);
void sim_stream_run(struct sim_stream *stream);
void sim_stream_halt(struct sim_stream *stream);
void sim_stream_set_rate(struct sim_stream *stream, u64 rate);
void sim_stream_busy(struct sim_stream *stream);
void sim_stream_idle(struct sim_stream *stream, ktime_t due);
ssize_t sim_stream_take(struct sim_stream *stream, size_t want, u64 *position, ktime_t *until);
void sim_stream_look_again(struct sim_stream *stream);
void sim_stream_done(struct sim_stream *stream);
ktime_t sim_stream_due(struct sim_stream *stream);
u64 sim_stream_clock(struct sim_stream *stream);
u64 sim_stream_room(struct sim_stream *stream);
u32 sim_stream_xflow(struct sim_stream *stream, u32 clear);

/* ---- sim_conv.c: an ADC or a DAC with its IIO device ---- */

struct sim_open_file;
struct sim_board_device;
struct sim_chip;
struct sim_converter;

/*
 * Functions of a converter that has no IIO device of the simulator, because the kernel's own
 * drivers control it.
 */
struct sim_front_end {
	int (*plug)(struct sim_converter *conv);	/* sets pdev */
	void (*unplug)(struct sim_converter *conv);
	/* These functions are called with interrupts off. */
	void (*enable)(struct sim_converter *conv, bool on);	/* the AXI-DMAC was switched */
	bool (*ready)(struct sim_converter *conv);	/* whether samples can move */
	void (*move)(struct sim_converter *conv, void *memory, u64 position, size_t bytes);
};

struct sim_converter {
	const char *name;		/* of the IIO device and its platform device */
	const char *slave_device;	/* device that has the DMA channel; NULL: `name` */
	const struct sim_front_end *front_end;
	struct sim_chip *chip;
	const char *label;
	struct sim_board_device *board;	/* device of a board, or NULL */
	char platform_name[32];		/* of its platform device, if it differs from `name` */
	struct sim_core core;
	struct sim_stream stream;
	struct sim_layout layout;
	struct sim_check check;
	struct iio_chan_spec channels[SIM_MAX_CHANNELS];
	unsigned int channel_count;
	u64 nominal_rate;		/* value of sampling_frequency */
	struct mutex plug_lock;
	struct platform_device *pdev;	/* NULL while unplugged */
	enum { SIM_XFLOW_NONE, SIM_XFLOW_MAINLINE, SIM_XFLOW_ADI,
	       SIM_XFLOW_SPI } xflow;
	struct fwnode_handle *node;
	u64 xflow_delay_ms, xflow_reads;
	u64 xflow_clear;		/* each submitted block clears the overflow bit */
	u8 spi_file[0x1000];		/* a chip's registers */
	u64 spi_writes;
	struct sim_open_file *open_files;
};

extern struct platform_driver sim_converter_driver;

int sim_converter_init(struct sim_converter *conv);
int sim_converter_plug(struct sim_converter *conv);
void sim_converter_unplug(struct sim_converter *conv);
void sim_converter_exit(struct sim_converter *conv);
int sim_converter_set_rate(struct sim_converter *conv, u64 rate);
int sim_converter_set_clock(struct sim_converter *conv, u64 rate);
int sim_channels_make(struct sim_converter *conv, const char *scan, unsigned int counter);
struct sim_converter *sim_from_iio(struct iio_dev *indio_dev);

/* ---- sim_chip*.c: a converter behind the kernel's own drivers ---- */

#if SIM_HAS_BACKEND
bool sim_chip_known(const char *name);
int sim_chip_init(const char *name);
void sim_chip_exit(void);
struct sim_converter *sim_chip_of(unsigned int number);
int sim_chip_core_reg(struct sim_converter *conv, unsigned int reg, u32 value, u32 *read);
#else
static inline bool sim_chip_known(const char *name)
{
	return false;
}
static inline int sim_chip_init(const char *name)
{
	return 0;
}
static inline void sim_chip_exit(void)
{
}
static inline struct sim_converter *sim_chip_of(unsigned int number)
{
	return NULL;
}
static inline int sim_chip_core_reg(struct sim_converter *conv, unsigned int reg, u32 value,
				    u32 *read)
{
	return -ENODEV;
}
#endif

/* ---- sim_xflow.c: register 0x88 in debugfs ---- */

int sim_xflow_bus(unsigned int core, unsigned int reg, u32 value, u32 *read);
int sim_xflow_core_reg(struct sim_converter *conv, unsigned int reg, u32 value, u32 *read);
int sim_xflow_front_end(struct iio_dev *indio_dev, unsigned int reg, unsigned int value,
			unsigned int *read);
struct fwnode_handle *sim_xflow_node(struct sim_converter *conv);
int sim_xflow_add(struct sim_converter *conv, struct iio_dev *indio_dev);

/* ---- sim_debugfs.c ---- */

void sim_debugfs_init(void);
void sim_debugfs_exit(void);
void sim_debugfs_add(struct sim_converter *conv);

/* ---- sim_phy.c: the front end ---- */

int sim_phy_init(void);
void sim_phy_exit(void);

/* ---- sim_slow.c: an ADC without DMA ---- */

int sim_slow_init(void);
int sim_slow_dac_add(struct device *dev);
void sim_slow_exit(void);

/* ---- sim_board.c: the devices of a real board ---- */

int sim_board_init(const char *path);
void sim_board_exit(void);
struct sim_converter *sim_board_converter(unsigned int core);
void sim_board_dress(struct sim_board_device *device, struct iio_dev *indio_dev);
void sim_board_debug_add(struct sim_board_device *device, struct iio_dev *indio_dev);

/* ---- sim_params.c and sim_main.c ---- */

int sim_params_check(void);
unsigned int sim_params_adcs(void);
bool sim_params_slow(void);
const char *sim_params_board(void);
void sim_params_apply_board(struct sim_converter *conv, unsigned int number, bool first);
const char *sim_params_converter(void);
int sim_params_apply(struct sim_converter *conv, unsigned int number);
struct sim_converter *sim_converter(unsigned int number);
int sim_converters_set_rate(bool tx, u64 rate);
u64 sim_converters_rate(bool tx);

#endif
