// SPDX-License-Identifier: GPL-2.0-only
/* The simulator spends time on work that takes time on a real machine. */
#include <stdlib.h>

#include "lab.h"

static double timed(const char *parameters)
{
	double begin;

	must_load(parameters);
	begin = now();
	free(record(ADC, UDMABUF, IQ, 4 << 20, 256 << 10));
	return now() - begin;
}

static void segments_and_interrupts_take_time(void)
{
	double plain = timed("sg=0 pattern=stamp");
	double segment = timed("sg=0 pattern=stamp segment_ns=200000");
	double irq = timed("sg=0 pattern=stamp irq_ns=200000");

	printf("  %.2f s, with segments charged %.2f s, with interrupts %.2f s\n", plain, segment,
	       irq);
	if (segment < 0.2 || irq < 0.1)	/* several segments can share an interrupt */
		fail("1024 segments at 200 us each expected");
}

static void register_read_is_delayed(void)
{
	char path[256], file[300], text[32];
	double begin = now();

	must_load("xflow_delay_ms=200");
	device_path(ADC, "@/sys/kernel/debug/iio/", path, sizeof(path));
	snprintf(file, sizeof(file), "%s/backend0/direct_reg_access", path);
	put(file, "0x88");
	begin = now();
	get(file, text, sizeof(text));
	if (now() - begin < 0.19 || !count(ADC, "xflow_reads"))
		fail("read in %.3f s", now() - begin);
}

const struct test charge_tests[] = {
	{ "segments_and_interrupts_take_time", segments_and_interrupts_take_time, DMABUFS },
	{ "register_read_is_delayed", register_read_is_delayed, DMABUFS },
	{ NULL, NULL, READING },
};
