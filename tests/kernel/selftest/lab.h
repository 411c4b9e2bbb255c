/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- lab.c: files, devices and the simulator ---- */

#define ADC "iios-sim-adc"
#define DAC "iios-sim-dac"
#define PHY "iios-sim-phy"

void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
int put(const char *path, const char *value);		/* 0 or -errno */
int get(const char *path, char *value, size_t size);	/* length or -errno */
bool device_path(const char *name, const char *file, char *path, size_t size);
int device_put(const char *name, const char *file, const char *value);
int device_get(const char *name, const char *file, char *value, size_t size);
void knob(const char *device, const char *name, uint64_t value);
uint64_t count(const char *device, const char *name);
int sim_load(const char *parameters);
void must_load(const char *parameters);
bool old_kernel(void);		/* Linux 6.1: no DMABUFs, no output */
/* Returns fixed, broken or single if the kernel has ADI's blocks, otherwise "". */
const char *legacy_mode(void);
bool has_dmabufs(void);
bool merges_pages(void);	/* udmabuf merges adjacent pages into one segment */
bool repeats_cyclic(void);	/* IIO passes CYCLIC on to the DMA driver */
bool heapless(void);		/* Debian's arm64 has no dma-heap; udmabuf replaces it */
double now(void);
void pause_ms(unsigned int ms);

/* ---- scan.c: a second implementation of the layout of a scan and of the patterns ---- */

#define MAX_CHANNELS 5

struct channel {
	char name[32];
	unsigned int index, realbits, bytes, shift, offset;
	bool big_endian, is_signed;
};

struct layout {
	unsigned int count, scan_bytes;
	struct channel channels[MAX_CHANNELS];
};

struct gap {
	uint64_t delivered, lost, at;
};

void layout_read(const char *device, bool output, unsigned int mask, struct layout *layout);
uint64_t channel_value(const struct channel *channel, const uint8_t *scan);
uint64_t lane_value(const struct channel *channel, uint64_t counter);
unsigned int truth(const char *device, struct gap *gaps, unsigned int max);

/*
 * Check a recording against ramp or lanes with these gaps. Return the number of bad bytes or
 * scans.
 */
uint64_t verify_ramp(const struct layout *layout, const uint8_t *data, size_t bytes,
		     const struct gap *gaps, unsigned int gap_count);
uint64_t verify_lanes(const struct layout *layout, const uint8_t *data, size_t bytes,
		      const struct gap *gaps, unsigned int gap_count, uint64_t start);

/* ---- stream.c: capture and play ---- */

enum memory { HEAP, UDMABUF, FILEIO };

#define MAX_BLOCKS 16

struct block {
	int fd, memfd, fence;
	uint8_t *data;
	bool queued;
};

struct stream {
	const char *device;
	bool output;
	enum memory memory;
	size_t block_bytes;
	unsigned int blocks;
	int chr, buffer;
	struct block block[MAX_BLOCKS];
	unsigned int next;		/* the next block to wait for */
};

/* Opens the device and attaches all blocks. The caller sets the members up to `blocks`. */
void stream_open(struct stream *stream, unsigned int mask);
void stream_start(struct stream *stream);
/* Enqueues a block. For an output, the block already contains the data. Returns 0 or -errno. */
int stream_enqueue(struct stream *stream, unsigned int number);
/* Waits for the oldest block. Returns 1 when it is done, 0 on timeout, or the fence's -errno. */
int stream_wait(struct stream *stream, int timeout_ms);
void stream_close(struct stream *stream);
/*
 * record() captures the given number of bytes. capture() also pauses for `pause` ms after each
 * block whose bit is set in `pauses`.
 */
uint8_t *record(const char *device, enum memory memory, unsigned int mask, size_t bytes,
		size_t block_bytes);
void capture(struct stream *stream, uint8_t *data, size_t bytes, uint64_t pauses,
	     unsigned int pause);
bool fence_info(int fence, char driver[32], int *status);
bool fence_is_stub(int fence, uint64_t since_ns);

/* ---- gadget.c: a USB gadget on the simulated controller, and its host ---- */

struct gadget {
	int ep0, in, out;		/* in: 0x81, out: 0x02 */
	int host;			/* file of usbfs with the claimed interface */
};

void udc_load(const char *parameters);
void udc_knob(const char *name, const char *value);
uint64_t udc_count(const char *name);
void gadget_open(struct gadget *gadget);
/*
 * Call after the cable was unplugged. Waits until the gadget is configured again, and opens the
 * host's side.
 */
void gadget_returned(struct gadget *gadget);
void gadget_close(struct gadget *gadget);
int gadget_attach(int endpoint, int dmabuf);			/* 0 or -errno */
int gadget_transfer(int endpoint, int dmabuf, size_t bytes);	/* 0 or -errno */
/* Returns the number of bytes, or -errno. */
int host_bulk(const struct gadget *gadget, unsigned int address, void *data, size_t bytes);
int host_clear_halt(const struct gadget *gadget, unsigned int address);

#define USB_BLOCK	(256 << 10)
#define USB_BLOCKS	4

struct blocks {
	int fd[USB_BLOCKS];
	uint64_t *data[USB_BLOCKS];
};

int heap_block(void);
/*
 * Makes USB_BLOCKS blocks, whose words are one sequence of consecutive numbers, and attaches them
 * to the endpoint.
 */
void blocks_open(struct blocks *blocks, enum memory memory, int endpoint);
void blocks_close(struct blocks *blocks);

/* ---- the tests ---- */

#define I	0x1		/* masks of channels */
#define IQ	0x3
#define ALL	0xf
#define COUNTER	0x10

enum need {
	READING,		/* read() works on a DMA buffer */
	DMABUFS,
	WRITING,		/* write() works on an output */
	BLOCKS,			/* blocks of ADI's kernels, whatever read() does */
	BLOCKS_AND_READING,
	ONE_BLOCK,		/* read() and write() use a single block */
};

struct test {
	const char *name;
	void (*run)(void);
	enum need needs;
};

extern const struct test capture_tests[], loss_tests[], fault_tests[], end_tests[], output_tests[];
extern const struct test fact_tests[], charge_tests[], udc_tests[];
extern const struct test legacy_tests[], rule_tests[], mode_tests[];

#endif
