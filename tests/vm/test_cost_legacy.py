# SPDX-License-Identifier: MIT
# guest: --icount --buffers legacy --disk 3Gi
"""The cost of a GiB through legacy blocks: the program's own instructions, user space and kernel, counted by
the guest's clock. It is compared with Debian's iio_readdev, which uses the same blocks. The cost of a short
run is subtracted from that of a long one, which excludes the start."""
import resource
import subprocess

from conftest import ADC, DISK, sim

GIB = 1 << 30
SAMPLE = 8
# Million instructions per GiB. The limit to null is 1.15 times the cost of a minimal C program, which took
# 20. The measured costs are 4 to 11 to null, 13 to 15 with the overflow register, and 125 to 137 to a file.
MOST_TO_NULL, MOST_TO_FILE = 23, 160
SIM = {"pattern": "stamp", "check": "none"}


def instructions(words, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True, timeout=600, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def per_gib(command, short, long):
    return (instructions(command(long)) - instructions(command(short))) * GIB / (long - short)


def to_null(size):
    return ["iio-stream", "bench", f"iio:{ADC}", "null:", "--block-size", "1Mi", "--blocks", "16", "--bytes", size, "--quiet"]


def to_file(size):
    return ["iio-stream", "record", f"iio:{ADC}", DISK / "cost.ci16", "overwrite=on", "--block-size", "1Mi", "--blocks", "16",
            "--bytes", size, "--quiet"]


def readdev(size):
    return ["iio_readdev", "-u", "local:", "-b", (1 << 20) // SAMPLE, "-s", size // SAMPLE, ADC]


def test_a_block_in_place_costs_no_more_than_with_libiio():
    sim(**SIM, xflow="none")
    ours, libiio = per_gib(to_null, GIB, 5 * GIB), per_gib(readdev, GIB, 5 * GIB)
    print(f"\nto null: {ours:.1f} M instructions per GiB, iio_readdev {libiio:.1f}")
    assert ours <= MOST_TO_NULL
    assert ours <= 1.1 * libiio  # runs in one boot differ by a few percent


def test_reading_the_overflow_register_before_each_block_costs_one_system_call():
    """iio_readdev does not read the register, and does not detect samples that were lost while the device had
    blocks."""
    sim(**SIM, xflow="adi")
    ours, libiio = per_gib(to_null, GIB, 5 * GIB), per_gib(readdev, GIB, 5 * GIB)
    print(f"\nto null with the register: {ours:.1f} M instructions per GiB, iio_readdev {libiio:.1f}")
    assert ours <= MOST_TO_NULL
    assert ours <= 1.25 * libiio


def test_a_file_costs_one_copy():
    sim(**SIM, xflow="adi")
    ours = per_gib(to_file, GIB // 2, 2 * GIB)
    print(f"\nto ext4: {ours:.1f} M instructions per GiB")
    assert ours <= MOST_TO_FILE
