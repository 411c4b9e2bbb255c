// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and queue of ADI's AXI-DMAC core, version 4.5.a. Register accesses are plain calls
 * (axi_bus.c). axi_dmac_engine.c does the work, and axi_dmac_device.c makes the core visible to
 * the kernel.
 */
#include <linux/log2.h>

#include "sim.h"

#define REG_VERSION		0x000
#define REG_INTERFACE		0x010	/* bus types and log2 of their widths */
#define REG_COHERENCY		0x014
#define REG_IRQ_MASK		0x080
#define REG_IRQ_PENDING		0x084
#define REG_CONTROL		0x400
#define REG_TRANSFER_ID		0x404
#define REG_START		0x408
#define REG_FLAGS		0x40c
#define REG_DEST_ADDRESS	0x410
#define REG_SRC_ADDRESS		0x414
#define REG_X_LENGTH		0x418
#define REG_Y_LENGTH		0x41c
#define REG_TRANSFER_DONE	0x428
#define REG_PARTIAL_LENGTH	0x44c
#define REG_PARTIAL_ID		0x450
#define REG_SG_ADDRESS		0x47c
#define REG_DEST_ADDRESS_HIGH	0x490	/* Linux 7 detects the width of addresses here */
#define REG_SRC_ADDRESS_HIGH	0x494
#define REG_SG_ADDRESS_HIGH	0x4bc

#define CONTROL_ENABLE		BIT(0)
#define CONTROL_SG		BIT(2)
#define FLAGS_CYCLIC		BIT(0)
#define FLAGS_LAST		BIT(1)
#define IRQ_QUEUED		BIT(0)
#define IRQ_DONE		BIT(1)

#define VERSION_4_5_A		((4 << 16) | (5 << 8) | 'a')
#define DONE_PARTIAL		BIT(31)
#define LENGTH_BITS		0xffffff
#define BUS_MEMORY		0
#define BUS_FIFO		2

static u32 *sim_reg(struct sim_core *core, unsigned int reg)
{
	return &core->regs[reg / sizeof(u32)];
}

u32 sim_core_read(struct sim_core *core, unsigned int reg)
{
	unsigned long flags;
	u32 value;

	spin_lock_irqsave(&core->lock, flags);
	switch (reg) {
	case REG_TRANSFER_ID:
		value = core->next_id;
		break;
	case REG_START:
		value = core->count == SIM_QUEUE;
		break;
	case REG_PARTIAL_ID:	/* reading this register clears the report */
		*sim_reg(core, REG_TRANSFER_DONE) &= ~DONE_PARTIAL;
		fallthrough;
	default:
		value = *sim_reg(core, reg);
		break;
	}
	spin_unlock_irqrestore(&core->lock, flags);
	return value;
}

/* Puts the transfer that the registers describe into the queue. The lock is held. */
static void sim_core_queue(struct sim_core *core)
{
	struct sim_transfer *transfer;

	if (!(*sim_reg(core, REG_CONTROL) & CONTROL_ENABLE) || core->count == SIM_QUEUE)
		return;
	transfer = &core->queue[(core->first + core->count) % SIM_QUEUE];
	transfer->sg = core->sg && (*sim_reg(core, REG_CONTROL) & CONTROL_SG);
	if (transfer->sg)
		transfer->address = *sim_reg(core, REG_SG_ADDRESS) |
				    (u64)*sim_reg(core, REG_SG_ADDRESS_HIGH) << 32;
	else
		transfer->address = *sim_reg(core, core->tx ? REG_SRC_ADDRESS : REG_DEST_ADDRESS);
	transfer->bytes = *sim_reg(core, REG_X_LENGTH) + 1;
	transfer->id = core->next_id;
	transfer->last = transfer->sg || (*sim_reg(core, REG_FLAGS) & FLAGS_LAST);
	transfer->cyclic = !transfer->sg && (*sim_reg(core, REG_FLAGS) & FLAGS_CYCLIC);
	*sim_reg(core, REG_TRANSFER_DONE) &= ~BIT(core->next_id);
	core->next_id = (core->next_id + 1) % SIM_IDS;
	if (!core->count++)
		core->client->busy(core);
	if (core->count < SIM_QUEUE)
		*sim_reg(core, REG_IRQ_PENDING) |= IRQ_QUEUED;
}

/* After this returns, the memory of the aborted transfers is no longer accessed. */
static void sim_core_abort(struct sim_core *core)
{
	unsigned long flags;

	spin_lock_irqsave(&core->move_lock, flags);
	core->working = false;
	core->charged_until = 0;
	spin_lock(&core->lock);
	core->first = 0;
	core->count = 0;
	core->next_id = 0;
	*sim_reg(core, REG_CONTROL) = 0;
	*sim_reg(core, REG_TRANSFER_DONE) = 0;
	*sim_reg(core, REG_IRQ_PENDING) = 0;
	spin_unlock(&core->lock);
	spin_unlock_irqrestore(&core->move_lock, flags);
	sim_core_kick(core);
}

static void sim_core_store(struct sim_core *core, unsigned int reg, u32 value)
{
	switch (reg) {
	case REG_VERSION:
	case REG_INTERFACE:
	case REG_COHERENCY:
	case REG_Y_LENGTH:	/* no two-dimensional transfers */
		return;
	case REG_IRQ_PENDING:
		*sim_reg(core, reg) &= ~value;
		return;
	case REG_FLAGS:
		if (!core->cyclic)
			value &= ~FLAGS_CYCLIC;
		break;
	case REG_X_LENGTH:
		value = (value & LENGTH_BITS) | (core->align - 1);
		break;
	case REG_SG_ADDRESS:
	case REG_SG_ADDRESS_HIGH:
	case REG_DEST_ADDRESS_HIGH:
	case REG_SRC_ADDRESS_HIGH:
		if (!core->sg)
			value = 0;
		break;
	case REG_START:
		if (value & 1)
			sim_core_queue(core);
		return;
	}
	*sim_reg(core, reg) = value;
}

/* Returns whether the interrupt line is active, which means that an unmasked bit is pending. */
bool sim_core_asserts(struct sim_core *core)
{
	return *sim_reg(core, REG_IRQ_PENDING) & ~*sim_reg(core, REG_IRQ_MASK);
}

void sim_core_write(struct sim_core *core, unsigned int reg, u32 value)
{
	unsigned long flags;
	bool asserts;

	if (reg == REG_CONTROL && !(value & CONTROL_ENABLE)) {
		sim_core_abort(core);
		core->client->enable(core, false);
		return;
	}
	if (reg == REG_CONTROL && !(READ_ONCE(*sim_reg(core, reg)) & CONTROL_ENABLE)) {
		sim_engine_wait_for_handler(core);
		core->client->enable(core, true);
	}
	spin_lock_irqsave(&core->lock, flags);
	sim_core_store(core, reg, value);
	asserts = sim_core_asserts(core);
	spin_unlock_irqrestore(&core->lock, flags);
	if (reg != REG_START)
		return;
	if (asserts)
		irq_work_queue(&core->irq_work);
	if (core->instant)
		sim_engine_inline(core);
	sim_core_kick(core);
}

/*
 * Returns the transfer at the head of the queue, or NULL if there is none or if it must not start
 * yet.
 */
struct sim_transfer *sim_core_head(struct sim_core *core)
{
	struct sim_transfer *head = NULL;
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	if (core->count && core->client->running(core))
		head = &core->queue[core->first];
	spin_unlock_irqrestore(&core->lock, flags);
	return head;
}

/*
 * With scatter-gather the driver completes one descriptor for each interrupt, even if several are
 * done. Without it, the driver checks the done bits of the ids, which are sufficient for a few
 * transfers.
 */
bool sim_core_may_complete(struct sim_core *core)
{
	if (!(READ_ONCE(*sim_reg(core, REG_IRQ_PENDING)) & IRQ_DONE))
		core->unseen = 0;
	return core->unseen <= (core->sg ? 0 : SIM_UNSEEN - 1);
}

/* Completes the transfer at the head of the queue. `due` is the time at which it was due. */
void sim_core_complete(struct sim_core *core, ktime_t due)
{
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	*sim_reg(core, REG_TRANSFER_DONE) |= BIT(core->queue[core->first].id);
	*sim_reg(core, REG_IRQ_PENDING) |= IRQ_DONE;
	if (core->partial) {
		*sim_reg(core, REG_TRANSFER_DONE) |= DONE_PARTIAL;
		*sim_reg(core, REG_PARTIAL_LENGTH) = core->partial;
		*sim_reg(core, REG_PARTIAL_ID) = core->queue[core->first].id;
	}
	if (core->count == SIM_QUEUE)
		*sim_reg(core, REG_IRQ_PENDING) |= IRQ_QUEUED;
	if (core->queue[core->first].last)
		core->client->done(core);
	core->first = (core->first + 1) % SIM_QUEUE;
	core->counts.transfers++;
	core->unseen++;
	if (!--core->count)
		core->client->idle(core, due);
	spin_unlock_irqrestore(&core->lock, flags);
}

/*
 * Called when the transfer at the head of the queue is complete. Returns whether the transfer
 * repeats. With scatter-gather it repeats if its last descriptor points to the first one. Without
 * scatter-gather it repeats while the cyclic bit of the register is set.
 */
bool sim_core_repeats(struct sim_core *core)
{
	unsigned long flags;
	bool repeats;

	spin_lock_irqsave(&core->lock, flags);
	repeats = core->now.sg ? core->looped :
		  core->now.cyclic && (*sim_reg(core, REG_FLAGS) & FLAGS_CYCLIC);
	if (repeats && core->now.last)
		core->client->done(core);
	if (repeats && core->now.sg && core->loop_irq) {
		*sim_reg(core, REG_TRANSFER_DONE) |= BIT(core->now.id);
		*sim_reg(core, REG_IRQ_PENDING) |= IRQ_DONE;
	}
	spin_unlock_irqrestore(&core->lock, flags);
	return repeats;
}

void sim_core_init_regs(struct sim_core *core)
{
	u32 width = ilog2(core->align);
	u32 source = (core->tx ? BUS_MEMORY : BUS_FIFO) << 12 | width << 8;
	u32 dest = (core->tx ? BUS_FIFO : BUS_MEMORY) << 4 | width;

	*sim_reg(core, REG_VERSION) = VERSION_4_5_A;
	*sim_reg(core, REG_INTERFACE) = source | dest;
	*sim_reg(core, REG_COHERENCY) = 1;
}
