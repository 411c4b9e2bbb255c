/* SPDX-License-Identifier: MIT */
/*
 * Injects faults of drivers that the simulator cannot produce. The program loads this library
 * through LD_PRELOAD. Each variable contains a part of the affected file's path, and numbers:
 *
 *	FAULT_STUCK=PART:SKIP		writes to such a file have no effect after the first SKIP
 *	FAULT_WRITE=PART:ERRNO:SKIP	writes to such a file fail with ERRNO after the first SKIP
 *	FAULT_VALUE=TEXT		only writes of that text are affected
 *	FAULT_INSTEAD=TEXT		the writes of FAULT_STUCK write this text instead, which has the same length
 *	FAULT_OPEN=PART:ERRNO:AS	an open() that would fail with ERRNO fails with AS instead
 *	FAULT_IOCTL=NUMBER:ERRNO:SKIP	requests with that number (the last byte) fail after the first SKIP
 *	FAULT_SLOW=NUMBER:MS		FunctionFS requests with that number return this much later
 *	FAULT_LATE=MS			a poll() that times out returns this much later
 *	FAULT_ENABLED=DEVICE		the device's buffer is enabled when open files are listed the second time
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads "PART:FIRST:SECOND". Returns 0 if the variable is not set. */
static int fault(const char *name, char part[256], int *first, int *second)
{
	const char *text = getenv(name);

	*first = *second = 0;
	return text && sscanf(text, "%255[^:]:%d:%d", part, first, second) >= 1;
}

static int is_file(int fd, const char *part)
{
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return 0;
	path[length] = 0;
	return strstr(path, part) != NULL;
}

static int is_value(const void *data, size_t bytes)
{
	const char *value = getenv("FAULT_VALUE");

	return !value || (bytes == strlen(value) && !memcmp(data, value, bytes));
}

ssize_t write(int fd, const void *data, size_t bytes)
{
	static ssize_t (*real)(int, const void *, size_t);
	static int stuck, failed;
	char part[256];
	int first, second;

	if (!real)
		real = dlsym(RTLD_NEXT, "write");
	if (fault("FAULT_STUCK", part, &first, &second) && is_value(data, bytes) && is_file(fd, part) &&
	    stuck++ >= first)
		return getenv("FAULT_INSTEAD") ? (real(fd, getenv("FAULT_INSTEAD"), bytes) < 0 ? -1 : (ssize_t)bytes)
					       : (ssize_t)bytes;
	if (fault("FAULT_WRITE", part, &first, &second) && is_value(data, bytes) && is_file(fd, part) &&
	    failed++ >= second) {
		errno = first;
		return -1;
	}
	return real(fd, data, bytes);
}

/* Implements only FAULT_STUCK. Some debugfs files cannot seek, so write() cannot replace pwrite(). */
ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);
	static int stuck;
	char part[256];
	int first, second;

	if (!real)
		real = dlsym(RTLD_NEXT, "pwrite64");
	if (fault("FAULT_STUCK", part, &first, &second) && is_value(data, bytes) && is_file(fd, part) &&
	    stuck++ >= first && (!getenv("FAULT_INSTEAD") || real(fd, getenv("FAULT_INSTEAD"), bytes, offset) >= 0))
		return bytes;
	return real(fd, data, bytes, offset);
}

static int checked_open(const char *path, int result)
{
	char part[256];
	int first, second;

	if (result < 0 && fault("FAULT_OPEN", part, &first, &second) && strstr(path, part) && errno == first)
		errno = second;
	return result;
}

int open64(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	va_list list;
	int mode;

	if (!real)
		real = dlsym(RTLD_NEXT, "open64");
	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	return checked_open(path, real(path, flags, mode));
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	static int seen;
	char part[256];
	va_list list;
	void *argument;
	int first, second, result;

	if (!real)
		real = dlsym(RTLD_NEXT, "ioctl");
	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (fault("FAULT_IOCTL", part, &first, &second) && (request >> 8 & 0xff) == 'i' &&
	    strtoul(part, NULL, 0) == (request & 0xff) && seen++ >= second) {
		errno = first;
		return -1;
	}
	result = real(fd, request, argument);
	if (fault("FAULT_SLOW", part, &first, &second) && (request >> 8 & 0xff) == 'g' &&
	    strtoul(part, NULL, 0) == (request & 0xff)) {
		second = errno;
		usleep(1000 * first);
		errno = second;
	}
	return result;
}

static void write_to(const char *folder, const char *file)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	stream = fopen(path, "w");
	if (stream) {
		fputs("1", stream);
		fclose(stream);
	}
}

static void enable(const char *device)
{
	char folder[64], path[128], name[64];
	FILE *stream;
	int i;

	for (i = 0; i < 32; i++) {
		snprintf(folder, sizeof(folder), "/sys/bus/iio/devices/iio:device%d", i);
		snprintf(path, sizeof(path), "%s/name", folder);
		stream = fopen(path, "r");
		if (!stream)
			continue;
		if (fscanf(stream, "%63s", name) == 1 && !strcmp(name, device)) {
			write_to(folder, "scan_elements/in_voltage0_en");
			write_to(folder, "buffer0/enable");
		}
		fclose(stream);
	}
}

DIR *opendir(const char *path)
{
	static DIR *(*real)(const char *);
	static int listed;

	if (!real)
		real = dlsym(RTLD_NEXT, "opendir");
	if (getenv("FAULT_ENABLED") && !strcmp(path, "/proc/self/fd") && listed++)
		enable(getenv("FAULT_ENABLED"));
	return real(path);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	static int (*real)(struct pollfd *, nfds_t, int);
	const char *late = getenv("FAULT_LATE");
	int ready;

	if (!real)
		real = dlsym(RTLD_NEXT, "poll");
	ready = real(fds, count, timeout);
	if (ready == 0 && late && timeout > 50)
		usleep(1000 * atoi(late));
	return ready;
}
