# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""The cost of a GiB for Debian's iio_readdev, alone and with `iio-stream run`, including the start: user
space and kernel together, in instructions."""
import resource
import subprocess

import pytest
from conftest import ADC

RUN = ["iio-stream", "run", "--"]
SAMPLE = 8
GIB = 1 << 30
MOST_FOR_A_START = 22  # M instructions


READ = f"""
import sys
import iio
device = iio.Context("local:").find_device("{ADC}")
for channel in device.channels:
    channel.enabled = True
buffer = iio.Buffer(device, 65536)
for _ in range(int(sys.argv[1])):
    buffer.refill()
    device.channels[0].read(buffer)
"""


def instructions(words):
    """Returns the instructions of a command in millions."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def readdev(by, buffer, size):
    return instructions([*by, "iio_readdev", "-u", "local:", "-T", "10000", "-b", str(buffer // SAMPLE), "-s",
                         str(size // SAMPLE), ADC])


@pytest.mark.parametrize("buffer,size,most", [(1 << 20, 2 << 30, 1 / 3), (64 << 10, 512 << 20, 1), (4 << 10, 128 << 20, 1)])
def test_iio_readdev_costs_less_with_iio_stream_run(buffer, size, most):
    alone, ours = (readdev(by, buffer, size) * GIB / size for by in ([], RUN))
    print(f"\n{size >> 20} MiB in buffers of {buffer >> 10} KiB: {alone:.0f} alone, {ours:.0f} by iio-stream run")
    assert ours <= alone * most


@pytest.mark.parametrize("buffer", [1 << 20, 64 << 10, 4 << 10])
def test_the_cost_of_a_start_is_limited(buffer):
    """Reads one buffer. The start loads two programs and our libraries, reads a second context, and allocates
    blocks for 10 ms of samples."""
    readdev(RUN, buffer, buffer)  # the first read of a file comes from the host
    alone, ours = (readdev(by, buffer, buffer) for by in ([], RUN))
    print(f"\none buffer of {buffer >> 10} KiB: {alone:.0f} alone, {ours:.0f} by iio-stream run")
    assert ours - alone < MOST_FOR_A_START


def test_reading_a_channels_values_costs_no_more():
    """libiio converts each value, as it does alone."""
    def each(by):
        few, many = (instructions([*by, "/usr/bin/python3", "-B", "-c", READ, str(buffers)]) for buffers in (4, 20))
        return (many - few) / 16
    each([])
    alone, ours = each([]), each(RUN)
    print(f"\n65536 values: {alone:.1f} alone, {ours:.1f} by iio-stream run")
    assert ours < alone * 1.1
