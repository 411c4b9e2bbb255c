// SPDX-License-Identifier: MIT
// The common code of the benchmark programs. They are short: they do not recover from errors, and
// they free resources only by exiting.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/sync_file.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct iio_dmabuf_request {
    uint32_t fd, flags;
    uint64_t bytes_used;
};
#define IIO_GET_FD _IOWR('i', 0x91, int)
#define IIO_DMABUF_ATTACH _IOW('i', 0x92, int)
#define IIO_DMABUF_ENQUEUE _IOW('i', 0x94, struct iio_dmabuf_request)

static inline int must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(1);
    }
    return result;
}

static inline long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/// `device` is a name such as "iio:device0".
static inline void set_attribute(const char *device, const char *name, const char *value)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/bus/iio/devices/%s/%s", device, name);
    const int fd = must(open(path, O_WRONLY), path);
    must((int)write(fd, value, strlen(value)), path);
    close(fd);
}

static inline void enable_all_channels(const char *device)
{
    static const char *const names[] = {"voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q"};
    for (int i = 0; i < 4; ++i) {
        char name[64];
        snprintf(name, sizeof name, "buffer0/in_%s_en", names[i]);
        set_attribute(device, name, "1");
    }
}

static inline int open_device(const char *device)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/%s", device);
    return must(open(path, O_RDWR), path);
}

static inline int buffer_of(int chardev)
{
    int fd = 0;
    must(ioctl(chardev, IIO_GET_FD, &fd), "IIO_BUFFER_GET_FD");
    return fd;
}

static inline int heap_alloc(size_t bytes)
{
    const int heap = must(open("/dev/dma_heap/system", O_RDWR), "/dev/dma_heap/system");
    struct dma_heap_allocation_data request = {.len = bytes, .fd_flags = O_RDWR | O_CLOEXEC};
    must(ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request), "DMA_HEAP_IOCTL_ALLOC");
    close(heap);
    return (int)request.fd;
}

static inline void enqueue(int buffer, int dmabuf, size_t bytes)
{
    struct iio_dmabuf_request request = {(uint32_t)dmabuf, 0, bytes};
    must(ioctl(buffer, IIO_DMABUF_ENQUEUE, &request), "IIO_BUFFER_DMABUF_ENQUEUE");
}

static inline int export_fence(int dmabuf)
{
    struct dma_buf_export_sync_file request = {.flags = DMA_BUF_SYNC_WRITE, .fd = -1};
    must(ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request), "DMA_BUF_IOCTL_EXPORT_SYNC_FILE");
    return request.fd;
}

static inline void check_and_close(int fence)
{
    struct sync_fence_info one = {.status = 0};
    struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&one};
    must(ioctl(fence, SYNC_IOC_FILE_INFO, &info), "SYNC_IOC_FILE_INFO");
    if (info.status != 1) {
        fprintf(stderr, "a block ended with status %d\n", info.status);
        exit(1);
    }
    close(fence);
}
