# SPDX-License-Identifier: MIT
"""Kernels before 5.11 have one file for a device and its only buffer. The tests simulate this by refusing
IIO_BUFFER_GET_FD.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_legacy_node.py

Linux 6.12, 2048 MB, whose device files still read and write the first buffer.
"""
import pathlib

import pytest
from conftest import ADC, DAC, finish, knob, sim, start

FORBID = pathlib.Path(__file__).resolve().parents[1] / "cli" / "forbid.py"
GET_FD = "ioctl:0xc0046991"


@pytest.fixture(autouse=True)
def fresh():
    sim()


def without_buffer_files(words, error="ENOTTY", status=0):
    process = start(FORBID, error, GET_FD, "/usr/bin/env", "iio-stream", words, command="/usr/bin/python3")
    result = finish(process)
    assert result.status == status, result.err
    return result


@pytest.mark.parametrize("error", ["ENOTTY", "EINVAL"])
def test_a_capture_reads_the_devices_own_file(error):
    result = without_buffer_files(f"stream iio:{ADC} verify:ramp --samples 500000 --json", error)
    hop = result.json["route"][0]
    assert hop["mechanism"] == "fileio" and "ENOTTY" in hop["reason"]
    report = result.json["sinks"][0]["report"]
    assert report["mismatches"] == report["gaps"] == 0 and result.json["samples"] == 500_000


def test_playback_writes_the_devices_own_file():
    without_buffer_files(f"stream sim: pattern=ramp channels=4 iio:{DAC} --samples 100000")
    assert int(knob("delivered", device=DAC)) >= 100_000


def test_a_second_buffer_is_refused():
    result = without_buffer_files(f"stream iio:{ADC} buffer=1 null: --samples 9", status=3)
    assert "buffer 1" in result.err


def test_enodev_is_an_error_if_there_are_buffer_folders():
    without_buffer_files(f"stream iio:{ADC} null: --samples 9", "ENODEV", status=3)
