// SPDX-License-Identifier: MIT
// The yardstick: the least that a program can do to keep an IIO buffer's DMABUFs turning. It only
// enqueues and polls; it does not ask how a block ended, and dates nothing.
//
//   enqueue-poll DEVICE BLOCK_BYTES BLOCKS TURNS
//
// prints the nanoseconds (instructions, where the lab runs with --icount) from enabling the buffer
// to the last block's end. BLOCKS DMABUFs from the system heap are filled TURNS times in all.
#include "bench.h"

#include <poll.h>

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s DEVICE BLOCK_BYTES BLOCKS TURNS\n", argv[0]);
        return 2;
    }
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
    for (int i = 0; i < blocks; ++i)
        enqueue(buffer, dmabuf[i], bytes);

    const long long start = now_ns();
    set_attribute(device, "buffer0/enable", "1");
    for (long turn = 0; turn < turns; ++turn) {
        const int i = (int)(turn % blocks);
        struct pollfd wait = {dmabuf[i], POLLOUT, 0};
        if (must(poll(&wait, 1, 5000), "poll") == 0) {
            fprintf(stderr, "no block within 5 s\n");
            return 1;
        }
        if (turn + blocks < turns)
            enqueue(buffer, dmabuf[i], bytes);
    }
    const long long end = now_ns();
    set_attribute(device, "buffer0/enable", "0");
    printf("%lld\n", end - start);
    return 0;
}
