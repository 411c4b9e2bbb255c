/* SPDX-License-Identifier: MIT */
#ifndef IIO_STREAM_H
#define IIO_STREAM_H

/*
 * The C API, for use from other languages: it reads blocks from a source and writes samples to a sink. For
 * everything else use C++ (iio_stream.hpp) or Python.
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
 * Errors: a call that fails returns NULL, IIO_STREAM_ERROR or another negative number. On the same thread,
 * iio_stream_last_error() then states what failed and how to fix it. No call prints, exits or lets a C++
 * exception escape. A NULL argument is an error unless the comment on the call allows it, and so is a number
 * that is out of range.
 * Threads: only one thread at a time may use a reader or writer. Blocks can be released on any thread.
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
    IIO_STREAM_TIMEOUT = 0, /* no block arrived in time; the stream continues */
    IIO_STREAM_BLOCK = 1,   /* a block was returned; release it */
    IIO_STREAM_ENDED = 2    /* the stream has ended; no more blocks will arrive */
};

/* A block of samples; valid until it is released. */
struct iio_stream_block_info {
    const void *data;       /* read-only, the DMA's own memory */
    size_t bytes;           /* size of data in bytes */
    size_t samples;         /* number of samples; a sample is one value of each channel */
    uint64_t sample_index;  /* samples before this block since the start, including lost ones */
    int index_exact;        /* 0: sample_index is a lower bound */
    size_t gaps;            /* places in or before the block where samples are or may be missing */
    uint64_t lost_min;      /* minimum number of samples lost there */
    uint64_t lost_max;      /* maximum number; UINT64_MAX: no upper bound is known */
    int64_t time_ns;        /* when its last sample was complete, CLOCK_MONOTONIC, or UTC for a recording;
                               0: unknown */
};

/* Returns the version of the library, "0.1.0", as a static string. */
IIO_STREAM_C_API const char *iio_stream_version(void);

/* Returns a description of the last failure on this thread: the operation, the object and how to fix it; "" if
 * no call has failed. The text is valid until the next call on this thread. */
IIO_STREAM_C_API const char *iio_stream_last_error(void);

/* Opens a source by its endpoint, "iio:DEVICE?option=value" or a path, with `blocks` blocks of `block_size`
 * bytes; 0 selects the default. Returns NULL on failure. The stream starts when the first block is
 * requested. */
IIO_STREAM_C_API iio_stream_reader *iio_stream_reader_open(const char *source, size_t block_size,
                                                           size_t blocks);

/* Returns the SigMF name of the reader's sample format, "ci16_le", or the comma-separated scan types of the
 * kernel; NULL if the reader is NULL. The text is valid until the reader is closed. Stores the size of one
 * sample in bytes in sample_bytes, and the samples per second (0: unknown) in sample_rate. Either pointer may
 * be NULL. */
IIO_STREAM_C_API const char *iio_stream_reader_format(const iio_stream_reader *reader,
                                                      size_t *sample_bytes, double *sample_rate);

/* Waits up to timeout_ms milliseconds (-1: no limit) for the next block. If it returns IIO_STREAM_BLOCK, the
 * caller owns *block until it releases the block; the buffer is not refilled before that. */
IIO_STREAM_C_API enum iio_stream_result iio_stream_reader_next(iio_stream_reader *reader, int timeout_ms,
                                                               iio_stream_block **block);

/* Stores the properties of a block and the address of its samples in *info. The data are valid until the block
 * is released. If the block is NULL, all fields are set to 0. */
IIO_STREAM_C_API void iio_stream_block_get_info(const iio_stream_block *block,
                                                struct iio_stream_block_info *info);

/* Releases a block, even after its reader has been closed. Does nothing if the block is NULL. */
IIO_STREAM_C_API void iio_stream_block_release(iio_stream_block *block);

/* Ends the stream, waits until every endpoint is closed and frees the reader. Returns 0, or -1 if an error
 * ended the stream. Does nothing if the reader is NULL. */
IIO_STREAM_C_API int iio_stream_reader_close(iio_stream_reader *reader);

/* Opens a sink by its endpoint for samples of a format, such as "ci16_le" or "cf32_le", at `sample_rate`
 * samples per second (0: unknown). Returns NULL on failure. */
IIO_STREAM_C_API iio_stream_writer *iio_stream_writer_open(const char *sink, const char *format,
                                                           double sample_rate);

/* Copies `bytes` bytes of samples into the sink's blocks and waits up to timeout_ms milliseconds (-1: no
 * limit) for free space. Returns the number of bytes copied, or -1 on failure. */
IIO_STREAM_C_API ptrdiff_t iio_stream_writer_write(iio_stream_writer *writer, const void *samples,
                                                   size_t bytes, int timeout_ms);

/* Waits until all written samples have reached their destination, then closes and frees the writer. Returns 0,
 * or -1 if an error ended the stream. Does nothing if the writer is NULL. */
IIO_STREAM_C_API int iio_stream_writer_close(iio_stream_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
