# SPDX-License-Identifier: MIT
"""The overflow register, from a stream's start to its last sample, and registers that are not the overflow
register.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_register.py
"""
import json

import pytest
from conftest import ADC, DAC, DISK, finish, knob, run, sim, start, stream
from playing import RAMP, RAW, count, play, playback, ramp_file
from test_loss import COMMON, RATE, check_against_truth, reported
from waiting import until


@pytest.mark.parametrize("path, at", [("dmabuf", RATE // 12), ("dmabuf", RATE // 2), ("fileio", RATE // 2)])
def test_a_loss_in_less_than_a_second_is_found(path, at):
    sim(rate=RATE, fifo=4096, drop_at=at + 1, drop=123, drop_xflow=1)
    result = stream(f"iio:{ADC} path={path} verify:ramp --samples {RATE * 4 // 5} {COMMON}")
    assert check_against_truth(result) == 123
    certain, possible, _, _ = reported(result)
    if path == "fileio":  # its two blocks can also run dry, each time with a possible loss
        assert certain + possible >= 1
    else:
        assert (certain, possible) == (1, 0)
    assert "overflow-bit" in result.gaps["evidence"]


def test_a_loss_shortly_before_the_end_is_found():
    sim(rate=RATE, fifo=4096, drop_at=RATE * 8 // 5, drop=77, drop_xflow=1)
    result = stream(f"iio:{ADC} verify:ramp --samples {RATE * 2} {COMMON}")
    assert check_against_truth(result) == 77
    assert reported(result)[0] == 1


@pytest.mark.parametrize("at", [RATE // 3, RATE * 19 // 20])
def test_a_stream_with_on_gap_stop_never_succeeds_with_a_loss(at):
    """The register shows the loss late: for samples that are already in the file, or after all requested
    samples have arrived."""
    sim(rate=RATE, fifo=4096, pattern="ramp", drop_at=at, drop=99, drop_xflow=1)
    file = DISK / "stop.sigmf-meta"
    run("record", f"iio:{ADC}", file, "overwrite=on", "--on-gap", "stop", "--samples", str(RATE), *COMMON.split(),
        status=4)
    run("verify", "--pattern", "ramp", file)
    meta = json.loads(file.read_text())
    samples = meta["global"]["iio_stream:samples"]
    assert samples <= at or any("gap" in note["core:label"] and note["core:sample_start"] <= at <=
                                note["core:sample_start"] + note["core:sample_count"]
                                for note in meta["annotations"])


# The kernel never releases a block that is enqueued while the device disappears (docs/lab-findings.md).
@pytest.mark.leaves_dmabufs
def test_a_loss_that_an_unplugged_device_can_no_longer_report_is_possible():
    sim(rate=RATE, fifo=4096, pattern="ramp", drop_at=RATE // 2, drop=99, drop_xflow=1)
    file = DISK / "unplugged.sigmf-meta"
    process = start(f"record iio:{ADC} {file} overwrite=on --json {COMMON}")
    until(lambda: int(knob("produced")) > RATE * 3 // 4, "the loss")
    knob("unplug", 1)
    result = finish(process, 20)
    assert result.status == 3
    if result.json["samples"] > RATE // 2:
        certain, possible, _, lost_max = reported(result)
        assert certain + possible >= 1 and lost_max >= 99
        run("verify", "--pattern", "ramp", file)
    sim(rate=RATE)


def test_samples_after_the_last_requested_one_are_not_a_loss():
    sim(rate=RATE, fifo=4096)
    for samples in (1000, RATE // 3, RATE * 4 // 5):
        assert reported(stream(f"iio:{ADC} verify:ramp --samples {samples} {COMMON}")) == (0, 0, 0, 0)


def test_a_chips_own_registers_are_neither_used_nor_written():
    sim(rate=RATE, fifo=4096, xflow="spi", drop_at=RATE // 3, drop=55, drop_xflow=1)
    result = stream(f"iio:{ADC} null: --samples {RATE * 4 // 5} {COMMON}")
    assert result.gaps["evidence"] == ["starvation"] and reported(result)[0] == 0
    assert int(knob("spi_writes")) == 0


@pytest.mark.parametrize("path,size,blocks", [("dmabuf", "16Ki", 16), ("fileio", "256Ki", 4)])
def test_a_dac_whose_dma_stalls_with_blocks_queued_reports_an_underflow(path, size, blocks):
    sim(rate=0, dac_rate=RATE, fifo=4096)
    ramp_file(RAMP, samples=RATE * 5 // 4)
    words = f"{RAMP} {RAW} iio:{DAC} path={path} --block-size {size} --blocks {blocks}"
    assert playback(play(words))["underflows"] == count("underflows") == 0
    knob("stall_at", RATE // 2, device=DAC)
    knob("stall_ms", 100, device=DAC)
    result = play(words)
    assert count("underflows") >= 1
    assert 1 <= playback(result)["underflows"] <= count("underflows") + 1
