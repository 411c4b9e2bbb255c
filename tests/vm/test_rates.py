# SPDX-License-Identifier: MIT
"""The defaults work from 1 kS/s to 100 MS/s. Losses of an emulator that cannot keep up are reported.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_rates.py

Linux 6.12, 2048 MB.
"""
import pytest
from conftest import ADC, sim, stream, truth


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
@pytest.mark.parametrize("rate,seconds", [(1000, 2), (1_000_000, 1), (100_000_000, 1)])
def test_the_defaults_run_and_account_for_every_sample(rate, seconds, path):
    sim(rate=rate, fifo=65536)
    result = stream(f"iio:{ADC} path={path} verify:ramp --duration {seconds}s", timeout=60)
    assert result.json["ended"] == "duration" and result.json["sample_rate"] == rate
    jumps, lost = truth()
    report = result.json["sinks"][0]["report"]
    assert report["unreported"] == 0 and report["mismatches"] == 0
    assert report["lost"] <= lost and result.gaps["lost_min"] <= report["lost"] <= result.gaps["lost_max"]
    assert result.json["source"]["produced_samples"] == result.json["samples"] + result.gaps["lost_min"]
    if not jumps and rate < 100_000_000:  # an emulator cannot produce that many samples in a second
        assert result.json["samples"] == rate * seconds
    # All blocks together hold 250 ms, within the limits of their number.
    block_seconds = result.json["block_bytes"] / 8 / rate
    assert block_seconds <= 0.3 and 8 <= result.json["block_count"] <= 64
