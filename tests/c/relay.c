/* SPDX-License-Identifier: MIT */
/*
 * Uses the C header as C99: passes blocks from a source to a sink.
 *
 *     relay SOURCE SINK SAMPLES
 *
 * Prints "SAMPLES LOST GAPS". If a call fails, prints the error on stderr and exits with status 1.
 */
#include <iio_stream/iio_stream.h>

#include <stdio.h>
#include <stdlib.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, iio_stream_last_error());
    return 1;
}

static int relay(iio_stream_reader *rx, iio_stream_writer *tx, size_t wanted)
{
    size_t samples = 0, gaps = 0, sample_bytes = 0;
    uint64_t lost = 0, next = 0;

    iio_stream_reader_format(rx, &sample_bytes, NULL);
    while (samples < wanted) {
        struct iio_stream_block_info info;
        iio_stream_block *block = NULL;
        enum iio_stream_result result = iio_stream_reader_next(rx, 30000, &block);

        if (result == IIO_STREAM_ENDED)
            break;
        if (result != IIO_STREAM_BLOCK)
            return failed("next");
        iio_stream_block_get_info(block, &info);
        if (info.bytes != info.samples * sample_bytes || info.sample_index < next)
            return 2;
        next = info.sample_index + info.samples;
        if (info.samples > wanted - samples)
            info.samples = wanted - samples;
        if (iio_stream_writer_write(tx, info.data, info.samples * sample_bytes, -1) < 0)
            return failed("write");
        samples += info.samples;
        gaps += info.gaps;
        lost += info.lost_min;
        iio_stream_block_release(block);
    }
    printf("%lu %lu %lu\n", (unsigned long)samples, (unsigned long)lost, (unsigned long)gaps);
    return 0;
}

int main(int argc, char **argv)
{
    iio_stream_reader *rx;
    iio_stream_writer *tx;
    int status;

    if (argc != 4)
        return 2;
    rx = iio_stream_reader_open(argv[1], 4096, 8);
    if (rx == NULL)
        return failed("open the source");
    tx = iio_stream_writer_open(argv[2], iio_stream_reader_format(rx, NULL, NULL), 0);
    if (tx == NULL)
        return failed("open the sink");
    status = relay(rx, tx, strtoul(argv[3], NULL, 10));
    if (iio_stream_reader_close(rx) != 0 && status == 0)
        status = failed("close the source");
    if (iio_stream_writer_close(tx) != 0 && status == 0)
        status = failed("close the sink");
    return status;
}
