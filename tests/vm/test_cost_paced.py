# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""A converter that produces samples at its own rate makes the program sleep before each block, which a stream at
full speed never does (test_cost.py). These tests count the instructions of the program itself for each block, in user
space and in the kernel, by the guest's clock. They compare them with a program that does the minimum
(tests/bench/enqueue_poll.c). They also count the system calls."""
import os
import pathlib
import re
import subprocess

import pytest
from conftest import ADC, DISK, iio_dir, sim

YARDSTICK = pathlib.Path(__file__).resolve().parents[2] / "build/tests/bench/enqueue-poll"
BLOCKS = 8
# Bytes of a block, and the blocks of a short and of a long stream. Their difference does not include the start and
# the end.
SIZES = {"64Ki": (64 << 10, 200, 1000), "1Mi": (1 << 20, 100, 400)}
RATE = 4_000_000  # samples of 8 bytes: blocks of 64 KiB come every 2 ms, and blocks of 1 MiB every 33 ms
# The ratio to the reference with each block's status. The command's other threads wake up once a second, which
# is a larger share of blocks that come more slowly.
LIMITS = {"64Ki": 1.3, "1Mi": 1.4}


@pytest.fixture(autouse=True, scope="module")
def paced():
    sim(pattern="stamp", check="none", rate=RATE)
    instructions_of(*stream(65536, 200))  # the first start of a program reads it from the disk
    yield
    sim(pattern="stamp", check="none")


def instructions_of(*words):
    """Returns the processor time of a command, in nanoseconds: one for each instruction."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return (usage.ru_utime + usage.ru_stime) * 1e9


def stream(size, turns):
    return ["iio-stream", "bench", f"iio:{ADC}", "path=dmabuf", "memory=heap:system", "null:", "--block-size", size,
            "--blocks", BLOCKS, "--bytes", size * turns, "--quiet"]


def yardstick(size, turns, *options):
    return [YARDSTICK, iio_dir(ADC).name, size, BLOCKS, turns, *options]


def per_block(command, name, *options):
    """Returns the instructions of `command` per block."""
    size, few, many = SIZES[name]
    short, long = (instructions_of(*command(size, turns, *options)) for turns in (few, many))
    return (long - short) / (many - few)


@pytest.mark.parametrize("name", SIZES)
def test_a_block_of_a_paced_converter_costs_little_more_than_the_kernels_work(name):
    ours = per_block(stream, name)
    least = per_block(yardstick, name)
    knowing = per_block(yardstick, name, "status")
    print(f"\n{name}: {ours:.0f} instructions per block; {least:.0f} at least: {ours / least:.2f}; "
          f"{knowing:.0f} with each block's status: {ours / knowing:.2f}")
    assert ours <= LIMITS[name] * knowing


@pytest.mark.parametrize("name", SIZES)
def test_a_block_of_a_paced_converter_takes_five_system_calls(name):
    """ENQUEUE, EXPORT_SYNC_FILE, poll, SYNC_IOC_FILE_INFO and close, on the source thread."""
    trace = DISK / "calls"
    size, _, turns = SIZES[name]
    subprocess.run(["strace", "-f", "-o", trace, *(str(word) for word in stream(size, turns))], check=True,
                   timeout=200, stdout=subprocess.DEVNULL)
    lines = trace.read_text().splitlines()
    source = [line.split()[0] for line in lines if "0x69, 0x94" in line][-1]
    switched = [n for n, line in enumerate(lines) if "buffer0/enable\", O_WRONLY" in line]
    calls = [line for line in lines[switched[0]:switched[-1]] if re.match(rf"{source} +\w+\(", line)]
    print(f"\n{name}: {len(calls) / turns:.2f} system calls per block")
    assert len(calls) <= 5.2 * turns
