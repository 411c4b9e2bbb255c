// SPDX-License-Identifier: MIT
// The reference measurement for a block over USB: only the TRANSFERs of a FunctionFS endpoint.
//
//   ffs-transfer MOUNT UDC_FILE CONTROLLER BLOCK_BYTES BLOCKS TURNS [whole]
//
// Prints the nanoseconds (instructions, if the lab runs with --icount) of TURNS TRANSFERs of BLOCKS
// DMABUFs from the system heap. The gadget must exist (iio-stream gadget up), and the controller's
// option `blackhole` must be set, so that each transfer completes at once. With `whole`, each block
// includes the steps that a stream cannot omit: a header before the block (100 bytes by AIO,
// because write() would wait for the host), a poll of ep0 (after an unread UNBIND, the next ioctl
// causes a kernel oops), and the status of the block's fence.
#include "bench.h"

#include <linux/aio_abi.h>
#include <linux/usb/ch9.h>
#include <linux/usb/functionfs.h>
#include <poll.h>
#include <sys/syscall.h>

struct ffs_transfer_request {
    int fd;
    uint32_t flags;
    uint64_t length;
} __attribute__((packed));
#define FFS_DMABUF_ATTACH _IOW('g', 131, int)
#define FFS_DMABUF_TRANSFER _IOW('g', 133, struct ffs_transfer_request)

struct bulk_in {
    struct usb_interface_descriptor interface;
    struct usb_endpoint_descriptor_no_audio endpoint;
} __attribute__((packed));

static const struct {
    struct usb_functionfs_descs_head_v2 head;
    __le32 full_count, high_count, super_count;
    struct bulk_in full, high, super;
    struct usb_ss_ep_comp_descriptor companion;
} __attribute__((packed)) descriptors = {
#define BULK_IN(packet) \
    { \
        {sizeof(struct usb_interface_descriptor), USB_DT_INTERFACE, 0, 0, 1, 255, 0, 0, 1}, \
        {sizeof(struct usb_endpoint_descriptor_no_audio), USB_DT_ENDPOINT, USB_DIR_IN | 1, \
         USB_ENDPOINT_XFER_BULK, packet, 0}, \
    }
    .head = {FUNCTIONFS_DESCRIPTORS_MAGIC_V2, sizeof descriptors,
             FUNCTIONFS_HAS_FS_DESC | FUNCTIONFS_HAS_HS_DESC | FUNCTIONFS_HAS_SS_DESC},
    .full_count = 2,
    .high_count = 2,
    .super_count = 3,
    .full = BULK_IN(64),
    .high = BULK_IN(512),
    .super = BULK_IN(1024),
    .companion = {sizeof(struct usb_ss_ep_comp_descriptor), USB_DT_SS_ENDPOINT_COMP, 15, 0, 0},
};

static const struct {
    struct usb_functionfs_strings_head head;
    __le16 language;
    char name[2];
} __attribute__((packed)) strings = {
    {FUNCTIONFS_STRINGS_MAGIC, sizeof strings, 1, 1}, 0x0409, "x"};

static int open_at(const char *mount, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", mount, name);
    return must(open(path, O_RDWR), path);
}

static void wait_until_enabled(int ep0)
{
    struct usb_functionfs_event event;
    do {
        struct pollfd wait = {ep0, POLLIN, 0};
        if (must(poll(&wait, 1, 10000), "poll") == 0) {
            fprintf(stderr, "no host within 10 s\n");
            exit(1);
        }
        must((int)read(ep0, &event, sizeof event), "read ep0");
    } while (event.type != FUNCTIONFS_ENABLE);
}

// Requests complete on a kernel thread, which can be late. The program collects completions from
// time to time.
static void send_header(int endpoint, long turn)
{
    enum { kHeaders = 128 };
    static aio_context_t queue;
    static char header[100];
    static struct io_event done[kHeaders];
    struct iocb request = {.aio_lio_opcode = IOCB_CMD_PWRITE,
                           .aio_fildes = (uint32_t)endpoint,
                           .aio_buf = (uintptr_t)header,
                           .aio_nbytes = sizeof header};
    struct iocb *list[] = {&request};
    struct timespec at_once = {0, 0};

    if (turn == 0)
        must((int)syscall(SYS_io_setup, kHeaders, &queue), "io_setup");
    if (turn % (kHeaders / 8) == 0)
        must((int)syscall(SYS_io_getevents, queue, 0, kHeaders, done, &at_once), "io_getevents");
    must((int)syscall(SYS_io_submit, queue, 1, list), "io_submit");
}

static void look_for_news(int ep0)
{
    struct usb_functionfs_event event;
    if (read(ep0, &event, sizeof event) >= 0 || errno != EAGAIN) {
        fprintf(stderr, "the host has interrupted the transfer\n");
        exit(1);
    }
}

static void check(int dmabuf)
{
    const int fence = export_fence(dmabuf);
    check_and_close(fence);
}

int main(int argc, char **argv)
{
    if (argc != 7 && argc != 8) {
        fprintf(stderr, "usage: %s MOUNT UDC_FILE CONTROLLER BLOCK_BYTES BLOCKS TURNS [whole]\n", argv[0]);
        return 2;
    }
    const int whole = argc == 8;
    const size_t bytes = strtoull(argv[4], NULL, 0);
    const int blocks = atoi(argv[5]);
    const long turns = atol(argv[6]);
    int dmabuf[64];

    const int ep0 = open_at(argv[1], "ep0");
    must((int)write(ep0, &descriptors, sizeof descriptors), "descriptors");
    must((int)write(ep0, &strings, sizeof strings), "strings");
    const int udc = must(open(argv[2], O_WRONLY), argv[2]);
    must((int)write(udc, argv[3], strlen(argv[3])), "bind");
    wait_until_enabled(ep0);
    must(fcntl(ep0, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
    const int endpoint = open_at(argv[1], "ep1");
    for (int i = 0; i < blocks; ++i) {
        dmabuf[i] = heap_alloc(bytes);
        must(ioctl(endpoint, FFS_DMABUF_ATTACH, &dmabuf[i]), "attach");
    }
    const long long start = now_ns();
    for (long turn = 0; turn < turns; ++turn) {
        struct ffs_transfer_request request = {dmabuf[turn % blocks], 0, bytes};
        if (whole) {
            send_header(endpoint, turn);
            look_for_news(ep0);
        }
        must(ioctl(endpoint, FFS_DMABUF_TRANSFER, &request), "transfer");
        if (whole)
            check(dmabuf[turn % blocks]);
    }
    printf("%lld\n", now_ns() - start);
    return 0;
}
