// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters of the module, which docs/simulator.md describes. Most are also knobs in debugfs,
 * one for each converter (sim_debugfs.c). Fault parameters apply to the first ADC, or to the chip
 * that `converter` names.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/string.h>

#include "sim.h"

#define NOMINAL_RATE	30720000
#define LIKE_RATE	U64_MAX

static char *board;
module_param(board, charp, 0444);
static char *scan = "s16";
module_param(scan, charp, 0444);
static char *pattern = "ramp";
module_param(pattern, charp, 0444);
static char *check = "ramp";
module_param(check, charp, 0444);
static char *xflow;			/* default: mainline, or adi for a board */
module_param(xflow, charp, 0444);
static char *converter = "";
module_param(converter, charp, 0444);
static unsigned int counter;
module_param(counter, uint, 0444);
static unsigned int adcs = 1;
module_param(adcs, uint, 0444);
static unsigned int align = 8;
module_param(align, uint, 0444);
static bool sg = true;
module_param(sg, bool, 0444);
static bool cyclic = true;
module_param(cyclic, bool, 0444);
static bool slow;
module_param(slow, bool, 0444);
static bool instant;
module_param(instant, bool, 0444);
static unsigned long long rate;
module_param(rate, ullong, 0444);
static unsigned long long dac_rate = LIKE_RATE;
module_param(dac_rate, ullong, 0444);
static unsigned long long fifo = 4096;
module_param(fifo, ullong, 0444);
static unsigned long long start;
module_param(start, ullong, 0444);
static unsigned long long segment_ns;
module_param(segment_ns, ullong, 0444);
static unsigned long long irq_ns;
module_param(irq_ns, ullong, 0444);
static unsigned long long xflow_delay_ms;
module_param(xflow_delay_ms, ullong, 0444);
static unsigned long long xflow_clear;
module_param(xflow_clear, ullong, 0444);

static unsigned long long refuse_at = SIM_NEVER;
module_param(refuse_at, ullong, 0444);
static unsigned long long refuse_count = 1;
module_param(refuse_count, ullong, 0444);
static unsigned long long refuse_most = SIM_NEVER;
module_param(refuse_most, ullong, 0444);
static unsigned long long short_at = SIM_NEVER;
module_param(short_at, ullong, 0444);
static unsigned long long short_bytes;
module_param(short_bytes, ullong, 0444);
static struct sim_faults faults = {
	.stall_at = SIM_NEVER,
	.dead_at = SIM_NEVER,
	.drop_at = SIM_NEVER,
};
module_param_named(stall_at, faults.stall_at, ullong, 0444);
module_param_named(stall_ms, faults.stall_ms, ullong, 0444);
module_param_named(dead_at, faults.dead_at, ullong, 0444);
module_param_named(drop_at, faults.drop_at, ullong, 0444);
module_param_named(drop, faults.drop, ullong, 0444);
module_param_named(drop_every, faults.drop_every, ullong, 0444);
module_param_named(drop_xflow, faults.drop_xflow, ullong, 0444);

static int sim_xflow_parse(const char *name)
{
	static const char * const names[] = { "none", "mainline", "adi", "spi" };

	if (!name)
		return board ? SIM_XFLOW_ADI : SIM_XFLOW_MAINLINE;

	return match_string(names, ARRAY_SIZE(names), name);
}

int sim_params_check(void)
{
	if (!is_power_of_2(align) || align < 2 || align > 16 || adcs > 2 || rate > SIM_MAX_RATE ||
	    (dac_rate != LIKE_RATE && dac_rate > SIM_MAX_RATE) ||
	    (counter && counter != 32 && counter != 64) || sim_pattern_parse(pattern) < 0 ||
	    sim_pattern_parse(check) < 0 || sim_xflow_parse(xflow) < 0 ||
	    (*converter && !sim_chip_known(converter)) || (board && (*converter || slow || counter))) {
		pr_err("iios-sim: a parameter is out of range\n");
		return -EINVAL;
	}
	return 0;
}

unsigned int sim_params_adcs(void)
{
	return adcs;
}

/* Returns the file that describes the board, or NULL for the simulator's own devices. */
const char *sim_params_board(void)
{
	return board;
}

bool sim_params_slow(void)
{
	return slow;
}

const char *sim_params_converter(void)
{
	return converter;
}

static void sim_params_faults(struct sim_converter *conv, bool first)
{
	static const struct sim_faults none = {
		.stall_at = SIM_NEVER,
		.dead_at = SIM_NEVER,
		.drop_at = SIM_NEVER,
	};

	conv->stream.faults = first ? faults : none;
	conv->core.refuse_at = first ? refuse_at : SIM_NEVER;
	conv->core.refuse_count = first ? refuse_count : 1;
	conv->core.refuse_most = first ? refuse_most : SIM_NEVER;
	conv->core.short_at = first ? short_at : SIM_NEVER;
	conv->core.short_bytes = short_bytes;
}

static void sim_params_apply_all(struct sim_converter *conv, unsigned int number, bool first)
{
	bool tx = conv->core.tx;
	u64 clock = tx && dac_rate != LIKE_RATE ? dac_rate : rate;

	conv->core.id = number;
	conv->core.sg = sg;
	conv->core.cyclic = cyclic;
	conv->core.align = align;
	conv->core.instant = instant;
	conv->core.segment_ns = segment_ns;
	conv->core.irq_ns = irq_ns;
	conv->xflow = sim_xflow_parse(xflow);
	conv->xflow_delay_ms = xflow_delay_ms;
	conv->xflow_clear = xflow_clear;
	conv->layout.start = tx ? 0 : start;
	conv->layout.pattern = sim_pattern_parse(tx ? check : pattern);
	conv->nominal_rate = clock ? clock : NOMINAL_RATE;
	conv->stream.rate = clock;
	conv->stream.fifo = fifo;
	sim_params_faults(conv, first);
}

/* Applies the parameters to one of the simulator's own devices. */
int sim_params_apply(struct sim_converter *conv, unsigned int number)
{
	sim_params_apply_all(conv, number, number == 0 && !*converter);
	return sim_channels_make(conv, scan, counter);
}

/*
 * Applies the parameters that a board or a chip does not determine. The fault parameters apply only
 * if `first` is set.
 */
void sim_params_apply_board(struct sim_converter *conv, unsigned int number, bool first)
{
	sim_params_apply_all(conv, number, first);
}
