// SPDX-License-Identifier: GPL-2.0-only
/*
 * A gadget with one FunctionFS interface that has an IN and an OUT endpoint, and its host, which
 * uses usbfs.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <linux/usb/functionfs.h>
#include <linux/usbdevice_fs.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.h"

#define GADGET	"/sys/kernel/config/usb_gadget/selftest"
#define MOUNT	"/run/selftest-ffs"
#define UDC	"/sys/kernel/debug/iios-udc/"

static const char * const folders[] = {
	GADGET, GADGET "/strings/0x409", GADGET "/configs/c.1", GADGET "/functions/ffs.selftest",
};

void udc_load(const char *parameters)
{
	char command[128];

	snprintf(command, sizeof(command), "udc-load %s", parameters);
	if (system(command))
		fail("%s failed", command);
}

void udc_knob(const char *name, const char *value)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), UDC "%s", name);
	ret = put(path, value);
	if (ret)
		fail("%s = %s: %s", path, value, strerror(-ret));
}

uint64_t udc_count(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), UDC "%s", name);
	if (get(path, text, sizeof(text)) < 0)
		fail("%s cannot be read", path);
	return strtoull(text, NULL, 0);
}

struct endpoint {
	struct usb_endpoint_descriptor_no_audio endpoint;
} __attribute__((packed));

struct super_endpoint {
	struct usb_endpoint_descriptor_no_audio endpoint;
	struct usb_ss_ep_comp_descriptor companion;
} __attribute__((packed));

struct description {
	struct usb_functionfs_descs_head_v2 head;
	__le32 full_count, high_count, super_count;
	struct {
		struct usb_interface_descriptor interface;
		struct endpoint endpoints[2];
	} __attribute__((packed)) speeds[2];
	struct usb_interface_descriptor interface;
	struct super_endpoint endpoints[2];
} __attribute__((packed));

static struct usb_endpoint_descriptor_no_audio endpoint_of(int number, unsigned int packet)
{
	return (struct usb_endpoint_descriptor_no_audio){
		.bLength = USB_DT_ENDPOINT_SIZE, .bDescriptorType = USB_DT_ENDPOINT,
		.bEndpointAddress = number ? 0x02 : 0x81, .bmAttributes = USB_ENDPOINT_XFER_BULK,
		.wMaxPacketSize = htole16(packet),
	};
}

static void describe(int ep0)
{
	static const unsigned int packets[] = { 64, 512, 1024 };
	struct usb_interface_descriptor interface = {
		.bLength = USB_DT_INTERFACE_SIZE, .bDescriptorType = USB_DT_INTERFACE,
		.bNumEndpoints = 2, .bInterfaceClass = USB_CLASS_VENDOR_SPEC,
	};
	struct description d = { .head = {
		.magic = htole32(FUNCTIONFS_DESCRIPTORS_MAGIC_V2), .length = htole32(sizeof(d)),
		.flags = htole32(FUNCTIONFS_HAS_FS_DESC | FUNCTIONFS_HAS_HS_DESC |
				 FUNCTIONFS_HAS_SS_DESC) },
		.full_count = htole32(3), .high_count = htole32(3), .super_count = htole32(5),
		.interface = interface };
	struct usb_functionfs_strings_head strings = {
		.magic = htole32(FUNCTIONFS_STRINGS_MAGIC), .length = htole32(sizeof(strings)) };
	int speed, number;

	for (speed = 0; speed < 2; speed++) {
		d.speeds[speed].interface = interface;
		for (number = 0; number < 2; number++)
			d.speeds[speed].endpoints[number].endpoint =
				endpoint_of(number, packets[speed]);
	}
	for (number = 0; number < 2; number++)
		d.endpoints[number] = (struct super_endpoint){
			endpoint_of(number, packets[2]),
			{ .bLength = USB_DT_SS_EP_COMP_SIZE, .bMaxBurst = 15,
			  .bDescriptorType = USB_DT_SS_ENDPOINT_COMP } };
	if (write(ep0, &d, sizeof(d)) < 0 || write(ep0, &strings, sizeof(strings)) < 0)
		fail("descriptors: %s", strerror(errno));
}

static void expect_event(struct gadget *g, int type)
{
	struct pollfd ready = { g->ep0, POLLIN, 0 };
	struct usb_functionfs_event event;

	do {
		if (poll(&ready, 1, 20000) <= 0 || read(g->ep0, &event, sizeof(event)) < 0)
			fail("the gadget did not get event %d", type);
	} while (event.type != type);
}

static int host_open(void)
{
	static const uint8_t identity[] = { 0x6b, 0x1d, 0x04, 0x01 };
	double deadline = now() + 20;

	for (; now() < deadline; pause_ms(50)) {
		char path[64];
		int bus, number;

		for (bus = 1; bus < 3; bus++) {
			for (number = 2; number < 32; number++) {
				uint8_t device[18];
				int fd;

				snprintf(path, sizeof(path), "/dev/bus/usb/%03d/%03d", bus, number);
				fd = open(path, O_RDWR | O_CLOEXEC);
				if (fd < 0)
					continue;
				if (read(fd, device, 18) == 18 && !memcmp(device + 8, identity, 4))
					return fd;
				close(fd);
			}
		}
	}
	fail("the gadget did not appear on the host");
}

void gadget_open(struct gadget *g)
{
	unsigned int i, none = 0;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(folders[i], 0755))
			fail("mkdir %s: %s", folders[i], strerror(errno));
	put(GADGET "/idVendor", "0x1d6b");
	put(GADGET "/idProduct", "0x0104");
	if (symlink(GADGET "/functions/ffs.selftest", GADGET "/configs/c.1/ffs.selftest") ||
	    (mkdir(MOUNT, 0755) && errno != EEXIST) ||
	    mount("selftest", MOUNT, "functionfs", 0, NULL))
		fail("gadget: %s", strerror(errno));
	g->ep0 = open(MOUNT "/ep0", O_RDWR | O_CLOEXEC);
	describe(g->ep0);
	if (put(GADGET "/UDC", "dummy_udc.0"))
		fail("the gadget cannot be bound to the controller");
	expect_event(g, FUNCTIONFS_ENABLE);
	g->in = open(MOUNT "/ep1", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	g->out = open(MOUNT "/ep2", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	g->host = host_open();
	if (ioctl(g->host, USBDEVFS_CLAIMINTERFACE, &none))
		fail("claim the interface: %s", strerror(errno));
}

void gadget_returned(struct gadget *g)
{
	unsigned int none = 0;

	expect_event(g, FUNCTIONFS_DISABLE);
	expect_event(g, FUNCTIONFS_ENABLE);
	close(g->host);
	g->host = host_open();
	if (ioctl(g->host, USBDEVFS_CLAIMINTERFACE, &none))
		fail("claim the interface again: %s", strerror(errno));
}

void gadget_close(struct gadget *g)
{
	close(g->host);
	close(g->in);
	close(g->out);
	put(GADGET "/UDC", "\n");
	close(g->ep0);
	umount(MOUNT);
	unlink(GADGET "/configs/c.1/ffs.selftest");
	rmdir(GADGET "/functions/ffs.selftest");
	rmdir(GADGET "/configs/c.1");
	rmdir(GADGET "/strings/0x409");
	if (rmdir(GADGET))
		fail("the gadget cannot be removed: %s", strerror(errno));
}

int gadget_attach(int endpoint, int dmabuf)
{
	return ioctl(endpoint, _IOW('g', 131, int), &dmabuf) ? -errno : 0;
}

int gadget_transfer(int endpoint, int dmabuf, size_t bytes)
{
	struct {
		int fd;
		uint32_t flags;
		uint64_t length;
	} __attribute__((packed)) request = { dmabuf, 0, bytes };

	return ioctl(endpoint, _IOC(_IOC_WRITE, 'g', 133, sizeof(request)), &request) ? -errno : 0;
}

int host_bulk(const struct gadget *g, unsigned int address, void *data, size_t bytes)
{
	struct usbdevfs_bulktransfer bulk = { address, bytes, 10000, data };
	int done = ioctl(g->host, USBDEVFS_BULK, &bulk);

	return done < 0 ? -errno : done;
}

int host_clear_halt(const struct gadget *g, unsigned int address)
{
	return ioctl(g->host, USBDEVFS_CLEAR_HALT, &address) ? -errno : 0;
}

static int udmabuf_block(void)
{
	struct udmabuf_create request = { .size = USB_BLOCK };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("block", MFD_ALLOW_SEALING | MFD_CLOEXEC), fd;

	request.memfd = memfd;
	if (ftruncate(memfd, USB_BLOCK) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) ||
	    (fd = ioctl(device, UDMABUF_CREATE, &request)) < 0)
		fail("udmabuf: %s", strerror(errno));
	close(memfd);
	close(device);
	return fd;
}

int heap_block(void)
{
	struct dma_heap_allocation_data request = { .len = USB_BLOCK, .fd_flags = O_RDWR | O_CLOEXEC };
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);

	if (heapless())
		return udmabuf_block();
	if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request))
		fail("dma_heap: %s", strerror(errno));
	close(heap);
	return request.fd;
}

void blocks_open(struct blocks *b, enum memory memory, int endpoint)
{
	uint64_t word = 0;
	unsigned int i, n;
	int ret;

	for (i = 0; i < USB_BLOCKS; i++) {
		b->fd[i] = memory == HEAP ? heap_block() : udmabuf_block();
		b->data[i] = mmap(NULL, USB_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd[i], 0);
		if (b->data[i] == MAP_FAILED)
			fail("mmap: %s", strerror(errno));
		for (n = 0; n < USB_BLOCK / 8; n++)
			b->data[i][n] = word++;
		if ((ret = gadget_attach(endpoint, b->fd[i])))
			fail("ATTACH: %s", strerror(-ret));
	}
}

void blocks_close(struct blocks *b)
{
	unsigned int i;

	for (i = 0; i < USB_BLOCKS; i++) {
		munmap(b->data[i], USB_BLOCK);
		close(b->fd[i]);
	}
}
