// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start and stop of a converter's stream, its rate, and the overflow register.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "sim.h"

/* Called before the blocks of the buffer are submitted. The clock does not run yet. */
void sim_stream_prepare(struct sim_stream *s, unsigned int scan_bytes)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->scan_bytes = scan_bytes;
	s->position = 0;
	s->moved = 0;
	s->quiet = 0;
	s->pending_count = 0;
	s->lost_pending = 0;
	s->lost = 0;
	s->gap_count = 0;
	s->moved_done = 0;
	s->gaps_done = 0;
	s->lost_done = 0;
	s->underflows = 0;
	s->underflow_scans = 0;
	s->xflow &= SIM_OVERFLOW;	/* as in the core, this bit stays set until it is cleared */
	s->drop_count = 0;
	s->stalled = false;
	s->started = false;
	s->idle = true;
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Switches the converter on. Position 0 is at the current time. */
void sim_stream_run(struct sim_stream *s)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->clock_time = ktime_get();
	s->clock_scans = 0;
	s->busy_since = s->clock_time;
	s->idle_scans = 0;
	s->started = !s->idle;
	s->running = true;
	spin_unlock_irqrestore(&s->lock, flags);
}

void sim_stream_halt(struct sim_stream *s)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->running = false;
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Called when a block is complete. Its samples and losses then count as delivered. */
void sim_stream_done(struct sim_stream *s)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->moved_done = s->moved;
	s->gaps_done = s->gap_count;
	s->lost_done = s->lost;
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Returns the scans that were produced or played since the start, including lost ones. */
static u64 sim_clock(struct sim_stream *s)
{
	if (!s->scan_bytes)
		return 0;
	if (!s->rate || !s->running)
		return div_u64(s->position, s->scan_bytes);
	return s->clock_scans + mul_u64_u64_div_u64(ktime_sub(ktime_get(), s->clock_time),
						    s->rate, NSEC_PER_SEC);
}

u64 sim_stream_clock(struct sim_stream *s)
{
	unsigned long flags;
	u64 scans;

	spin_lock_irqsave(&s->lock, flags);
	scans = sim_clock(s);
	spin_unlock_irqrestore(&s->lock, flags);
	return scans;
}

void sim_stream_set_rate(struct sim_stream *s, u64 rate)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->clock_scans = sim_clock(s);
	s->clock_time = ktime_get();
	if (!s->rate)
		s->idle_scans = s->clock_scans;
	s->rate = rate;
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Sets the rate that the attribute shows, and the rate of the clock if it has one. */
int sim_converter_set_rate(struct sim_converter *conv, u64 rate)
{
	if (!rate || rate > SIM_MAX_RATE)
		return -EINVAL;
	WRITE_ONCE(conv->nominal_rate, rate);
	if (conv->stream.rate)
		sim_stream_set_rate(&conv->stream, rate);
	sim_core_kick(&conv->core);
	return 0;
}

/* Sets the rate of the clock itself. 0 means that samples are produced at unlimited rate. */
int sim_converter_set_clock(struct sim_converter *conv, u64 rate)
{
	if (rate > SIM_MAX_RATE)
		return -EINVAL;
	if (rate)
		WRITE_ONCE(conv->nominal_rate, rate);
	sim_stream_set_rate(&conv->stream, rate);
	sim_core_kick(&conv->core);
	return 0;
}

/*
 * A drop that the clock has reached sets the bit. While the drop lasts, the bit cannot be cleared.
 */
static void sim_show_drops(struct sim_stream *s, u32 clear)
{
	u64 now = s->drop_count ? sim_clock(s) : 0;
	unsigned int d, kept = 0;

	for (d = 0; d < s->drop_count; d++)
		if (s->drops[d].begin <= now && !s->drops[d].shown) {
			s->drops[d].shown = true;
			s->xflow |= SIM_OVERFLOW;
		}
	s->xflow &= ~clear;
	for (d = 0; d < s->drop_count; d++) {
		if (s->drops[d].end <= now)
			continue;
		if (s->drops[d].begin <= now)
			s->xflow |= SIM_OVERFLOW;
		s->drops[kept++] = s->drops[d];
	}
	s->drop_count = kept;
}

/* Clears the given bits unless their condition still holds. Returns the updated register. */
u32 sim_stream_xflow(struct sim_stream *s, u32 clear)
{
	unsigned long flags;
	u32 value;
	u64 now;

	spin_lock_irqsave(&s->lock, flags);
	sim_show_drops(s, clear);
	if (s->running && s->rate && s->idle && (s->started || !s->tx)) {
		now = sim_clock(s);
		/* A stall begins when its sample is due, which can be later than now. */
		if (now > s->idle_scans && now - s->idle_scans > sim_stream_room(s))
			s->xflow |= s->tx ? SIM_UNDERFLOW : SIM_OVERFLOW;
	}
	value = s->xflow;
	spin_unlock_irqrestore(&s->lock, flags);
	return value;
}
