// SPDX-License-Identifier: GPL-2.0-only
/* Time that the simulator takes for work which costs a real machine some. */
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

static void charges(void)
{
	double plain = timed("sg=0 pattern=stamp");
	double segment = timed("sg=0 pattern=stamp segment_ns=200000");
	double irq = timed("sg=0 pattern=stamp irq_ns=200000");

	printf("  %.2f s, with segments charged %.2f s, with interrupts %.2f s\n", plain, segment,
	       irq);
	if (segment < 0.2 || irq < 0.1)	/* several segments may share an interrupt */
		fail("1024 segments at 200 us each expected");
}

static void slow_register(void)
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
	{ "charges", charges, DMABUFS },
	{ "slow_register", slow_register, DMABUFS },
	{ NULL, NULL, READING },
};
