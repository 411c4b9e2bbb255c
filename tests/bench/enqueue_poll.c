// SPDX-License-Identifier: MIT
// The reference measurement: the minimum that a program must do to keep the DMABUFs of an IIO
// buffer in use.
//
//   enqueue-poll DEVICE BLOCK_BYTES BLOCKS TURNS [status]
//
// Prints the nanoseconds (instructions, if the lab runs with --icount) from enabling the buffer to
// the end of the last block. BLOCKS DMABUFs from the system heap are filled TURNS times in total.
// The program only enqueues and polls, so it does not notice failed blocks. With `status`, it
// exports the fence of each block when it enqueues the block, and reads the fence's status when the
// block has ended. This is the only way to detect a failed block.
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
