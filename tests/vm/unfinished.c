/* SPDX-License-Identifier: MIT */
/* A program for libiio 0.x that captures SAMPLES of DEVICE and ends without iio_buffer_destroy(), in the given WAY. */
#include <iio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;

	struct iio_context *context = iio_create_local_context();
	struct iio_device *device = context ? iio_context_find_device(context, argv[1]) : NULL;

	if (!device)
		return 3;
	for (unsigned i = 0; i < iio_device_get_channels_count(device); i++)
		iio_channel_enable(iio_device_get_channel(device, i));

	struct iio_buffer *buffer = iio_device_create_buffer(device, 65536, false);

	if (!buffer)
		return 4;
	for (long left = atol(argv[2]); left > 0; left -= 65536)
		if (iio_buffer_refill(buffer) < 0)
			return 5;
	if (!strcmp(argv[3], "exit"))
		exit(0);
	if (!strcmp(argv[3], "_exit"))
		_exit(0);
	if (!strcmp(argv[3], "_Exit"))
		_Exit(0);
	if (!strcmp(argv[3], "signal")) {
		usleep(300000); /* three times the period of the reports */
		raise(SIGTERM);
	}
	return 0;
}
