# SPDX-License-Identifier: MIT
"""The cost of a conversion in instructions per I/Q pair, which Valgrind counts inside the functions of Converter."""
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, COMMAND

PAIRS = 1 << 18
AVX2 = "avx2" in pathlib.Path("/proc/cpuinfo").read_text().split()

pytestmark = pytest.mark.skipif(shutil.which("valgrind") is None or not AVX2,
                                reason="needs valgrind (script/install test) and a processor with AVX2")


def instructions(tmp_path, function, *command):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
         f"--toggle-collect=iio_stream::Converter::{function}(*", *command],
        check=True, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]), done.stdout


def instructions_per_pair(tmp_path, source, target):
    width = {"8": 2, "16": 4, "32": 8, "24": 8, "12": 4}[re.search(r"(8|16|32|24|12)", source)[1]]
    (tmp_path / "a.raw").write_bytes(bytes(range(256)) * (PAIRS * width // 256))
    format = f"{source},{source}" if ":" in source else source
    count, _ = instructions(tmp_path, "convert", COMMAND, "stream", "a.raw", f"format={format}",
                            f"convert={target}", "null:", "--quiet")
    return count / PAIRS


@pytest.mark.parametrize("source,target", [
    ("ci16_le", "cf32_le"), ("ci16_be", "cf32_le"), ("ci8", "cf32_le"), ("cu8", "cf32_le"), ("ci32_le", "cf32_le"),
    ("le:s24/32>>8", "rf32_le"), ("le:s12/16>>4", "rf32_le"), ("cf32_le", "ci16_le"), ("ci16_le", "ci8"),
    ("ci16_be", "ci16_le"), ("ci16_le", "ci16_be")])
def test_a_pair_costs_at_most_four_instructions(tmp_path, source, target):
    cost = instructions_per_pair(tmp_path, source, target)
    print(f"{source} to {target}: {cost:.2f} instructions per pair")
    assert 0.1 < cost <= 4


S16, S12, S12_HIGH = "le:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4"


# A sample has `channels` channels, of which `count` are converted, beginning with the channel `first`.
@pytest.mark.parametrize("function,scan,channels,first,count,item,buffers,limit", [
    # GNU Radio's source: a buffer for each pair.
    ("deinterleave", S16, 4, 0, 4, "rf32_le", 2, 3), ("deinterleave", S16, 8, 0, 8, "rf32_le", 4, 3),
    ("deinterleave", S16, 16, 0, 16, "rf32_le", 8, 3.1), ("deinterleave", S16, 16, 4, 4, "rf32_le", 2, 3.1),
    ("deinterleave", S12, 4, 0, 4, "rf32_le", 2, 3), ("deinterleave", S12_HIGH, 4, 0, 4, "rf32_le", 2, 3.5),
    ("deinterleave", S16, 4, 0, 4, "ri16_le", 2, 1.1), ("deinterleave", S12, 4, 0, 4, "ri16_le", 2, 2),
    # GNU Radio's sink.
    ("interleave", S16, 4, 0, 4, "rf32_le", 2, 5), ("interleave", S16, 8, 0, 8, "rf32_le", 4, 5.2),
    # iq(): all pairs in one array.
    ("convert", S16, 4, 0, 4, "rf32_le", 1, 1.8), ("convert", S16, 8, 0, 8, "rf32_le", 1, 1.8),
    ("convert", S12, 4, 0, 4, "rf32_le", 1, 2), ("convert", S12, 4, 0, 4, "ri16_le", 1, 1),
    # One and two pairs of a sample of 32 bytes.
    ("convert", S16, 16, 2, 2, "rf32_le", 1, 4.5), ("convert", S16, 16, 4, 4, "rf32_le", 1, 3.5)])
def test_pairs_of_larger_samples_are_converted_at_once(tmp_path, function, scan, channels, first, count, item, buffers,
                                                       limit):
    found, samples = instructions(tmp_path, function, BUILD / "tests/bench/conversion", function,
                                  ",".join([scan] * channels), str(first), str(count), item, str(buffers))
    cost = found / int(samples) / (count / 2)
    print(f"{function}: {count} of {channels} channels {scan}, {item}: {cost:.2f} instructions per pair")
    assert 0.1 < cost <= limit
