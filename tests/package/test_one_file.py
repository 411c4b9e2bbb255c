# SPDX-License-Identifier: MIT
"""script/cross --one-file builds one static program for a board without the libraries. QEMU emulates its
processor."""
import json
import pathlib
import re
import struct
import sys

import pytest
from test_package import ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

pytestmark = pytest.mark.skipif(not counts.FULL, reason="compiles for minutes: runs with --full")

LARGEST = 2_600_000


@pytest.fixture(scope="module")
def program():
    run(ROOT / "script" / "cross", "--one-file", "armhf")
    return ROOT / "build-armhf-one-file" / "iio-stream"


def call(program, *words):
    return run("qemu-arm-static", program, *words)


def test_the_program_is_small_and_needs_no_library(program):
    assert program.stat().st_size <= LARGEST
    headers = run("readelf", "--file-header", "--program-headers", program)
    assert re.search(r"Machine: +ARM", headers)
    assert "INTERP" not in headers and "DYNAMIC" not in headers


def test_the_program_records_the_samples_of_the_simulator(program, tmp_path):
    summary = json.loads(call(program, "record", "sim:?pattern=ramp&rate=1M", tmp_path / "a.sigmf-meta", "--samples", "100000",
                              "--json"))
    assert (summary["samples"], summary["gaps"]["certain"], summary["gaps"]["possible"]) == (100_000, 0, 0)
    data = (tmp_path / "a.sigmf-data").read_bytes()
    assert data == struct.pack("<50000Q", *range(50_000))  # the ramp: 64-bit words with two samples each
    call(program, "verify", "--pattern", "ramp", tmp_path / "a.sigmf-meta")


def test_the_program_streams_and_benchmarks(program, tmp_path):
    call(program, "stream", "sim:?pattern=ramp&rate=1M", f"file:{tmp_path / 'b.ci16'}", "--samples", "100000")
    assert (tmp_path / "b.ci16").stat().st_size == 400_000
    assert "sim:" in call(program, "bench", "sim:", "null:", "--duration", "200ms")


def test_doctor_says_which_parts_are_left_out(program):
    checks = json.loads(call(program, "doctor", "--json"))["checks"]
    said = {check["name"]: check["detail"] for check in checks}
    assert [said[part].startswith("built without") for part in ("libiio", "usb:", "zmq:")] == [True] * 3
