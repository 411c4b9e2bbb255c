// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/debug/iios-udc/ has counters, knobs and buttons, with one value in each file. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "udc.h"

static struct dentry *udc_root;

static ssize_t udc_word(const char __user *user, size_t count, char *text, size_t size)
{
	if (count >= size)
		return -EINVAL;
	if (copy_from_user(text, user, count))
		return -EFAULT;
	text[count] = 0;
	return 0;
}

static int udc_speed_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%s\n", udc_speed());
	return 0;
}

static int udc_speed_open(struct inode *inode, struct file *file)
{
	return single_open(file, udc_speed_show, NULL);
}

static ssize_t udc_speed_write(struct file *file, const char __user *user, size_t count, loff_t *at)
{
	char text[16];
	int ret = udc_word(user, count, text, sizeof(text));

	if (!ret)
		ret = udc_set_speed(text);
	return ret ? ret : count;
}

static const struct file_operations udc_speed_fops = {
	.owner = THIS_MODULE,
	.open = udc_speed_open,
	.read = seq_read,
	.write = udc_speed_write,
	.release = single_release,
};

static int udc_sg_get(void *data, u64 *value)
{
	*value = udc.gadget->sg_supported;
	return 0;
}

static int udc_sg_set(void *data, u64 value)
{
	udc.gadget->sg_supported = value != 0;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(udc_sg_fops, udc_sg_get, udc_sg_set, "%llu\n");

/* `address` is the address of the endpoint in its descriptor. */
static int udc_stall_set(void *data, u64 address)
{
	unsigned int i;

	for (i = 0; i < udc.ep_count; i++) {
		const struct usb_ep *ep = udc.eps[i].ep;

		if (ep->enabled && ep->desc && ep->desc->bEndpointAddress == address)
			return udc_ep_stall(&udc.eps[i]);
	}
	return -ENOENT;
}
DEFINE_DEBUGFS_ATTRIBUTE(udc_stall_fops, NULL, udc_stall_set, "%llu\n");

static int udc_disconnect_set(void *data, u64 ms)
{
	if (ms > 60000)
		return -EINVAL;
	udc_disconnect(ms);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(udc_disconnect_fops, NULL, udc_disconnect_set, "%llu\n");

static int udc_reset_set(void *data, u64 value)
{
	memset(&udc.counts, 0, sizeof(udc.counts));
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(udc_reset_fops, NULL, udc_reset_set, "%llu\n");

/* The number of a request. -1 means none. */
static int udc_number_get(void *data, u64 *value)
{
	*value = *(u64 *)data;
	return 0;
}

static int udc_number_set(void *data, u64 value)
{
	*(u64 *)data = value;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(udc_number_fops, udc_number_get, udc_number_set, "%lld\n");

void udc_debugfs_init(void)
{
	udc_root = debugfs_create_dir("iios-udc", NULL);
	debugfs_create_u64("requests", 0444, udc_root, &udc.counts.requests);
	debugfs_create_u64("sg_requests", 0444, udc_root, &udc.counts.sg_requests);
	debugfs_create_u64("segments", 0444, udc_root, &udc.counts.segments);
	debugfs_create_u64("bytes", 0444, udc_root, &udc.counts.bytes);
	debugfs_create_u64("failed", 0444, udc_root, &udc.counts.failed);
	debugfs_create_u64("swallowed", 0444, udc_root, &udc.counts.swallowed);
	debugfs_create_bool("blackhole", 0644, udc_root, &udc.knobs.blackhole);
	debugfs_create_file_unsafe("fail_at", 0644, udc_root, &udc.knobs.fail_at,
				   &udc_number_fops);
	debugfs_create_file_unsafe("damage_at", 0644, udc_root, &udc.knobs.damage_at,
				   &udc_number_fops);
	debugfs_create_u64("fail_count", 0644, udc_root, &udc.knobs.fail_count);
	debugfs_create_file_unsafe("sg", 0644, udc_root, NULL, &udc_sg_fops);
	debugfs_create_file("speed", 0644, udc_root, NULL, &udc_speed_fops);
	debugfs_create_file_unsafe("stall", 0200, udc_root, NULL, &udc_stall_fops);
	debugfs_create_file_unsafe("disconnect", 0200, udc_root, NULL, &udc_disconnect_fops);
	debugfs_create_file_unsafe("reset", 0200, udc_root, NULL, &udc_reset_fops);
}

void udc_debugfs_exit(void)
{
	debugfs_remove_recursive(udc_root);
}
