// SPDX-License-Identifier: MIT
// The yardstick: the least that a program can do to keep an IIO buffer's DMABUFs turning.
//
//   enqueue-poll DEVICE BLOCK_BYTES BLOCKS TURNS [status]
//
// prints the nanoseconds (instructions, if the lab runs with --icount) from enabling the buffer
// to the last block's end. BLOCKS DMABUFs from the system heap are filled TURNS times in all. It only
// enqueues and polls: a block that failed is taken for a good one. With `status` each block's fence
// is exported when it is enqueued and asked when it ended, the only way to know.
#include "bench.h"

#include <poll.h>

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: %s DEVICE BLOCK_BYTES BLOCKS TURNS [status]\n", argv[0]);
        return 2;
    }
    const int status = argc == 6;
    int fence[64];
    const char *device = argv[1];
    const size_t bytes = strtoull(argv[2], NULL, 0);
    const int blocks = atoi(argv[3]);
    const long turns = atol(argv[4]);
    int dmabuf[64];

    enable_all_channels(device);
    const int chardev = open_device(device);
    const int buffer = buffer_of(chardev);
    for (int i = 0; i < blocks; ++i) {
        dmabuf[i] = heap_alloc(bytes);
        must(ioctl(buffer, IIO_DMABUF_ATTACH, &dmabuf[i]), "attach");
    }
    for (int i = 0; i < blocks; ++i) {
        enqueue(buffer, dmabuf[i], bytes);
        fence[i] = status ? export_fence(dmabuf[i]) : dmabuf[i];
    }

    const long long start = now_ns();
    set_attribute(device, "buffer0/enable", "1");
    for (long turn = 0; turn < turns; ++turn) {
        const int i = (int)(turn % blocks);
        struct pollfd wait = {fence[i], status ? POLLIN : POLLOUT, 0};
        if (must(poll(&wait, 1, 5000), "poll") == 0) {
            fprintf(stderr, "no block within 5 s\n");
            return 1;
        }
        if (status)
            check_and_close(fence[i]);
        if (turn + blocks < turns) {
            enqueue(buffer, dmabuf[i], bytes);
            fence[i] = status ? export_fence(dmabuf[i]) : dmabuf[i];
        }
    }
    const long long end = now_ns();
    set_attribute(device, "buffer0/enable", "0");
    printf("%lld\n", end - start);
    return 0;
}
