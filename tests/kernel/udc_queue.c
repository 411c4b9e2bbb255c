// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue in front of an endpoint of dummy_hcd. A request with a scatterlist is passed on as one
 * inner request per segment, directly from the segment's pages. Only dummy_hcd, which simulates
 * the cable, copies data.
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "udc.h"

static struct udc_ep *udc_ep_of(struct usb_ep *ep)
{
	return container_of(ep->ops, struct udc_ep, wrapped);
}

static struct udc_request *to_udc(struct usb_request *req)
{
	return container_of(req, struct udc_request, req);
}

static struct usb_request *udc_alloc_request(struct usb_ep *ep, gfp_t gfp)
{
	struct udc_request *r = kzalloc(sizeof(*r), gfp);

	if (!r)
		return NULL;
	INIT_LIST_HEAD(&r->queue);
	return &r->req;
}

static void udc_free_request(struct usb_ep *ep, struct usb_request *req)
{
	WARN_ON(!list_empty(&to_udc(req)->queue));
	kfree(to_udc(req));
}

/* Overwrites the first bytes of the request with bytes that no block contains. */
static void udc_damage(struct udc_request *r)
{
	memset(sg_virt(r->req.sg), 0xa5, min(r->req.sg->length, 64U));
}

static void udc_give_back(struct udc_ep *u, struct udc_request *r, int status)
{
	if (r->damaged && !status && usb_endpoint_dir_out(u->ep->desc))
		udc_damage(r);
	r->req.status = status;
	udc.counts.bytes += r->req.actual;
	usb_gadget_giveback_request(u->ep, &r->req);
}

/* The scatterlist can be longer than the request. */
static unsigned int udc_segment_length(struct udc_request *r)
{
	unsigned int rest = r->req.length - r->req.actual + r->segment_done;

	return r->sg ? min(rest, r->sg->length) : r->req.length;
}

/* Makes the inner request for the rest of the current segment. */
static void udc_aim(struct udc_ep *u, struct udc_request *r)
{
	struct usb_request *inner = u->inner;
	void *data = r->sg ? sg_virt(r->sg) : r->req.buf;

	inner->buf = data + r->segment_done;
	inner->length = udc_segment_length(r) - r->segment_done;
	inner->zero = r->req.zero && r->req.actual + inner->length == r->req.length;
	inner->status = -EINPROGRESS;
	inner->actual = 0;
}

static void udc_start(struct udc_ep *u)
{
	struct udc_request *r;
	unsigned long flags;
	int ret;

	for (;;) {
		spin_lock_irqsave(&u->lock, flags);
		r = list_first_entry_or_null(&u->queue, struct udc_request, queue);
		if (u->busy || u->paused || !r) {
			spin_unlock_irqrestore(&u->lock, flags);
			return;
		}
		ret = r->cancelled ? -ECONNRESET : 0;
		if (ret) {
			list_del_init(&r->queue);
		} else {
			udc_aim(u, r);
			u->busy = true;
		}
		spin_unlock_irqrestore(&u->lock, flags);
		if (ret) {
			udc_give_back(u, r, ret);
			continue;
		}
		ret = u->ops->queue(u->ep, u->inner, GFP_ATOMIC);
		if (!ret)
			return;
		spin_lock_irqsave(&u->lock, flags);
		u->busy = false;
		list_del_init(&r->queue);
		spin_unlock_irqrestore(&u->lock, flags);
		udc_give_back(u, r, -ESHUTDOWN);	/* the endpoint was disabled */
	}
}

/* Accounts for the bytes of the inner request. Returns whether the request is complete. */
static bool udc_advance(struct udc_request *r, const struct usb_request *inner)
{
	bool cut = inner->actual < inner->length;

	r->req.actual += inner->actual;
	r->segment_done += inner->actual;
	if (inner->status || cut || r->req.actual >= r->req.length)
		return true;
	r->sg = sg_next(r->sg);
	r->segment_done = 0;
	return !r->sg;
}

static void udc_inner_done(struct usb_ep *ep, struct usb_request *inner)
{
	struct udc_ep *u = inner->context;
	struct udc_request *r, *next;
	LIST_HEAD(dead);
	unsigned long flags;
	bool ended;

	spin_lock_irqsave(&u->lock, flags);
	r = list_first_entry(&u->queue, struct udc_request, queue);
	u->busy = false;
	ended = udc_advance(r, inner);
	if (u->paused && inner->status == -ECONNRESET && !r->cancelled)
		ended = false;			/* only dequeued, and continues later */
	if (ended)
		list_del_init(&r->queue);
	if (ended && inner->status == -ESHUTDOWN)
		list_splice_init(&u->queue, &dead);
	spin_unlock_irqrestore(&u->lock, flags);

	if (ended)
		udc_give_back(u, r, inner->status);
	list_for_each_entry_safe(r, next, &dead, queue) {
		list_del_init(&r->queue);
		udc_give_back(u, r, -ESHUTDOWN);
	}
	udc_start(u);
}

/*
 * On hardware, a packet can be in two segments. Here, each segment except the last must consist of
 * whole packets.
 */
static bool udc_is_packets(struct usb_ep *ep, struct usb_request *req)
{
	unsigned int rest = req->length;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sg(req->sg, sg, req->num_sgs, i) {
		if (rest <= sg->length)
			return true;
		if (sg->length % ep->maxpacket)
			return false;
		rest -= sg->length;
	}
	return false;		/* the request is longer than its segments */
}

/* Counts the request. Returns whether a knob makes it end at once, with the given status. */
static bool udc_ends_at_once(struct usb_request *req, int *status)
{
	u64 number = udc.counts.requests++;

	udc.counts.sg_requests += req->num_sgs != 0;
	*status = 0;
	number = udc.counts.sg_requests - 1;
	if (req->num_sgs && number >= udc.knobs.fail_at &&
	    number - udc.knobs.fail_at < udc.knobs.fail_count) {
		udc.counts.failed++;
		*status = -EIO;
		return true;
	}
	return false;
}

static int udc_queue(struct usb_ep *ep, struct usb_request *req, gfp_t gfp)
{
	struct udc_ep *u = udc_ep_of(ep);
	struct udc_request *r = to_udc(req);
	unsigned long flags;
	int status;

	if (!list_empty(&r->queue) || !req->complete || (req->num_sgs && !udc_is_packets(ep, req)))
		return -EINVAL;
	r->sg = req->num_sgs ? req->sg : NULL;
	r->segment_done = 0;
	r->cancelled = false;
	req->actual = 0;
	req->status = -EINPROGRESS;
	udc.counts.segments += req->num_sgs;
	r->damaged = req->num_sgs && udc.counts.sg_requests == READ_ONCE(udc.knobs.damage_at);
	if (r->damaged && usb_endpoint_dir_in(ep->desc))
		udc_damage(r);
	if (udc_ends_at_once(req, &status)) {
		udc_give_back(u, r, status);
		return 0;
	}
	if (READ_ONCE(udc.knobs.blackhole) && usb_endpoint_dir_in(ep->desc)) {
		udc.counts.swallowed++;
		req->actual = req->length;
		udc_give_back(u, r, 0);
		return 0;
	}
	spin_lock_irqsave(&u->lock, flags);
	list_add_tail(&r->queue, &u->queue);
	spin_unlock_irqrestore(&u->lock, flags);
	udc_start(u);
	return 0;
}

static int udc_dequeue(struct usb_ep *ep, struct usb_request *req)
{
	struct udc_ep *u = udc_ep_of(ep);
	struct udc_request *r = to_udc(req), *first;
	unsigned long flags;
	bool running;

	spin_lock_irqsave(&u->lock, flags);
	if (list_empty(&r->queue)) {
		spin_unlock_irqrestore(&u->lock, flags);
		return -EINVAL;
	}
	first = list_first_entry(&u->queue, struct udc_request, queue);
	running = r == first && u->busy;
	r->cancelled = true;
	if (!running)
		list_del_init(&r->queue);
	spin_unlock_irqrestore(&u->lock, flags);
	if (!running)
		udc_give_back(u, r, -ECONNRESET);
	else
		/* If the request has just ended, its completion handles the cancellation. */
		u->ops->dequeue(ep, u->inner);
	return 0;
}

/*
 * Stalls the endpoint until the host clears the halt. dummy_hcd halts only an endpoint without
 * requests, and gives no notification when the host clears the halt. Therefore the request is
 * dequeued for a moment.
 */
int udc_ep_stall(struct udc_ep *u)
{
	unsigned long flags;
	bool busy;
	int ret;

	if (!u->ep->enabled)
		return -ESHUTDOWN;
	spin_lock_irqsave(&u->lock, flags);
	u->paused = true;
	busy = u->busy;
	spin_unlock_irqrestore(&u->lock, flags);
	if (busy)
		u->ops->dequeue(u->ep, u->inner);
	ret = u->ops->set_halt(u->ep, 1);
	spin_lock_irqsave(&u->lock, flags);
	u->paused = false;
	spin_unlock_irqrestore(&u->lock, flags);
	udc_start(u);
	return ret;
}

int udc_ep_wrap(struct udc_ep *u, struct usb_ep *ep)
{
	u->inner = ep->ops->alloc_request(ep, GFP_KERNEL);
	if (!u->inner)
		return -ENOMEM;
	u->inner->complete = udc_inner_done;
	u->inner->context = u;
	spin_lock_init(&u->lock);
	INIT_LIST_HEAD(&u->queue);
	u->ep = ep;
	u->ops = ep->ops;
	u->wrapped = *ep->ops;
	u->wrapped.alloc_request = udc_alloc_request;
	u->wrapped.free_request = udc_free_request;
	u->wrapped.queue = udc_queue;
	u->wrapped.dequeue = udc_dequeue;
	ep->ops = &u->wrapped;
	return 0;
}

void udc_ep_unwrap(struct udc_ep *u)
{
	u->ep->ops = u->ops;
	u->ops->free_request(u->ep, u->inner);
}
