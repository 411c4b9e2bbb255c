// SPDX-License-Identifier: GPL-2.0-only
/*
 * This module finds the first controller of dummy_hcd, and inserts itself between the controller
 * and the gadget drivers. No gadget may use the controller at that time.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

#include "udc.h"

#define CONTROLLER	"dummy_udc.0"

struct udc udc = {
	.knobs = { .fail_at = UDC_NEVER, .fail_count = 1, .damage_at = UDC_NEVER },
};

static bool sg = true;
module_param(sg, bool, 0444);
static char *speed = "super";
module_param(speed, charp, 0444);
module_param_named(blackhole, udc.knobs.blackhole, bool, 0444);
module_param_named(fail_at, udc.knobs.fail_at, ullong, 0444);
module_param_named(damage_at, udc.knobs.damage_at, ullong, 0444);
module_param_named(fail_count, udc.knobs.fail_count, ullong, 0444);

static const struct {
	const char *name;
	enum usb_device_speed speed;
} udc_speeds[] = {
	{ "full", USB_SPEED_FULL },
	{ "high", USB_SPEED_HIGH },
	{ "super", USB_SPEED_SUPER },
};

/* Sets the speed of the next gadget that is bound. */
int udc_set_speed(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(udc_speeds); i++) {
		if (!sysfs_streq(name, udc_speeds[i].name))
			continue;
		udc.gadget->max_speed = udc_speeds[i].speed;
		return 0;
	}
	return -EINVAL;
}

const char *udc_speed(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(udc_speeds); i++)
		if (udc.gadget->max_speed == udc_speeds[i].speed)
			return udc_speeds[i].name;
	return "unknown";
}

/* Simulates that the cable is unplugged for a time. */
void udc_disconnect(unsigned int ms)
{
	enum usb_device_speed was = udc.gadget->speed;

	udc.ops->pullup(udc.gadget, 0);
	msleep(ms);
	if (was != USB_SPEED_UNKNOWN && udc.ops->udc_set_speed)
		udc.ops->udc_set_speed(udc.gadget, was);
	udc.ops->pullup(udc.gadget, 1);
}

/* While a gadget is bound, this module owns its requests and must stay loaded. */
static int udc_bind(struct usb_gadget *gadget, struct usb_gadget_driver *driver)
{
	int ret;

	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	ret = udc.ops->udc_start(gadget, driver);
	if (ret)
		module_put(THIS_MODULE);
	return ret;
}

static int udc_unbind(struct usb_gadget *gadget)
{
	int ret = udc.ops->udc_stop(gadget);

	module_put(THIS_MODULE);
	return ret;
}

static int udc_halt_ep0(void *unused)
{
	return udc.ep0_ops->set_halt(udc.gadget->ep0, 1);
}

/*
 * Called for a STALL of FunctionFS. dummy_hcd sets its bit `halted` without its lock, and its
 * timer can clear `already_seen` in the same word at the same time. About one STALL in ten thousand
 * would be lost, and the host would get no answer. Therefore nothing else runs during this call.
 */
static int udc_ep0_set_halt(struct usb_ep *ep, int value)
{
	if (!value || !preemptible())
		return udc.ep0_ops->set_halt(ep, value);
	return stop_machine(udc_halt_ep0, NULL, NULL);
}

static void udc_unwrap(void)
{
	unsigned int i;

	udc.gadget->ops = udc.ops;
	udc.gadget->ep0->ops = udc.ep0_ops;
	udc.gadget->sg_supported = 0;
	udc.gadget->max_speed = USB_SPEED_SUPER;
	for (i = 0; i < udc.ep_count; i++)
		udc_ep_unwrap(&udc.eps[i]);
}

static int udc_wrap(void)
{
	struct usb_ep *ep;
	int ret;

	udc.ops = udc.gadget->ops;
	udc.ep0_ops = udc.gadget->ep0->ops;
	list_for_each_entry(ep, &udc.gadget->ep_list, ep_list) {
		ret = udc.ep_count < UDC_MAX_EPS ? udc_ep_wrap(&udc.eps[udc.ep_count], ep) : -ENOSPC;
		if (ret) {
			udc_unwrap();
			return ret;
		}
		udc.ep_count++;
	}
	udc.wrapped = *udc.ops;
	udc.wrapped.udc_start = udc_bind;
	udc.wrapped.udc_stop = udc_unbind;
	udc.gadget->ops = &udc.wrapped;
	udc.wrapped_ep0 = *udc.ep0_ops;
	udc.wrapped_ep0.set_halt = udc_ep0_set_halt;
	udc.gadget->ep0->ops = &udc.wrapped_ep0;
	udc.gadget->sg_supported = sg;
	ret = udc_set_speed(speed);
	if (ret)
		udc_unwrap();
	return ret;
}

static void udc_let_go(void)
{
	module_put(udc.parent->driver->owner);
	put_device(&udc.gadget->dev);
	put_device(udc.parent);
}

static int __init udc_init(void)
{
	struct device *child;
	int ret;

	udc.parent = bus_find_device_by_name(&platform_bus_type, NULL, CONTROLLER);
	if (!udc.parent)
		return -ENODEV;
	child = device_find_child_by_name(udc.parent, "gadget.0");
	if (!child || !udc.parent->driver || !try_module_get(udc.parent->driver->owner)) {
		put_device(child);
		put_device(udc.parent);
		return -ENODEV;
	}
	udc.gadget = container_of(child, struct usb_gadget, dev);
	ret = child->driver ? -EBUSY : udc_wrap();
	if (ret) {
		udc_let_go();
		return ret;
	}
	udc_debugfs_init();
	return 0;
}
module_init(udc_init);

static void __exit udc_exit(void)
{
	udc_debugfs_exit();
	udc_unwrap();
	udc_let_go();
}
module_exit(udc_exit);

MODULE_DESCRIPTION("dummy_hcd with scatter-gather and faults, for iio-stream");
MODULE_LICENSE("GPL");
