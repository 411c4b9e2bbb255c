// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

#define IQ 0x3

static uint8_t *record(const char *device, enum memory memory, unsigned int mask, size_t bytes,
		       size_t block_bytes)
{
	struct stream s = { .device = device, .memory = memory, .block_bytes = block_bytes,
			    .blocks = 4 };
	uint8_t *data = malloc(bytes);

	stream_open(&s, mask);
	stream_start(&s);
	capture(&s, data, bytes, 0, 0);
	stream_close(&s);
	return data;
}

static void ramp_case(enum memory memory, const char *parameters)
{
	const size_t bytes = 16 << 20;
	struct layout layout;
	uint64_t bad;
	uint8_t *data;

	must_load(parameters);
	data = record(ADC, memory, IQ, bytes, 1 << 20);
	layout_read(ADC, false, IQ, &layout);
	bad = verify_ramp(&layout, data, bytes, NULL, 0);
	free(data);
	if (bad)
		fail("%" PRIu64 " bytes differ", bad);
}

static void ramp_heap(void)
{
	ramp_case(HEAP, "");
}

static void ramp_udmabuf(void)
{
	ramp_case(UDMABUF, "");
}

static void ramp_fileio(void)
{
	ramp_case(FILEIO, "");
}

static void ramp_heap_without_sg(void)
{
	ramp_case(HEAP, "sg=0");
}

static void ramp_udmabuf_without_sg(void)
{
	ramp_case(UDMABUF, "sg=0");
}

static void ramp_fileio_without_sg(void)
{
	ramp_case(FILEIO, "sg=0");
}

const struct test capture_tests[] = {
	{ "ramp_heap", ramp_heap },
	{ "ramp_udmabuf", ramp_udmabuf },
	{ "ramp_fileio", ramp_fileio },
	{ "ramp_heap_without_sg", ramp_heap_without_sg },
	{ "ramp_udmabuf_without_sg", ramp_udmabuf_without_sg },
	{ "ramp_fileio_without_sg", ramp_fileio_without_sg },
	{ NULL, NULL },
};
