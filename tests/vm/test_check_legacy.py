# SPDX-License-Identifier: MIT
"""`iio-stream check` on kernels with legacy blocks, where any read() of `broken` ends the guest.

    script/vm --disk 1Gi --buffers legacy:broken -- /usr/bin/python3 -m pytest -q tests/vm/test_check_legacy.py
"""
# guest: --buffers legacy:broken --disk 2Gi
import json

import pytest
from conftest import DISK, run, sim


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("parameters", [{}, {"rate": 1_000_000}, {"board": "pluto"}], ids=["simulator", "at a rate", "pluto"])
def test_nothing_fails_and_nothing_is_read(parameters):
    sim(**parameters)
    report = json.loads(run(f"check --transmit --json --scratch {DISK}", timeout=600).out)
    assert [one for one in report["checks"] if one["outcome"] == "fail"] == []
    ways = {one["variant"]: one for one in report["checks"] if one["name"] == "capture"}
    assert ways["mmap"]["outcome"] == "pass"
    assert ways["fileio"]["outcome"] == "skip" and "dangerous on this kernel" in ways["fileio"]["text"]
