// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/iios-sim/DEVICE/: counters of the simulator, the true losses, and knobs. Each
 * file has one value. "summary" has all of them, and "gaps" has the list of losses.
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sim.h"

static struct dentry *sim_root;

struct sim_file {
	const char *name;
	u64 (*get)(struct sim_converter *conv);		/* NULL: a u64 at `offset` */
	int (*set)(struct sim_converter *conv, u64 value);
	size_t offset;
	enum { SIM_COUNT, SIM_KNOB, SIM_BUTTON } kind;
};

struct sim_open_file {
	struct sim_converter *conv;
	const struct sim_file *file;
};

static u64 sim_get_produced(struct sim_converter *conv)
{
	return sim_stream_clock(&conv->stream);
}

static u64 sim_get_delivered(struct sim_converter *conv)
{
	unsigned int scan_bytes = conv->stream.scan_bytes;

	return scan_bytes ? div_u64(READ_ONCE(conv->stream.moved_done), scan_bytes) : 0;
}

static u64 sim_get_xflow(struct sim_converter *conv)
{
	return sim_stream_xflow(&conv->stream, 0);
}

static u64 sim_get_plugged(struct sim_converter *conv)
{
	return READ_ONCE(conv->pdev) != NULL;
}

static u64 sim_get_pattern(struct sim_converter *conv)
{
	return conv->layout.pattern;
}

static int sim_set_pattern(struct sim_converter *conv, u64 value)
{
	if (value > SIM_NONE)
		return -EINVAL;
	conv->layout.pattern = value;
	return 0;
}

static u64 sim_get_rate(struct sim_converter *conv)
{
	return conv->stream.rate;
}

static int sim_set_unplug(struct sim_converter *conv, u64 value)
{
	sim_converter_unplug(conv);
	return 0;
}

static int sim_set_replug(struct sim_converter *conv, u64 value)
{
	return sim_converter_plug(conv);
}

static int sim_set_reset(struct sim_converter *conv, u64 value)
{
	memset(&conv->core.counts, 0, sizeof(conv->core.counts));
	conv->xflow_reads = 0;
	return 0;
}

#define COUNT(_name, _field) { .name = _name, .offset = offsetof(struct sim_converter, _field) }
#define COUNT_GET(_name, _get) { .name = _name, .get = _get }
#define KNOB(_name, _field) {							\
	.name = _name, .kind = SIM_KNOB, .offset = offsetof(struct sim_converter, _field) }
#define BUTTON(_name) { .name = #_name, .kind = SIM_BUTTON, .set = sim_set_##_name }

static const struct sim_file sim_files[] = {
	COUNT("transfers", core.counts.transfers),
	COUNT("segments", core.counts.segments),
	COUNT("interrupts", core.counts.interrupts),
	COUNT("bytes", core.counts.bytes),
	COUNT("refused", core.counts.refused),
	COUNT("prepared", core.prepared),
	COUNT_GET("produced", sim_get_produced),
	COUNT_GET("delivered", sim_get_delivered),
	COUNT("lost", stream.lost_done),
	COUNT("lost_pending", stream.lost_pending),
	COUNT("gap_count", stream.gaps_done),
	COUNT("underflows", stream.underflows),
	COUNT("underflow_scans", stream.underflow_scans),
	COUNT("mismatches", check.mismatches),
	COUNT("mismatch_at", check.first_unit),
	COUNT("mismatch_expected", check.first_expected),
	COUNT("mismatch_got", check.first_got),
	COUNT("check_gaps", check.gaps),
	COUNT("check_repeats", check.repeats),
	COUNT_GET("xflow", sim_get_xflow),
	COUNT("xflow_reads", xflow_reads),
	COUNT("spi_writes", spi_writes),
	COUNT_GET("plugged", sim_get_plugged),
	{ .name = "rate", .kind = SIM_KNOB, .get = sim_get_rate, .set = sim_converter_set_clock },
	{ .name = "pattern", .kind = SIM_KNOB, .get = sim_get_pattern, .set = sim_set_pattern },
	KNOB("fifo", stream.fifo),
	KNOB("start", layout.start),
	KNOB("stuck_low", layout.stuck_low),
	KNOB("stuck_high", layout.stuck_high),
	KNOB("repeat", layout.repeat),
	KNOB("segment_ns", core.segment_ns),
	KNOB("irq_ns", core.irq_ns),
	KNOB("instant", core.instant),
	KNOB("refuse_at", core.refuse_at),
	KNOB("refuse_count", core.refuse_count),
	KNOB("refuse_most", core.refuse_most),
	KNOB("short_at", core.short_at),
	KNOB("short_bytes", core.short_bytes),
	KNOB("stall_at", stream.faults.stall_at),
	KNOB("stall_ms", stream.faults.stall_ms),
	KNOB("dead_at", stream.faults.dead_at),
	KNOB("drop_at", stream.faults.drop_at),
	KNOB("drop", stream.faults.drop),
	KNOB("drop_every", stream.faults.drop_every),
	KNOB("drop_xflow", stream.faults.drop_xflow),
	KNOB("xflow_delay_ms", xflow_delay_ms),
	KNOB("xflow_clear", xflow_clear),
	BUTTON(unplug),
	BUTTON(replug),
	BUTTON(reset),
};

static u64 *sim_field(struct sim_converter *conv, const struct sim_file *file)
{
	return (u64 *)((u8 *)conv + file->offset);
}

static u64 sim_file_value(struct sim_converter *conv, const struct sim_file *file)
{
	return file->get ? file->get(conv) : READ_ONCE(*sim_field(conv, file));
}

static int sim_print(char *text, size_t size, u64 value)
{
	if (value == SIM_NEVER)
		return scnprintf(text, size, "off\n");
	return scnprintf(text, size, "%llu\n", value);
}

static ssize_t sim_file_read(struct file *file, char __user *user, size_t count, loff_t *at)
{
	struct sim_open_file *open = file->private_data;
	char text[32];
	int length;

	if (*at) /* a second read could append the rest of another value */
		return 0;
	length = sim_print(text, sizeof(text), sim_file_value(open->conv, open->file));
	return simple_read_from_buffer(user, count, at, text, length);
}

static ssize_t sim_file_write(struct file *file, const char __user *user, size_t count, loff_t *at)
{
	struct sim_open_file *open = file->private_data;
	char text[32];
	u64 value = SIM_NEVER;
	int ret = 0;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, count))
		return -EFAULT;
	text[count] = 0;
	if (!sysfs_streq(text, "off"))
		ret = kstrtoull(text, 0, &value);
	if (ret)
		return ret;
	if (open->file->set)
		ret = open->file->set(open->conv, value);
	else
		WRITE_ONCE(*sim_field(open->conv, open->file), value);
	sim_stream_look_again(&open->conv->stream);
	sim_core_kick(&open->conv->core);
	return ret ? ret : count;
}

static const struct file_operations sim_file_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = sim_file_read,
	.write = sim_file_write,
};

static int sim_summary_show(struct seq_file *seq, void *unused)
{
	struct sim_converter *conv = seq->private;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_files); i++) {
		char text[32];

		if (sim_files[i].kind == SIM_BUTTON)
			continue;
		sim_print(text, sizeof(text), sim_file_value(conv, &sim_files[i]));
		seq_printf(seq, "%s=%s", sim_files[i].name, text);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sim_summary);

/*
 * Prints a line for each gap: scans delivered before it, lost scans, and absolute scan at which it
 * begins.
 */
static int sim_gaps_show(struct seq_file *seq, void *unused)
{
	struct sim_converter *conv = seq->private;
	unsigned int count = min_t(u64, READ_ONCE(conv->stream.gaps_done), SIM_TRUE_GAPS), i;

	for (i = 0; i < count; i++) {
		const struct sim_gap *gap = &conv->stream.gaps[i];

		seq_printf(seq, "%llu %llu %llu\n", gap->delivered, gap->lost, gap->at);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sim_gaps);

static const umode_t sim_modes[] = {
	[SIM_COUNT] = 0444,
	[SIM_KNOB] = 0644,
	[SIM_BUTTON] = 0200,
};

void sim_debugfs_add(struct sim_converter *conv)
{
	struct dentry *dir = debugfs_create_dir(conv->name, sim_root);
	struct sim_open_file *files = kcalloc(ARRAY_SIZE(sim_files), sizeof(*files), GFP_KERNEL);
	unsigned int i;

	conv->open_files = files;
	if (!files)
		return;
	for (i = 0; i < ARRAY_SIZE(sim_files); i++) {
		files[i].conv = conv;
		files[i].file = &sim_files[i];
		debugfs_create_file(sim_files[i].name, sim_modes[sim_files[i].kind], dir,
				    &files[i], &sim_file_ops);
	}
	debugfs_create_file("summary", 0444, dir, conv, &sim_summary_fops);
	debugfs_create_file("gaps", 0444, dir, conv, &sim_gaps_fops);
}

void sim_debugfs_init(void)
{
	sim_root = debugfs_create_dir("iios-sim", NULL);
}

void sim_debugfs_exit(void)
{
	unsigned int i;

	debugfs_remove_recursive(sim_root);
	for (i = 0; i < AXI_BUS_CORES; i++)
		if (sim_converter(i))
			kfree(sim_converter(i)->open_files);
}
