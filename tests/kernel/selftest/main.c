// SPDX-License-Identifier: GPL-2.0-only
/* selftest GROUP [TEST]: runs tests, each in its own process, and prints the totals. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

static const struct {
	const char *name;
	const struct test *tests;
} groups[] = {
	{ "capture", capture_tests },
	{ "loss", loss_tests },
	{ "fault", fault_tests },
	{ "charge", charge_tests },
	{ "end", end_tests },
	{ "output", output_tests },
	{ "fact", fact_tests },
	{ "udc", udc_tests },
	{ "legacy", legacy_tests },
	{ "legacy", rule_tests },
	{ "legacy", mode_tests },
};

static bool possible(const struct test *test)
{
	const char *mode = legacy_mode();
	bool fixed = !strcmp(mode, "fixed");

	switch (test->needs) {
	case READING:
		return fixed || !*mode;
	case DMABUFS:
		return has_dmabufs();
	case WRITING:
		return fixed || has_dmabufs();
	case BLOCKS:
		return *mode;
	case BLOCKS_AND_READING:
		return fixed;
	case ONE_BLOCK:
		return !strcmp(mode, "single");
	}
	return false;
}

static int run_one(const struct test *test)
{
	double begin = now();
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		alarm(120);
		test->run();
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("%s %s (%.1f s)\n", status ? "FAIL" : "ok  ", test->name, now() - begin);
	return status != 0;
}

int main(int argc, char **argv)
{
	int passed = 0, failed = 0, skipped = 0;
	unsigned int i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct test *test = groups[i].tests;

		if (argc > 1 && strcmp(argv[1], "all") && strcmp(argv[1], groups[i].name))
			continue;
		for (; test->name; test++) {
			if (argc > 2 && !strstr(test->name, argv[2]))
				continue;
			if (!possible(test))
				skipped++;
			else if (run_one(test))
				failed++;
			else
				passed++;
		}
	}
	if (sim_load("none"))
		failed++;
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed != 0;
}
