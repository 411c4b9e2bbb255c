// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and queue of ADI's AXI-DMAC core, version 4.5.a. Register accesses are plain calls
 * (axi_bus.c); the work is done by axi_dmac_engine.c.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/log2.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

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
#define REG_SG_ADDRESS		0x47c
#define REG_SG_ADDRESS_HIGH	0x4bc

#define CONTROL_ENABLE		BIT(0)
#define CONTROL_SG		BIT(2)
#define FLAGS_CYCLIC		BIT(0)
#define IRQ_QUEUED		BIT(0)
#define IRQ_DONE		BIT(1)

#define VERSION_4_5_A		((4 << 16) | (5 << 8) | 'a')
#define LENGTH_BITS		0xffffff
#define BUS_MEMORY		0
#define BUS_FIFO		2

static struct sim_core *sim_cores[AXI_BUS_CORES];
static struct irq_domain *sim_irqs;
static struct fwnode_handle *sim_irq_node;

static u32 *sim_reg(struct sim_core *core, unsigned int reg)
{
	return &core->regs[reg / sizeof(u32)];
}

static u32 sim_core_read(unsigned int id, unsigned int reg)
{
	struct sim_core *core = sim_cores[id];
	unsigned long flags;
	u32 value;

	if (!core)
		return 0;
	spin_lock_irqsave(&core->lock, flags);
	switch (reg) {
	case REG_TRANSFER_ID:
		value = core->next_id;
		break;
	case REG_START:
		value = core->count == SIM_QUEUE;
		break;
	default:
		value = *sim_reg(core, reg);
		break;
	}
	spin_unlock_irqrestore(&core->lock, flags);
	return value;
}

/* Puts what the registers describe into the queue; the lock is held. */
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
	*sim_reg(core, REG_TRANSFER_DONE) &= ~BIT(core->next_id);
	core->next_id = (core->next_id + 1) % SIM_QUEUE;
	if (!core->count++)
		core->client->busy(core);
	if (core->count < SIM_QUEUE)
		*sim_reg(core, REG_IRQ_PENDING) |= IRQ_QUEUED;
}

/* Once this returns, no memory of the aborted transfers is touched any more. */
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
	case REG_FLAGS:		/* no cyclic transfers */
		value &= ~FLAGS_CYCLIC;
		break;
	case REG_X_LENGTH:
		value = (value & LENGTH_BITS) | (core->align - 1);
		break;
	case REG_SG_ADDRESS:
	case REG_SG_ADDRESS_HIGH:
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

static bool sim_core_asserts(struct sim_core *core)
{
	return *sim_reg(core, REG_IRQ_PENDING) & ~*sim_reg(core, REG_IRQ_MASK);
}

static void sim_core_write(unsigned int id, unsigned int reg, u32 value)
{
	struct sim_core *core = sim_cores[id];
	unsigned long flags;
	bool asserts;

	if (!core)
		return;
	if (reg == REG_CONTROL && !(value & CONTROL_ENABLE)) {
		sim_core_abort(core);
		return;
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

/* The transfer at the queue's head, NULL if there is none or if it may not start yet. */
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

/* Whether the driver has yet to see the last completion; with scatter-gather it counts them. */
bool sim_core_unseen(struct sim_core *core)
{
	return READ_ONCE(*sim_reg(core, REG_IRQ_PENDING)) & IRQ_DONE;
}

/* The head has been carried out, which was due at that time. */
void sim_core_complete(struct sim_core *core, ktime_t due)
{
	unsigned long flags;

	spin_lock_irqsave(&core->lock, flags);
	*sim_reg(core, REG_TRANSFER_DONE) |= BIT(core->queue[core->first].id);
	*sim_reg(core, REG_IRQ_PENDING) |= IRQ_DONE;
	if (core->count == SIM_QUEUE)
		*sim_reg(core, REG_IRQ_PENDING) |= IRQ_QUEUED;
	core->first = (core->first + 1) % SIM_QUEUE;
	core->counts.transfers++;
	if (!--core->count)
		core->client->idle(core, due);
	spin_unlock_irqrestore(&core->lock, flags);
}

/* Delivers the interrupt as a level: as long as an unmasked bit is pending. */
void sim_core_interrupt(struct sim_core *core)
{
	unsigned int tries;

	for (tries = 0; tries < 100 && sim_core_asserts(core); tries++) {
		core->counts.interrupts++;
		if (core->irq_ns)
			ndelay(min_t(u64, core->irq_ns, 1000000));
		generic_handle_domain_irq(sim_irqs, core->id);
	}
}

static int sim_irq_map(struct irq_domain *domain, unsigned int virq, irq_hw_number_t hwirq)
{
	irq_set_chip_and_handler(virq, &dummy_irq_chip, handle_simple_irq);
	return 0;
}

static const struct irq_domain_ops sim_irq_ops = {
	.map = sim_irq_map,
};

static bool sim_filter(struct dma_chan *chan, void *param)
{
	return true;
}

static struct sim_core *sim_core_of(struct dma_device *dma)
{
	int id = to_platform_device(dma->dev)->id;

	return id >= 0 && id < AXI_BUS_CORES ? sim_cores[id] : NULL;
}

static bool sim_core_refuses(struct sim_core *core)
{
	u64 number = core->prepared++;

	if (number < core->refuse_at || number - core->refuse_at >= core->refuse_count)
		return false;
	core->counts.refused++;
	return true;
}

static struct dma_async_tx_descriptor *
sim_prep_sg(struct dma_chan *chan, struct scatterlist *sgl, unsigned int count,
	    enum dma_transfer_direction direction, unsigned long flags, void *context)
{
	struct sim_core *core = sim_core_of(chan->device);

	if (sim_core_refuses(core))
		return NULL;
	return core->prep_sg(chan, sgl, count, direction, flags, context);
}

#if SIM_HAS_DMABUF
static struct dma_async_tx_descriptor *
sim_prep_vec(struct dma_chan *chan, const struct dma_vec *vecs, size_t count,
	     enum dma_transfer_direction direction, unsigned long flags)
{
	struct sim_core *core = sim_core_of(chan->device);

	if (sim_core_refuses(core))
		return NULL;
	return core->prep_vec(chan, vecs, count, direction, flags);
}
#endif

/* The driver has registered its DMA device: say whose it is, and stand before its callbacks. */
static int sim_core_controller(struct dma_device *dma)
{
	struct sim_core *core = sim_core_of(dma);

	if (!core)
		return -ENODEV;
	dma->filter.map = &core->map;
	dma->filter.mapcnt = 1;
	dma->filter.fn = sim_filter;
	core->dma = dma;
	core->prep_sg = dma->device_prep_slave_sg;
	dma->device_prep_slave_sg = sim_prep_sg;
#if SIM_HAS_DMABUF
	core->prep_vec = dma->device_prep_peripheral_dma_vec;
	dma->device_prep_peripheral_dma_vec = sim_prep_vec;
#endif
	return 0;
}

static const struct axi_bus_ops sim_bus_ops = {
	.read = sim_core_read,
	.write = sim_core_write,
	.controller = sim_core_controller,
	.core_reg = sim_xflow_bus,
};

static void sim_core_init_regs(struct sim_core *core)
{
	u32 width = ilog2(core->align);
	u32 source = (core->tx ? BUS_MEMORY : BUS_FIFO) << 12 | width << 8;
	u32 dest = (core->tx ? BUS_FIFO : BUS_MEMORY) << 4 | width;

	*sim_reg(core, REG_VERSION) = VERSION_4_5_A;
	*sim_reg(core, REG_INTERFACE) = source | dest;
	*sim_reg(core, REG_COHERENCY) = 1;
}

/* Forgets the blocks of an earlier enable; called before the new ones are prepared. */
void sim_core_restart(struct sim_core *core)
{
	core->prepared = 0;
}

int sim_core_add(struct sim_core *core, const char *slave_device, const char *slave)
{
	struct resource irq = { .flags = IORESOURCE_IRQ };
	struct platform_device_info info = {
		.name = "dma-axi-dmac",
		.id = core->id,
		.res = &irq,
		.num_res = 1,
		.dma_mask = core->sg ? DMA_BIT_MASK(64) : DMA_BIT_MASK(32),
	};
	int ret;

	spin_lock_init(&core->lock);
	core->map.devname = slave_device;
	core->map.slave = slave;
	core->regs = kzalloc(AXI_BUS_WINDOW, GFP_KERNEL);
	if (!core->regs)
		return -ENOMEM;
	sim_core_init_regs(core);
	sim_engine_init(core);
	irq.start = irq_create_mapping(sim_irqs, core->id);
	irq.end = irq.start;
	sim_cores[core->id] = core;
	core->pdev = irq.start ? platform_device_register_full(&info) : ERR_PTR(-ENOMEM);
	ret = PTR_ERR_OR_ZERO(core->pdev);
	if (!ret) {
		get_device(&core->pdev->dev);
		ret = sim_engine_start(core);
	}
	return ret;
}

/*
 * A user who still has an attachment open holds a pointer to the controller's device without
 * a reference; keep_device leaves him the (small) object.
 */
void sim_core_remove(struct sim_core *core, bool keep_device)
{
	sim_engine_stop(core);
	if (!IS_ERR_OR_NULL(core->pdev)) {
		platform_device_unregister(core->pdev);
		if (!keep_device)
			put_device(&core->pdev->dev);
	}
	irq_work_sync(&core->irq_work);
	sim_cores[core->id] = NULL;
	irq_dispose_mapping(irq_find_mapping(sim_irqs, core->id));
	kfree(core->regs);
	core->regs = NULL;
}

int sim_cores_init(void)
{
	sim_irq_node = irq_domain_alloc_named_fwnode("iios-sim");
	if (!sim_irq_node)
		return -ENOMEM;
	sim_irqs = irq_domain_create_linear(sim_irq_node, AXI_BUS_CORES, &sim_irq_ops, NULL);
	if (!sim_irqs) {
		irq_domain_free_fwnode(sim_irq_node);
		return -ENOMEM;
	}
	axi_bus_attach(&sim_bus_ops);
	return 0;
}

void sim_cores_exit(void)
{
	axi_bus_attach(NULL);
	irq_domain_remove(sim_irqs);
	irq_domain_free_fwnode(sim_irq_node);
}
