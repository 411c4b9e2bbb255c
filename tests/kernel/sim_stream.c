// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sample clock of a converter, its FIFO, and the losses when the samples are not taken.
 *
 * While the core has a transfer, nothing is lost, because the DMA is infinitely fast. Without a
 * transfer, the FIFO fills, and when it is full, further scans are lost. The next transfer then
 * begins with the old scans of the FIFO, and the jump follows them. The simulator is software, so
 * it can be late on a busy machine. When the core becomes idle, the sample clock then stops for the
 * time of this delay, so that the delay never causes a loss.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sizes.h>

#include "sim.h"

#define QUIET	SZ_1G		/* limit of the look-ahead for faults in bytes */

static u64 sim_scans_at(struct sim_stream *s, ktime_t time)
{
	ktime_t span = ktime_sub(time, s->clock_time);

	if (span <= 0)
		return s->clock_scans;
	return s->clock_scans + mul_u64_u64_div_u64(span, s->rate, NSEC_PER_SEC);
}

static ktime_t sim_time_of(struct sim_stream *s, u64 scans)
{
	if (scans <= s->clock_scans)
		return s->clock_time;
	return ktime_add_ns(s->clock_time, 1 + mul_u64_u64_div_u64(scans - s->clock_scans,
								   NSEC_PER_SEC, s->rate));
}

/* Returns the number of scans that have begun before the next byte. */
static u64 sim_scans_moved(struct sim_stream *s)
{
	return div_u64(s->position + s->scan_bytes - 1, s->scan_bytes);
}

static struct sim_gap *sim_first_pending(struct sim_stream *s)
{
	return s->pending_count ? &s->pending[s->pending_first] : NULL;
}

static void sim_expect_gap(struct sim_stream *s, u64 at, u64 lost)
{
	unsigned int last = s->pending_first + s->pending_count - 1;
	struct sim_gap *gap = s->pending_count ? &s->pending[last % SIM_PENDING_GAPS] : NULL;

	s->lost_pending += lost;
	s->xflow |= SIM_OVERFLOW;
	s->quiet = 0;
	if (gap && (gap->at + gap->lost == at || s->pending_count == SIM_PENDING_GAPS)) {
		gap->lost += lost;
		return;
	}
	s->pending[(last + 1) % SIM_PENDING_GAPS] = (struct sim_gap){ .at = at, .lost = lost };
	s->pending_count++;
}

/* Makes the stream jump at the current position. */
static void sim_jump(struct sim_stream *s, u64 lost)
{
	if (s->gaps && s->gap_count < SIM_TRUE_GAPS)
		s->gaps[s->gap_count] = (struct sim_gap){
			.at = div_u64(s->position, s->scan_bytes),
			.lost = lost,
			.delivered = div_u64(s->moved, s->scan_bytes),
		};
	s->gap_count++;
	s->lost += lost;
	s->position += lost * s->scan_bytes;
}

/*
 * Returns how many scans the FIFO can take after the core became idle, or can still deliver to a
 * DAC.
 */
u64 sim_stream_room(struct sim_stream *s)
{
	u64 moved = sim_scans_moved(s) + s->lost_pending;

	if (s->tx)
		return moved > s->idle_scans ? moved - s->idle_scans : 0;
	moved = s->idle_scans > moved ? s->idle_scans - moved : 0;	/* scans in the FIFO */
	return s->fifo > moved ? s->fifo - moved : 0;
}

static void sim_idle_begins(struct sim_stream *s, ktime_t when)
{
	s->idle = true;
	s->idle_scans = sim_scans_at(s, when);
}

static void sim_idle_ends(struct sim_stream *s, ktime_t when)
{
	u64 grown = sim_scans_at(s, when) - s->idle_scans;
	u64 room = sim_stream_room(s);

	s->idle = false;
	s->busy_since = when;
	if (grown <= room)
		return;
	if (!s->tx) {
		sim_expect_gap(s, s->idle_scans + room, grown - room);
		return;
	}
	s->underflows++;
	s->underflow_scans += grown - room;
	s->xflow |= SIM_UNDERFLOW;
	s->clock_scans = s->idle_scans + room;	/* the DAC has played no data since */
	s->clock_time = when;
}

/* Called when a transfer is put into an empty queue. */
void sim_stream_busy(struct sim_stream *s)
{
	unsigned long flags;
	ktime_t now = ktime_get();

	spin_lock_irqsave(&s->lock, flags);
	if (s->running && s->tx && !s->started) {
		s->started = true;		/* a DAC's clock starts with its first sample */
		s->clock_time = now;
		s->idle = false;
		s->busy_since = now;
	} else if (s->running && s->idle && s->rate) {
		sim_idle_ends(s, now);
	} else {
		s->idle = false;
		s->busy_since = now;
	}
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Called when the last transfer is complete. `due` is the time at which it was due. */
void sim_stream_idle(struct sim_stream *s, ktime_t due)
{
	unsigned long flags;
	ktime_t now = ktime_get();

	spin_lock_irqsave(&s->lock, flags);
	if (s->running && s->rate) {
		s->clock_time = ktime_add(s->clock_time, ktime_sub(now, due));
		sim_idle_begins(s, now);
	} else {
		s->idle = true;
	}
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Returns when the byte before the next one is produced, or has gone into the FIFO of a DAC. */
static ktime_t sim_due(struct sim_stream *s)
{
	u64 scans = sim_scans_moved(s);

	if (!s->rate)
		return s->busy_since;
	if (s->tx)
		scans = scans > s->fifo ? scans - s->fifo : 0;
	return max(sim_time_of(s, scans), s->busy_since);
}

ktime_t sim_stream_due(struct sim_stream *s)
{
	unsigned long flags;
	ktime_t due;

	spin_lock_irqsave(&s->lock, flags);
	due = sim_due(s);
	spin_unlock_irqrestore(&s->lock, flags);
	return due;
}

/* Called at stall_at. Returns false while the core stalls. */
static bool sim_stall_over(struct sim_stream *s, ktime_t *until)
{
	if (!s->stalled) {
		ktime_t begin = s->rate ? sim_due(s) : ktime_get();

		s->stalled = true;
		s->stalled_until = ktime_add_ms(begin, s->faults.stall_ms);
		if (s->rate)
			sim_idle_begins(s, begin);
	}
	if (ktime_get() < s->stalled_until) {
		*until = s->stalled_until;
		return false;
	}
	if (s->rate)
		sim_idle_ends(s, s->stalled_until);
	s->stalled = false;
	s->faults.stall_at = SIM_NEVER;
	return true;
}

/* Removes pending losses of the FIFO before `end`, because a drop already includes these scans. */
static void sim_forget_pending(struct sim_stream *s, u64 end)
{
	struct sim_gap *gap;
	u64 both;

	for (gap = sim_first_pending(s); gap && gap->at < end; gap = sim_first_pending(s)) {
		both = min(gap->lost, end - gap->at);
		s->lost_pending -= both;
		gap->lost -= both;
		gap->at = end;
		if (gap->lost)
			return;
		s->pending_first = (s->pending_first + 1) % SIM_PENDING_GAPS;
		s->pending_count--;
	}
}

static void sim_drop(struct sim_stream *s)
{
	struct sim_faults *f = &s->faults;

	u64 begin = div_u64(s->position, s->scan_bytes);

	sim_jump(s, f->drop);
	sim_forget_pending(s, begin + f->drop);
	/*
	 * The data are made ahead of the clock. With a clock, the register therefore shows the
	 * drop later.
	 */
	if (f->drop_xflow && s->rate && s->drop_count < SIM_PENDING_DROPS)
		s->drops[s->drop_count++] = (struct sim_drop){ .begin = begin, .end = begin + f->drop };
	else if (f->drop_xflow)
		s->xflow |= SIM_OVERFLOW;
	f->drop_at = f->drop_every ? f->drop_at + f->drop_every : SIM_NEVER;
}

/* Returns how many of the wanted bytes are before a position in scans. */
static size_t sim_up_to(struct sim_stream *s, size_t want, u64 scans, u64 bytes)
{
	if (scans > U64_MAX / s->scan_bytes || scans * s->scan_bytes < bytes)
		return want;
	return min_t(u64, want, scans * s->scan_bytes - bytes);
}

/*
 * Handles the events at the current position. Returns how many bytes there are until the next
 * event.
 */
static ssize_t sim_look_ahead(struct sim_stream *s, ktime_t *until)
{
	struct sim_faults *f = &s->faults;
	const size_t want = QUIET;
	struct sim_gap *gap;
	size_t quiet;

	for (;;) {
		gap = sim_first_pending(s);
		if (gap && !sim_up_to(s, want, gap->at, s->position)) {
			s->lost_pending -= gap->lost;
			sim_jump(s, gap->lost);
			s->pending_first = (s->pending_first + 1) % SIM_PENDING_GAPS;
			s->pending_count--;
		} else if (!sim_up_to(s, want, f->drop_at, s->moved)) {
			sim_drop(s);
		} else if (!sim_up_to(s, want, f->dead_at, s->moved)) {
			if (!s->idle && s->rate)
				sim_idle_begins(s, sim_due(s));
			return SIM_TAKE_DEAD;
		} else if (!sim_up_to(s, want, f->stall_at, s->moved)) {
			if (!sim_stall_over(s, until))
				return SIM_TAKE_WAIT;
		} else {
			break;
		}
	}
	quiet = gap ? sim_up_to(s, QUIET, gap->at, s->position) : QUIET;
	quiet = sim_up_to(s, quiet, f->drop_at, s->moved);
	quiet = sim_up_to(s, quiet, f->dead_at, s->moved);
	quiet = sim_up_to(s, quiet, f->stall_at, s->moved);
	s->quiet = quiet;
	return quiet;
}

/* Returns how many bytes can be moved now. They are contiguous in the stream. */
ssize_t sim_stream_take(struct sim_stream *s, size_t want, u64 *position, ktime_t *until)
{
	unsigned long flags;
	ssize_t taken;

	spin_lock_irqsave(&s->lock, flags);
	taken = s->quiet;
	if (!taken)
		taken = sim_look_ahead(s, until);
	if (taken > 0) {
		taken = min_t(size_t, taken, want);
		*position = s->position;
		s->position += taken;
		s->moved += taken;
		s->quiet -= taken;
	}
	spin_unlock_irqrestore(&s->lock, flags);
	return taken;
}

/* Called when the position of a fault was changed. */
void sim_stream_look_again(struct sim_stream *s)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->quiet = 0;
	spin_unlock_irqrestore(&s->lock, flags);
}
