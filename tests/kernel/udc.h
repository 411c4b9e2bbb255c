/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iios-udc makes the kernel's own dummy_hcd a gadget controller with scatter-gather, like those of
 * boards. See docs/simulator.md.
 */
#ifndef IIOS_UDC_H
#define IIOS_UDC_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/usb/gadget.h>

#define UDC_NEVER	U64_MAX

/* A request of a gadget function in an endpoint of iios-udc. */
struct udc_request {
	struct usb_request req;
	struct list_head queue;
	struct scatterlist *sg;		/* the current segment; NULL in a linear request */
	unsigned int segment_done;	/* transferred bytes of the segment */
	bool cancelled;
	bool damaged;			/* by a knob, so the receiver gets other bytes */
};

/*
 * An endpoint of dummy_hcd with a queue in front of its own. dummy_hcd gets one linear request at
 * a time: the current segment of the first request, in the segment's own pages.
 */
struct udc_ep {
	struct usb_ep *ep;
	const struct usb_ep_ops *ops;	/* dummy_hcd's */
	struct usb_ep_ops wrapped;
	struct usb_request *inner;
	spinlock_t lock;		/* protects the rest; not held in calls to dummy_hcd */
	struct list_head queue;
	bool busy;			/* dummy_hcd has `inner` */
	bool paused;
};

#define UDC_MAX_EPS	64

struct udc_knobs {
	u64 fail_at, fail_count;	/* scatter-gather requests, counted from reset */
	u64 damage_at;			/* counted in the same way */
	bool blackhole;
};

struct udc_counts {
	u64 requests, sg_requests, segments, bytes, failed, swallowed;
};

struct udc {
	struct usb_gadget *gadget;
	const struct usb_gadget_ops *ops;	/* dummy_hcd's */
	struct usb_gadget_ops wrapped;
	const struct usb_ep_ops *ep0_ops;	/* dummy_hcd's */
	struct usb_ep_ops wrapped_ep0;
	struct device *parent;
	struct udc_ep eps[UDC_MAX_EPS];
	unsigned int ep_count;
	struct udc_knobs knobs;
	struct udc_counts counts;	/* updated without a lock, so possibly inexact */
};

extern struct udc udc;

/* ---- udc_queue.c ---- */
int udc_ep_wrap(struct udc_ep *u, struct usb_ep *ep);
void udc_ep_unwrap(struct udc_ep *u);
int udc_ep_stall(struct udc_ep *u);

/* ---- udc_debugfs.c ---- */
void udc_debugfs_init(void);
void udc_debugfs_exit(void);

/* ---- udc_main.c ---- */
int udc_set_speed(const char *name);
const char *udc_speed(void);
void udc_disconnect(unsigned int ms);

#endif
