// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of an AXI-DMAC core that moves data. It walks the hardware descriptors, lets the
 * converter fill or read the memory, and completes a transfer when its last sample is due. The
 * work consists of steps that never sleep, so that either a thread or the register write itself
 * can do it.
 */
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "sim.h"

#define DESC_LAST	BIT(0)
#define DESC_IRQ	BIT(1)
#define BETWEEN_ROUNDS	20	/* us: lets other threads run, even at unlimited rate */

struct sim_descriptor {			/* layout in memory */
	u32 flags;
	u32 id;
	u64 dest_address;
	u64 src_address;
	u64 next;
	u32 y_length;
	u32 x_length;
	u32 src_stride;
	u32 dest_stride;
};

void sim_core_kick(struct sim_core *core)
{
	WRITE_ONCE(core->kicks, core->kicks + 1);
	wake_up(&core->wait);
}

/* Simulates a device that ends a packet early. The rest of the block stays unchanged. */
static void sim_engine_shorten(struct sim_core *core)
{
	if (core->begun++ != core->short_at || core->short_bytes >= core->left)
		return;
	core->left -= core->short_bytes;
	core->partial = core->left;
}

/* Begins the next segment of the current transfer. Returns false if there is none. */
static bool sim_engine_segment(struct sim_core *core)
{
	struct sim_descriptor *descriptor;

	if (core->now.sg) {
		if (!core->descriptor)
			return false;
		descriptor = phys_to_virt(core->descriptor);
		core->address = core->tx ? descriptor->src_address : descriptor->dest_address;
		core->left = (size_t)descriptor->x_length + 1;
		core->descriptor = descriptor->flags & DESC_LAST ? 0 : descriptor->next;
		core->looped = core->descriptor == core->now.address;
		core->loop_irq = descriptor->flags & DESC_IRQ;
		if (core->looped)
			core->descriptor = 0;
	} else {
		if (!core->now.bytes)
			return false;
		core->address = core->now.address;
		core->left = core->now.bytes;
		core->now.bytes = 0;
	}
	core->counts.segments++;
	if (core->now.last && !core->descriptor)
		sim_engine_shorten(core);
	if (core->segment_ns)
		core->charged_until = ktime_add_ns(max(core->charged_until, ktime_get()),
						   core->segment_ns);
	return true;
}

static enum sim_step sim_engine_move(struct sim_core *core, ktime_t *until)
{
	size_t want = min(core->left, core->chunk);
	ssize_t moved = core->client->move(core, phys_to_virt(core->address), want, until);

	if (moved <= 0) {
		if (moved == SIM_TAKE_DEAD)
			*until = KTIME_MAX;
		return SIM_STEP_WAIT;
	}
	core->address += moved;
	core->left -= moved;
	core->counts.bytes += moved;
	return SIM_STEP_DONE;
}

static enum sim_step sim_engine_finish(struct sim_core *core, ktime_t *until, bool *finished)
{
	ktime_t now = ktime_get();
	ktime_t due = max(core->client->due(core), core->charged_until);

	if (due > now) {
		*until = due;
		return SIM_STEP_WAIT;
	}
	if (!sim_core_may_complete(core)) {
		*until = ktime_add_us(now, 5);
		return SIM_STEP_WAIT;
	}
	core->working = false;
	*finished = true;
	if (sim_core_repeats(core)) {
		*until = ktime_add_us(now, BETWEEN_ROUNDS);
		return SIM_STEP_WAIT;
	}
	sim_core_complete(core, due);
	return SIM_STEP_DONE;
}

static enum sim_step sim_engine_locked_step(struct sim_core *core, ktime_t *until, bool *finished)
{
	struct sim_transfer *head;

	if (!core->working) {
		head = sim_core_head(core);
		if (!head)
			return SIM_STEP_EMPTY;
		core->now = *head;
		core->descriptor = head->sg ? head->address : 0;
		core->left = 0;
		core->partial = 0;
		core->working = true;
	}
	if (core->left || sim_engine_segment(core))
		return sim_engine_move(core, until);
	return sim_engine_finish(core, until, finished);
}

enum sim_step sim_engine_step(struct sim_core *core, ktime_t *until)
{
	bool finished = false;
	enum sim_step step;
	unsigned long flags;

	spin_lock_irqsave(&core->move_lock, flags);
	step = sim_engine_locked_step(core, until, &finished);
	spin_unlock_irqrestore(&core->move_lock, flags);
	if (finished)
		irq_work_queue(&core->irq_work);
	return step;
}

/* Moves data without latency, within the register write, until it has to wait for something. */
void sim_engine_inline(struct sim_core *core)
{
	ktime_t until;

	while (sim_engine_step(core, &until) == SIM_STEP_DONE)
		;
}

/*
 * Called in hard interrupt context. A second call while one runs makes the first one repeat its
 * work.
 */
void sim_engine_line(struct irq_work *work)
{
	struct sim_core *core = container_of(work, struct sim_core, irq_work);
	int seen;

	if (atomic_inc_return(&core->line) > 1)
		return;
	WRITE_ONCE(core->line_cpu, raw_smp_processor_id());
	do {
		seen = atomic_read(&core->line);
		sim_core_interrupt(core);
	} while (atomic_sub_return(seen, &core->line));
}

/*
 * The driver's handler reads and clears its status before it takes its lock. If the core is
 * stopped and started again in between, the handler mistakes the new transfer for the completed
 * one and frees its descriptor while the core still uses it. On hardware this window is some
 * nanoseconds wide, but a virtual CPU can be suspended in it for milliseconds. Therefore the core
 * waits for the handler before it starts. The handler itself can also start the core, after a
 * cyclic transfer.
 */
void sim_engine_wait_for_handler(struct sim_core *core)
{
	while (atomic_read(&core->line) &&
	       !(in_hardirq() && READ_ONCE(core->line_cpu) == raw_smp_processor_id()))
		cpu_relax();
}

static void sim_engine_sleep(struct sim_core *core, unsigned int kicks, ktime_t until)
{
	ktime_t span = KTIME_MAX;

	if (until != KTIME_MAX) {
		span = ktime_sub(until, ktime_get());
		if (span <= 0)
			return;
	}
	if (span == KTIME_MAX)
		wait_event_interruptible(core->wait, kthread_should_stop() ||
					 READ_ONCE(core->kicks) != kicks);
	else
		wait_event_interruptible_hrtimeout(core->wait, kthread_should_stop() ||
						   READ_ONCE(core->kicks) != kicks, span);
}

static int sim_engine(void *argument)
{
	struct sim_core *core = argument;

	current->timer_slack_ns = NSEC_PER_USEC;
	while (!kthread_should_stop()) {
		unsigned int kicks = READ_ONCE(core->kicks);
		ktime_t until = KTIME_MAX;

		if (sim_engine_step(core, &until) != SIM_STEP_DONE)
			sim_engine_sleep(core, kicks, until);
		else
			cond_resched();
	}
	return 0;
}

void sim_engine_init(struct sim_core *core)
{
	spin_lock_init(&core->move_lock);
	init_waitqueue_head(&core->wait);
	core->irq_work = IRQ_WORK_INIT_HARD(sim_engine_line);
}

int sim_engine_start(struct sim_core *core)
{
	core->task = kthread_run(sim_engine, core, "iios-dmac%u", core->id);
	if (IS_ERR(core->task)) {
		int ret = PTR_ERR(core->task);

		core->task = NULL;
		return ret;
	}
	return 0;
}

void sim_engine_stop(struct sim_core *core)
{
	if (core->task)
		kthread_stop(core->task);
	core->task = NULL;
}
