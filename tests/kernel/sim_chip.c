// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AXI-ADC or AXI-DAC core of a converter that the kernel's own drivers drive, and the list of
 * supported chips. Nothing notifies the simulator that a buffer is enabled. The core only detects
 * that its channels and the AXI-DMAC are switched on and off.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "sim_chip.h"

#define EYE_FIRST	3		/* taps at which the data are correct */
#define EYE_LAST	20
#define TAPS		0x1f

#define SIM_ADC(chip, chip_id, n, bits, delay_lanes, max_rate) {			\
	.name = chip, .driver = "adi_axi_adc", .clock = "adc-clk", .header = 2,		\
	.id_reg = 0x01, .id = chip_id, .channels = n, .realbits = bits,			\
	.lanes = delay_lanes, .version = ADI_AXI_PCORE_VER(10, 1, 'b'), .rate = max_rate }

static const struct sim_chip_kind sim_chip_kinds[] = {
	SIM_ADC("ad9265", 0x64, 1, 16, 0, 125000000),
	SIM_ADC("ad9434", 0x6a, 1, 12, 6, 500000000),
	SIM_ADC("ad9467", 0x50, 1, 16, 8, 250000000),
	SIM_ADC("ad9643", 0x82, 2, 14, 0, 250000000),
	SIM_ADC("ad9649", 0x6f, 1, 14, 0, 80000000),
	SIM_ADC("ad9652", 0xc1, 2, 16, 0, 310000000),
	{
		.name = "ad9739a", .driver = "adi-axi-dac", .tx = true, .header = 1,
		.id_reg = 0x35, .id = 0x24, .channels = 1, .realbits = 16,
		.version = ADI_AXI_PCORE_VER(9, 1, 'b'), .rate = 2000000000,
	},
};

static struct sim_chip sim_the_chip;
static struct sim_converter sim_chip_converter;

static const struct sim_chip_kind *sim_chip_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_chip_kinds); i++)
		if (!strcmp(sim_chip_kinds[i].name, name))
			return &sim_chip_kinds[i];
	return NULL;
}

bool sim_chip_known(const char *name)
{
	return sim_chip_find(name);
}

/* Returns whether the received samples are equal to those that the chip sends. */
bool sim_chip_in_eye(struct sim_chip *chip)
{
	unsigned int lane, tap;

	if (chip->kind->tx)
		return true;
	if (!chip->kind->lanes) {
		tap = chip->spi_regs[CHIP_OUTPUT_DELAY] & TAPS;
		return tap >= EYE_FIRST && tap <= EYE_LAST;
	}
	for (lane = 0; lane < chip->kind->lanes; lane++) {
		tap = *sim_chip_reg(chip, CORE_DELAY(lane)) & TAPS;
		if (tap < EYE_FIRST || tap > EYE_LAST)
			return false;
	}
	return true;
}

/* Returns whether the monitor of the pseudo-random sequences is in sync. */
static bool sim_chip_in_sync(struct sim_chip *chip, unsigned int c)
{
	u32 select = *sim_chip_reg(chip, CORE_CHAN_CTRL_3(c)) & CHAN_PN_SEL;

	return chip->test[c] == (select == CHAN_PN23 ? TEST_PN23 : TEST_PN9) &&
	       sim_chip_in_eye(chip);
}

/*
 * Returns the channels in the core's output. A single channel is always in the output, because its
 * samples are always valid in ADI's design for ad9467. If the core has several channels, the
 * enabled ones are packed.
 */
static unsigned long sim_chip_mask(struct sim_chip *chip)
{
	unsigned long mask = 0;
	unsigned int c;

	if (!(*sim_chip_reg(chip, CORE_RSTN) & RSTN_RSTN))
		return 0;
	if (chip->kind->channels == 1)
		return BIT(0);
	for (c = 0; c < chip->kind->channels; c++)
		if (*sim_chip_reg(chip, CORE_CHAN_CTRL(c)) & CHAN_ENABLE)
			mask |= BIT(c);
	return mask;
}

/* An AXI-DMAC that is off refuses every sample, which the core reports as an overflow. */
static u32 sim_chip_xflow(struct sim_chip *chip, u32 clear)
{
	struct sim_stream *stream = &chip->conv->stream;
	u32 value = sim_stream_xflow(stream, clear);

	if (!chip->kind->tx && !READ_ONCE(stream->running) && sim_chip_mask(chip))
		value |= SIM_OVERFLOW;
	return value;
}

static u32 sim_chip_core_read(struct sim_chip *chip, unsigned int reg)
{
	unsigned int c;

	switch (reg) {
	case CORE_VERSION:
		return chip->kind->version;
	case CORE_DRP_STATUS:
		return *sim_chip_reg(chip, CORE_RSTN) & RSTN_MMCM ? DRP_LOCKED : 0;
	case CORE_XFLOW:
		chip->conv->xflow_reads++;
		return sim_chip_xflow(chip, 0);
	}
	for (c = 0; c < chip->kind->channels && !chip->kind->tx; c++)
		if (reg == CORE_CHAN_STATUS(c))
			return sim_chip_in_sync(chip, c) ? 0 : CHAN_OUT_OF_SYNC;
	return *sim_chip_reg(chip, reg);
}

int sim_chip_core_reg(struct sim_converter *conv, unsigned int reg, u32 value, u32 *read)
{
	struct sim_chip *chip = conv->chip;

	if (reg >= AXI_BUS_WINDOW)
		return -EINVAL;
	if (reg == CORE_XFLOW && conv->xflow_delay_ms)
		msleep(min_t(u64, conv->xflow_delay_ms, 60000));
	if (read) {
		*read = sim_chip_core_read(chip, reg);
	} else if (reg == CORE_XFLOW) {
		sim_chip_xflow(chip, value);
	} else {
		*sim_chip_reg(chip, reg) = value;
		WRITE_ONCE(chip->silent, !sim_chip_mask(chip));
		sim_core_kick(&conv->core);
	}
	return 0;
}

/* Called with interrupts off when the AXI-DMAC is switched on or off. */
void sim_chip_enable(struct sim_converter *conv, bool on)
{
	unsigned long mask = sim_chip_mask(conv->chip);
	unsigned int c, count = 0;

	if (!on) {
		sim_stream_halt(&conv->stream);
		sim_core_restart(&conv->core);
		return;
	}
	if (!mask)		/* the output is off, so any layout will do */
		mask = BIT(0);
	for_each_set_bit(c, &mask, SIM_CHIP_CHANNELS)
		conv->chip->active[count++] = c;
	sim_layout_make(&conv->layout, conv->channels, conv->channel_count, &mask);
	sim_stream_prepare(&conv->stream, conv->layout.scan_bytes);
	sim_check_restart(&conv->check, conv->layout.pattern);
	conv->core.chunk = sim_pattern_chunk(conv->layout.pattern);
	if (!conv->core.tx) {
		WRITE_ONCE(conv->stream.idle, false);	/* the first transfer follows at once */
		WRITE_ONCE(conv->stream.xflow, SIM_OVERFLOW);	/* until it is cleared */
	}
	sim_stream_run(&conv->stream);
}

bool sim_chip_ready(struct sim_converter *conv)
{
	return !READ_ONCE(conv->chip->silent);
}

static void sim_chip_channels(struct sim_converter *conv, const struct sim_chip_kind *kind)
{
	unsigned int i;

	for (i = 0; i < kind->channels; i++)
		conv->channels[i] = (struct iio_chan_spec){
			.type = IIO_VOLTAGE, .indexed = 1, .channel = i, .scan_index = i,
			.output = kind->tx,
			.scan_type = {
				.sign = 's', .realbits = kind->realbits, .storagebits = 16,
				.endianness = IIO_LE,
			},
		};
	conv->channel_count = kind->channels;
}

static void sim_chip_make(struct sim_chip *chip, const struct sim_chip_kind *kind)
{
	struct sim_converter *conv = chip->conv;

	chip->kind = kind;
	chip->spi_regs[kind->id_reg] = kind->id;
	chip->spi_regs[CHIP_CHANNEL_INDEX] = BIT(kind->channels) - 1;
	snprintf(chip->core_device, sizeof(chip->core_device), "%s.%u", kind->driver, SIM_CHIP_CORE);
	conv->name = kind->name;
	conv->slave_device = chip->core_device;
	conv->core.tx = kind->tx;
	conv->chip = chip;
	conv->front_end = &sim_chip_front_end;
}

const struct sim_front_end sim_chip_front_end = {
	.plug = sim_chip_plug,
	.unplug = sim_chip_unplug,
	.enable = sim_chip_enable,
	.ready = sim_chip_ready,
	.move = sim_chip_move,
};

int sim_chip_init(const char *name)
{
	const struct sim_chip_kind *kind = sim_chip_find(name);
	struct sim_converter *conv = &sim_chip_converter;
	int ret;

	if (!*name)
		return 0;
	sim_the_chip.conv = conv;
	sim_the_chip.regs = kzalloc(AXI_BUS_WINDOW, GFP_KERNEL);
	if (!sim_the_chip.regs)
		return -ENOMEM;
	sim_chip_make(&sim_the_chip, kind);
	sim_params_apply_board(conv, SIM_CHIP_CORE, true);
	sim_chip_channels(conv, kind);
	if (!conv->stream.rate)
		conv->nominal_rate = kind->rate;
	ret = sim_converter_init(conv);
	if (!ret)
		sim_debugfs_add(conv);
	return ret;
}

struct sim_converter *sim_chip_of(unsigned int number)
{
	return number == SIM_CHIP_CORE && sim_chip_converter.core.client ? &sim_chip_converter : NULL;
}

void sim_chip_exit(void)
{
	sim_converter_exit(&sim_chip_converter);
	kfree(sim_the_chip.regs);
}
