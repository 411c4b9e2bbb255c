/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- lab.c: files, devices, the simulator ---- */

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
/* fixed, broken or single if the kernel has ADI's blocks, else "". */
const char *legacy_mode(void);
bool has_dmabufs(void);
bool merges_pages(void);	/* udmabuf makes one segment of pages that lie side by side */
bool repeats_cyclic(void);	/* IIO passes CYCLIC on to the DMA driver */
bool heapless(void);		/* Debian's arm64: no dma-heap; udmabuf stands in */
double now(void);
void pause_ms(unsigned int ms);

/* ---- scan.c: the layout of a scan and the patterns, written a second time ---- */

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

/* Checks a recording against ramp or lanes with these gaps; returns the bad bytes or scans. */
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
	unsigned int next;		/* the block to be waited for */
};

/* Opens, attaches and enqueues all blocks, and enables; fields up to blocks are given. */
void stream_open(struct stream *stream, unsigned int mask);
void stream_start(struct stream *stream);
/* Enqueues the next free block (an output's data lie in it already): 0 or -errno. */
int stream_enqueue(struct stream *stream, unsigned int number);
/* Waits for the oldest block: 1 done, 0 timeout, -errno the fence's error. */
int stream_wait(struct stream *stream, int timeout_ms);
void stream_close(struct stream *stream);
/* Captures this many bytes; pauses for a time after each of the blocks whose bit is set. */
uint8_t *record(const char *device, enum memory memory, unsigned int mask, size_t bytes,
		size_t block_bytes);
void capture(struct stream *stream, uint8_t *data, size_t bytes, uint64_t pauses,
	     unsigned int pause);
bool fence_info(int fence, char driver[32], int *status);
bool fence_is_stub(int fence, uint64_t since_ns);

/* ---- gadget.c: a USB gadget on the simulated controller, and its host ---- */

struct gadget {
	int ep0, in, out;		/* in: 0x81, out: 0x02 */
	int host;			/* of usbfs, its interface claimed */
};

void udc_load(const char *parameters);
void udc_knob(const char *name, const char *value);
uint64_t udc_count(const char *name);
void gadget_open(struct gadget *gadget);
/* The cable was out: waits until the gadget is configured again, and opens the host's side. */
void gadget_returned(struct gadget *gadget);
void gadget_close(struct gadget *gadget);
int gadget_attach(int endpoint, int dmabuf);			/* 0 or -errno */
int gadget_transfer(int endpoint, int dmabuf, size_t bytes);	/* 0 or -errno */
/* Bytes, or -errno. */
int host_bulk(const struct gadget *gadget, unsigned int address, void *data, size_t bytes);
int host_clear_halt(const struct gadget *gadget, unsigned int address);

#define USB_BLOCK	(256 << 10)
#define USB_BLOCKS	4

struct blocks {
	int fd[USB_BLOCKS];
	uint64_t *data[USB_BLOCKS];
};

int heap_block(void);
/* USB_BLOCKS of them, counting on from block to block, attached to the endpoint. */
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
	WRITING,		/* write() works, on an output */
	BLOCKS,			/* ADI's, whatever read() does */
	BLOCKS_AND_READING,
	ONE_BLOCK,		/* read() and write() have one */
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
