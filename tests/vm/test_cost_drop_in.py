# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""What a GiB costs Debian's iio_readdev, alone and by `iio-stream run`, a start included: user space and kernel
together, in instructions."""
import resource
import subprocess

import pytest
from conftest import ADC

SAMPLE = 8
GIB = 1 << 30


def cost(by, buffer, size):
    """M instructions per GiB."""
    words = [*by, "iio_readdev", "-u", "local:", "-T", "10000", "-b", str(buffer // SAMPLE), "-s", str(size // SAMPLE), ADC]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3 * GIB / size


@pytest.mark.parametrize("buffer,size,most", [(1 << 20, 2 << 30, 1 / 3), (64 << 10, 512 << 20, 1), (4 << 10, 128 << 20, 1)])
def test_iio_readdev_costs_less(buffer, size, most):
    alone, ours = cost([], buffer, size), cost(["iio-stream", "run", "--"], buffer, size)
    print(f"\n{size >> 20} MiB in buffers of {buffer >> 10} KiB: {alone:.0f} alone, {ours:.0f} by iio-stream run")
    assert ours <= alone * most
