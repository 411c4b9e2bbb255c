/* SPDX-License-Identifier: MIT */
#ifndef IIO_STREAM_H
#define IIO_STREAM_H

/*
 * The calls other languages need: blocks from a source, samples to a sink. For everything else use C++
 * (iio_stream.hpp) or Python.
 *
 *     iio_stream_reader *rx = iio_stream_reader_open("iio:cf-ad9361-lpc?frequency=2.4G", 0, 0);
 *     iio_stream_block *block;
 *     while (rx != NULL && iio_stream_reader_next(rx, -1, &block) == IIO_STREAM_BLOCK) {
 *         struct iio_stream_block_info info;
 *         iio_stream_block_get_info(block, &info);
 *         use(info.data, info.samples);
 *         iio_stream_block_release(block);
 *     }
 *     if (rx == NULL || iio_stream_reader_close(rx) != 0)
 *         fprintf(stderr, "%s\n", iio_stream_last_error());
 *
 * Errors: a call that fails returns NULL, IIO_STREAM_ERROR or another negative number;
 * iio_stream_last_error() on the same thread says what failed and how to fix it. No call prints, exits or
 * lets a C++ exception through. A NULL where an object or a text is needed is such an error, and so is a number
 * that makes no sense; where NULL is allowed, the call says so.
 * Threads: one at a time for a reader or writer; blocks may be released on any.
 */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define IIO_STREAM_C_API __attribute__((visibility("default")))
#else
#define IIO_STREAM_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque; each is freed only by the call that closes or releases it. */
typedef struct iio_stream_reader iio_stream_reader;
typedef struct iio_stream_writer iio_stream_writer;
typedef struct iio_stream_block iio_stream_block;

/* The result of iio_stream_reader_next(). */
enum iio_stream_result {
    IIO_STREAM_ERROR = -1,  /* see iio_stream_last_error() */
    IIO_STREAM_TIMEOUT = 0, /* no block came in time; the stream goes on */
    IIO_STREAM_BLOCK = 1,   /* there is one; release it */
    IIO_STREAM_ENDED = 2    /* the stream has ended: no block will come */
};

/* A block of samples; valid until it is released. */
struct iio_stream_block_info {
    const void *data;       /* read-only, the DMA's own memory */
    size_t bytes;           /* of data */
    size_t samples;         /* number of samples; a sample is one value of each channel */
    uint64_t sample_index;  /* samples before it since the start, lost ones included */
    int index_exact;        /* 0: sample_index is a lower bound */
    size_t gaps;            /* places in or before it where samples are, or may be, missing */
    uint64_t lost_min;      /* samples lost there at least */
    uint64_t lost_max;      /* and at most; UINT64_MAX: no upper bound is known */
    int64_t time_ns;        /* when its last sample was complete, CLOCK_MONOTONIC, or UTC for a recording;
                               0: unknown */
};

/* The version of the library, "0.1.0"; static. */
IIO_STREAM_C_API const char *iio_stream_version(void);

/* The last failure on this thread, with operation, object and how to fix it; "" if there was none. Valid
 * until this thread's next call. */
IIO_STREAM_C_API const char *iio_stream_last_error(void);

/* Opens a source by its endpoint, "iio:DEVICE?option=value" or a path, with `blocks` blocks of `block_size`
 * bytes; 0: the default. NULL on failure. It starts when the first block is requested. */
IIO_STREAM_C_API iio_stream_reader *iio_stream_reader_open(const char *source, size_t block_size,
                                                           size_t blocks);

/* SigMF's name of its sample format, "ci16_le", or the kernel's scan types, comma-separated. Valid as long
 * as the reader. Stores the bytes of one sample in sample_bytes, and samples per second (0: unknown) in
 * sample_rate; either may be NULL. NULL if the reader is NULL. */
IIO_STREAM_C_API const char *iio_stream_reader_format(const iio_stream_reader *reader,
                                                      size_t *sample_bytes, double *sample_rate);

/* Waits up to timeout_ms milliseconds (-1: as long as it takes) for the next block. On IIO_STREAM_BLOCK
 * *block belongs to the caller until released; its buffer is not refilled while it is kept. */
IIO_STREAM_C_API enum iio_stream_result iio_stream_reader_next(iio_stream_reader *reader, int timeout_ms,
                                                               iio_stream_block **block);

/* Everything known about a block, and where its samples are; valid until it is released. All is 0 if the block
 * is NULL. */
IIO_STREAM_C_API void iio_stream_block_get_info(const iio_stream_block *block,
                                                struct iio_stream_block_info *info);

/* Returns a block, even after its reader was closed. NULL does nothing. */
IIO_STREAM_C_API void iio_stream_block_release(iio_stream_block *block);

/* Ends the stream, waits until every endpoint is closed and frees the reader. 0, or -1 if an error had
 * ended the stream. NULL does nothing. */
IIO_STREAM_C_API int iio_stream_reader_close(iio_stream_reader *reader);

/* Opens a sink by its endpoint for samples of a format, "ci16_le" or "cf32_le", at `sample_rate` per
 * second (0: unknown). NULL on failure. */
IIO_STREAM_C_API iio_stream_writer *iio_stream_writer_open(const char *sink, const char *format,
                                                           double sample_rate);

/* Copies `bytes` of samples into the sink's blocks, and waits up to timeout_ms milliseconds (-1: as long as
 * it takes) for room. Returns the bytes there was room for, or -1. */
IIO_STREAM_C_API ptrdiff_t iio_stream_writer_write(iio_stream_writer *writer, const void *samples,
                                                   size_t bytes, int timeout_ms);

/* Waits until all samples written have reached their destination, closes and frees the writer. 0, or -1 if
 * an error ended the stream. NULL does nothing. */
IIO_STREAM_C_API int iio_stream_writer_close(iio_stream_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
