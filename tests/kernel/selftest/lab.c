// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lab.h"

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("  ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	exit(1);
}

int put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int get(const char *path, char *value, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length, all = 0;

	if (fd < 0)
		return -errno;
	while ((length = read(fd, value + all, size - 1 - all)) > 0)
		all += length;
	if (length < 0)
		all = -errno;
	else
		value[all] = 0;
	close(fd);
	while (all > 0 && value[all - 1] == '\n')
		value[--all] = 0;
	return all;
}

#define DEVICES "/sys/bus/iio/devices"

bool device_path(const char *name, const char *file, char *path, size_t size)
{
	DIR *folder = opendir(DEVICES);
	struct dirent *entry;
	char found[64];
	bool right = false;

	while (folder && !right && (entry = readdir(folder))) {
		snprintf(path, size, DEVICES "/%s/name", entry->d_name);
		right = get(path, found, sizeof(found)) > 0 && !strcmp(found, name);
		if (right && file[0] == '@')
			snprintf(path, size, "%s%s", file + 1, entry->d_name);
		else if (right)
			snprintf(path, size, DEVICES "/%s/%s", entry->d_name, file);
	}
	if (folder)
		closedir(folder);
	return right;
}

int device_put(const char *name, const char *file, const char *value)
{
	char path[256];

	return device_path(name, file, path, sizeof(path)) ? put(path, value) : -ENODEV;
}

int device_get(const char *name, const char *file, char *value, size_t size)
{
	char path[256];

	return device_path(name, file, path, sizeof(path)) ? get(path, value, size) : -ENODEV;
}

#define KNOBS "/sys/kernel/debug/iios-sim"

void knob(const char *device, const char *name, uint64_t value)
{
	char path[256], text[32];
	int ret;

	snprintf(path, sizeof(path), KNOBS "/%s/%s", device, name);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	ret = put(path, text);
	if (ret)
		fail("%s = %s: %s", path, text, strerror(-ret));
}

uint64_t count(const char *device, const char *name)
{
	char path[256], text[64];
	int ret;

	snprintf(path, sizeof(path), KNOBS "/%s/%s", device, name);
	ret = get(path, text, sizeof(text));
	if (ret < 0)
		fail("%s: %s", path, strerror(-ret));
	return strtoull(text, NULL, 0);
}

int sim_load(const char *parameters)
{
	char command[512];

	snprintf(command, sizeof(command), "sim-load %s", parameters);
	return system(command);
}

void must_load(const char *parameters)
{
	if (sim_load(parameters))
		fail("sim-load %s failed", parameters);
}

static bool kernel_since(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int is = 0, point = 0;

	uname(&name);
	sscanf(name.release, "%u.%u", &is, &point);
	return is > major || (is == major && point >= minor);
}

bool old_kernel(void)
{
	return !kernel_since(6, 11);
}

const char *legacy_mode(void)
{
	static char mode[16];

	return get("/sys/module/industrialio_buffer_dmaengine/parameters/mode", mode, sizeof(mode)) > 0 ? mode : "";
}

bool has_dmabufs(void)
{
	return !old_kernel() && !*legacy_mode();
}

bool merges_pages(void)
{
	return kernel_since(7, 0);
}

bool repeats_cyclic(void)
{
	return kernel_since(7, 3);
}

bool heapless(void)
{
	return access("/dev/dma_heap/system", F_OK);
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

void pause_ms(unsigned int ms)
{
	usleep(ms * 1000);
}
