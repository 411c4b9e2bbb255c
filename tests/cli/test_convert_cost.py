# SPDX-License-Identifier: MIT
"""The cost of a conversion in instructions per I/Q pair, which Valgrind counts inside Converter::convert()."""
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND

PAIRS = 1 << 18
AVX2 = "avx2" in pathlib.Path("/proc/cpuinfo").read_text().split()

pytestmark = pytest.mark.skipif(shutil.which("valgrind") is None or not AVX2,
                                reason="needs valgrind (script/install test) and a processor with AVX2")


def instructions_per_pair(tmp_path, source, target):
    width = {"8": 2, "16": 4, "32": 8, "24": 8, "12": 4}[re.search(r"(8|16|32|24|12)", source)[1]]
    (tmp_path / "a.raw").write_bytes(bytes(range(256)) * (PAIRS * width // 256))
    format = f"{source},{source}" if ":" in source else source
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
         "--toggle-collect=iio_stream::Converter::convert(*", COMMAND, "stream", "a.raw", f"format={format}",
         f"convert={target}", "null:", "--quiet"], check=True, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]) / PAIRS


@pytest.mark.parametrize("source,target", [
    ("ci16_le", "cf32_le"), ("ci16_be", "cf32_le"), ("ci8", "cf32_le"), ("cu8", "cf32_le"), ("ci32_le", "cf32_le"),
    ("le:s24/32>>8", "rf32_le"), ("le:s12/16>>4", "rf32_le"), ("cf32_le", "ci16_le"), ("ci16_le", "ci8"),
    ("ci16_be", "ci16_le"), ("ci16_le", "ci16_be")])
def test_a_pair_costs_at_most_four_instructions(tmp_path, source, target):
    cost = instructions_per_pair(tmp_path, source, target)
    print(f"{source} to {target}: {cost:.2f} instructions per pair")
    assert 0.1 < cost <= 4
