# SPDX-License-Identifier: MIT
"""`iio-stream check` on kernels with legacy blocks. With `broken`, any read() panics the guest.

    script/vm --disk 1Gi --buffers legacy:broken -- /usr/bin/python3 -m pytest -q tests/vm/test_check_legacy.py
"""
# guest: --buffers legacy:broken --disk 2Gi
import json

import pytest
from conftest import ADC, DISK, run, sim


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("parameters", [{}, {"rate": 1_000_000}, {"board": "pluto"}], ids=["simulator", "at a rate", "pluto"])
def test_no_check_fails_and_none_calls_read(parameters):
    sim(**parameters)
    report = json.loads(run(f"check --transmit --json --scratch {DISK}", timeout=600).out)
    assert [one for one in report["checks"] if one["outcome"] == "fail"] == []
    ways = {one["variant"]: one for one in report["checks"] if one["name"] == "capture"}
    assert ways["mmap"]["outcome"] == "pass"
    assert ways["fileio"]["outcome"] == "skip" and "dangerous on this kernel" in ways["fileio"]["text"]
    for name in ("short-blocks", "deadlines"):
        assert {one["outcome"] for one in report["checks"] if one["name"] == name and one["variant"] == "mmap"} == {"pass"}


@pytest.mark.parametrize("sg, reported", [(0, "258048"), (1, "it as complete")])
def test_a_short_block_is_found(sg, reported):
    """Only a core without scatter-gather reports the transferred length."""
    sim(sg=sg, short_at=3, short_bytes=4096)
    report = json.loads(run(f"check {ADC} --only short-blocks --json --scratch {DISK}", timeout=600, status=1).out)
    failures = [one for one in report["checks"] if one["outcome"] == "fail"]
    assert [one["variant"] for one in failures] == ["mmap"]
    assert failures[0]["text"] == f"block 3 is short: the DMA filled 258048 of 262144 bytes, and reported {reported}"
