/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include <linux/dmaengine.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "axi_bus.h"
#include "compat.h"

/* ---- axi_dmac_{model,engine,device}.c: one AXI-DMAC core ---- */

#define SIM_QUEUE	4		/* transfers in hardware */
#define SIM_IDS		8
#define SIM_UNSEEN	3		/* completions that the driver might have to process */

struct sim_transfer {
	u64 address;			/* of the first descriptor, or of the data */
	u32 bytes;			/* without scatter-gather */
	u32 id;
	bool sg;
	bool last;			/* last transfer of its block */
	bool cyclic;			/* without sg: repeats while FLAGS has the bit */
};

struct sim_counts {
	u64 transfers, segments, interrupts, bytes, refused;
};

struct sim_core;

/* The converter on the other side of the core. */
struct sim_client {
	/*
	 * Moves up to `bytes` bytes. Returns their number, or a value of enum sim_take with the
	 * time to wait.
	 */
	ssize_t (*move)(struct sim_core *core, void *memory, size_t bytes, ktime_t *until);
	ktime_t (*due)(struct sim_core *core);
	bool (*running)(struct sim_core *core);
	void (*busy)(struct sim_core *core);
	void (*submitted)(struct sim_core *core);	/* the DMA driver has got a block */
	void (*idle)(struct sim_core *core, ktime_t due);
	void (*done)(struct sim_core *core);	/* a whole block is complete */
	void (*enable)(struct sim_core *core, bool on);	/* CONTROL changes; atomic context */
};

struct sim_core {
	unsigned int id;
	bool tx, sg, cyclic;		/* cyclic: FLAGS has that bit */
	unsigned int align;		/* bus width in bytes */
	size_t chunk;			/* bytes moved with interrupts off */
	const struct sim_client *client;

	spinlock_t lock;		/* registers and queue */
	u32 *regs;
	struct sim_transfer queue[SIM_QUEUE];
	unsigned int first, count;
	u32 next_id;
	unsigned int unseen;		/* completions that the driver has not processed */

	/*
	 * Protects the current transfer. Held while memory is accessed, so that an abort waits for
	 * it.
	 */
	spinlock_t move_lock;
	bool working;
	struct sim_transfer now;
	u64 descriptor;			/* the next one, 0: none */
	bool looped;			/* the last descriptor points to the first */
	bool loop_irq;			/* and requests an interrupt */
	u64 address;
	size_t left;
	ktime_t charged_until;

	wait_queue_head_t wait;
	unsigned int kicks;
	struct task_struct *task;
	struct irq_work irq_work;
	atomic_t line;
	int line_cpu;

	struct dma_device *dma;
	struct dma_async_tx_descriptor *(*prep_sg)(struct dma_chan *chan, struct scatterlist *sgl,
			unsigned int count, enum dma_transfer_direction direction,
			unsigned long flags, void *context);
#if SIM_HAS_DMABUF
	struct dma_async_tx_descriptor *(*prep_vec)(struct dma_chan *chan,
			const struct dma_vec *vecs, size_t count,
			enum dma_transfer_direction direction, unsigned long flags);
#endif
	void (*issue_pending)(struct dma_chan *chan);
	struct dma_slave_map map;
	struct platform_device *pdev;

	u64 segment_ns, irq_ns;		/* simulated costs in time */
	u64 instant;			/* completes within START if it need not wait */
	u64 refuse_at, refuse_count;	/* faults: prepared blocks since enable */
	u64 refuse_most;		/* limit on the total number of refusals */
	u64 prepared;
	u64 short_at, short_bytes;	/* this block ends `short_bytes` early */
	u64 begun;			/* last segments since enable */
	u32 partial;			/* length of a short block, 0: not short */
	struct sim_counts counts;
};

enum sim_step { SIM_STEP_DONE, SIM_STEP_EMPTY, SIM_STEP_WAIT };

u32 sim_core_read(struct sim_core *core, unsigned int reg);
void sim_core_write(struct sim_core *core, unsigned int reg, u32 value);
bool sim_core_asserts(struct sim_core *core);
void sim_core_init_regs(struct sim_core *core);

int sim_cores_init(void);
void sim_cores_exit(void);
int sim_core_add(struct sim_core *core, const char *slave_device, const char *slave);
void sim_core_remove(struct sim_core *core);
void sim_core_kick(struct sim_core *core);
void sim_core_restart(struct sim_core *core);
struct sim_transfer *sim_core_head(struct sim_core *core);
void sim_core_complete(struct sim_core *core, ktime_t due);
bool sim_core_repeats(struct sim_core *core);
bool sim_core_may_complete(struct sim_core *core);

void sim_engine_wait_for_handler(struct sim_core *core);
void sim_engine_init(struct sim_core *core);
int sim_engine_start(struct sim_core *core);
void sim_engine_stop(struct sim_core *core);
enum sim_step sim_engine_step(struct sim_core *core, ktime_t *until);
void sim_engine_inline(struct sim_core *core);
void sim_engine_line(struct irq_work *work);
void sim_core_interrupt(struct sim_core *core);

#endif
