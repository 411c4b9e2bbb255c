# SPDX-License-Identifier: MIT
"""The cost of `check=crc32c` in instructions per byte, which Valgrind counts inside crc32c()."""
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND
from tcp_peer import LONG, finished

BYTES = 16 << 20

pytestmark = pytest.mark.skipif(
    shutil.which("valgrind") is None or "sse4_2" not in pathlib.Path("/proc/cpuinfo").read_text(),
    reason="needs valgrind (script/install test) and a processor with the CRC instruction")


def test_a_checksum_costs_little_more_than_an_instruction_per_eight_bytes(start, port, tmp_path):
    sends = start(f"stream sim: rate=0 pattern=ramp tcp:127.0.0.1:{port} check=crc32c --block-size 1Mi --bytes {BYTES} --json {LONG}")
    receives = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
         "--toggle-collect=iio_stream::framing::crc32c(*", COMMAND, "stream", f"tcp:127.0.0.1:{port}", "wait=60s",
         "check=crc32c", "null:", "--block-size", "1Mi", "--json", *LONG.split()],
        check=True, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    finished(sends)
    assert json.loads(receives.stdout)["bytes"] == BYTES
    cost = int(re.search(r"Collected : (\d+)", receives.stderr)[1]) / BYTES
    print(f"{cost:.3f} instructions per byte, {cost * 2**30 / 1e6:.0f} M per GiB")
    assert 0.1 < cost <= 0.27
