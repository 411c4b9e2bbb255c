// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AXI-DMAC cores as the kernel sees them: each has a platform device and an interrupt, and can
 * refuse descriptors.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "sim.h"

static struct sim_core *sim_cores[AXI_BUS_CORES];
static struct irq_domain *sim_irqs;
static struct fwnode_handle *sim_irq_node;

/* Delivers a level-triggered interrupt while an unmasked bit is pending. */
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

	if (number < core->refuse_at || number - core->refuse_at >= core->refuse_count ||
	    core->counts.refused >= core->refuse_most)
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

static void sim_issue_pending(struct dma_chan *chan)
{
	struct sim_core *core = sim_core_of(chan->device);

	core->issue_pending(chan);
	core->client->submitted(core);
}

/*
 * Called when the driver has registered its DMA device. Assigns it to the core and wraps its
 * callbacks.
 */
static int sim_core_controller(struct dma_device *dma)
{
	struct sim_core *core = sim_core_of(dma);

	if (!core)
		return -ENODEV;
	dma->filter.map = &core->map;
	dma->filter.mapcnt = 1;
	dma->filter.fn = sim_filter;
	core->dma = dma;
	core->issue_pending = dma->device_issue_pending;
	dma->device_issue_pending = sim_issue_pending;
	core->prep_sg = dma->device_prep_slave_sg;
	dma->device_prep_slave_sg = sim_prep_sg;
#if SIM_HAS_DMABUF
	core->prep_vec = dma->device_prep_peripheral_dma_vec;
	dma->device_prep_peripheral_dma_vec = sim_prep_vec;
#endif
	return 0;
}

static u32 sim_bus_read(unsigned int id, unsigned int reg)
{
	return sim_cores[id] ? sim_core_read(sim_cores[id], reg) : 0;
}

static void sim_bus_write(unsigned int id, unsigned int reg, u32 value)
{
	if (sim_cores[id])
		sim_core_write(sim_cores[id], reg, value);
}

static const struct axi_bus_ops sim_bus_ops = {
	.read = sim_bus_read,
	.write = sim_bus_write,
	.controller = sim_core_controller,
	.core_reg = sim_xflow_bus,
};

/*
 * Resets the counts of prepared and started blocks. Called before the blocks of a new enable are
 * prepared.
 */
void sim_core_restart(struct sim_core *core)
{
	core->prepared = 0;
	core->begun = 0;
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
 * The controller's device is unregistered, but its (small) object is never freed. DMABUF
 * attachments point to it without a reference, and the kernel keeps the attachments of blocks that
 * were enqueued on a disabled or removed buffer forever.
 */
void sim_core_remove(struct sim_core *core)
{
	sim_engine_stop(core);
	if (!IS_ERR_OR_NULL(core->pdev))
		platform_device_unregister(core->pdev);
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
