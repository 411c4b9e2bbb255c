# SPDX-License-Identifier: MIT
"""Losses that only the overflow register shows, among the first samples, before a pause, and at the end. No
other losses may be reported.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_overflow.py
"""
import itertools

import counts
import pytest
from conftest import ADC, finish, interrupt, knob, sim, start, stream, truth
from test_loss import BLOCK, COMMON, RATE, check_against_truth, reported
from waiting import until

ADC2 = "iios-sim-adc2"
XFLOWS, PATHS = ["mainline", "adi"], ["dmabuf", "fileio"]
# With fileio, the program tests the order of the kernel's blocks first. The loss must happen after that.
AT_FIRST = [("dmabuf", 1), ("dmabuf", 100), ("dmabuf", RATE // 1000), ("dmabuf", RATE // 50), ("fileio", RATE // 20)]


# Every third combination covers each path, place, size and register.
@pytest.mark.parametrize("first, lost, xflow", counts.some(
    list(itertools.product(AT_FIRST, [9, RATE // 10], XFLOWS)), 3))
def test_a_loss_among_the_first_samples_is_reported(first, lost, xflow):
    path, at = first
    # The FIFO, here and below, prevents all losses except the scripted drop.
    sim(rate=RATE, fifo=RATE, xflow=xflow, drop_at=at, drop=lost, drop_xflow=1)
    for samples in (at + 1500, RATE):
        knob("drop_at", at)
        result = stream(f"iio:{ADC} path={path} verify:ramp --samples {samples} {COMMON}")
        assert check_against_truth(result) == lost
        certain, possible, _, _ = reported(result)
        assert certain + possible >= 1


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("xflow", XFLOWS)
def test_samples_lost_before_the_stream_are_not_reported(xflow, path):
    sim(rate=RATE, fifo=RATE, xflow=xflow, drop_at=1000, drop=9, drop_xflow=1)
    killed = start(f"stream iio:{ADC} counter=header:8/4Ki null: {COMMON}")  # it does not touch the register
    until(lambda: truth()[1] == 9, "the loss")
    killed.kill()
    killed.communicate()
    assert knob("xflow") == "4"
    assert reported(stream(f"iio:{ADC} path={path} verify:ramp --samples {RATE} {COMMON}")) == (0, 0, 0, 0)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("xflow", XFLOWS)
def test_a_healthy_stream_has_no_gap_and_no_possible_gap(xflow, path):
    sim(rate=RATE, fifo=RATE, xflow=xflow)
    for samples in (5000, RATE // 10, RATE):
        result = stream(f"iio:{ADC} path={path} verify:ramp --samples {samples} {COMMON}")
        assert reported(result) == (0, 0, 0, 0)
        assert result.gaps["evidence"] == ["overflow-bit", "starvation"]


def test_a_stall_that_the_fifo_bridges_is_not_a_loss():
    sim(rate=500_000, stall_ms=5)
    for _ in range(8):
        knob("stall_at", 9359)
        result = stream(f"iio:{ADC} verify:ramp --samples 100k --block-size 256Ki")
        assert truth() == ([], 0) and reported(result) == (0, 0, 0, 0)


@pytest.mark.parametrize("xflow", XFLOWS)
@pytest.mark.parametrize("before", [RATE // 5, RATE // 50])
def test_a_loss_shortly_before_a_pause_is_reported_in_its_place(before, xflow):
    """The FIFO bridges the pause, so only the dropped samples are lost."""
    paused = RATE  # number of samples when the blocks are used up
    sim(rate=RATE, fifo=RATE, xflow=xflow, drop_at=paused - before, drop=500, drop_xflow=1)
    blocks = 16 * BLOCK // 8
    result = stream(f"iio:{ADC} verify:ramp null: stall_at={paused - blocks} stall_for=300ms --samples {2 * RATE}"
                    f" --block-size {BLOCK} --blocks 16")
    assert check_against_truth(result) == 500
    assert reported(result)[0] == 1


@pytest.mark.parametrize("path", PATHS)
def test_a_loss_in_the_last_requested_block_is_reported(path):
    sim(rate=RATE, fifo=RATE, drop_at=RATE - 100, drop=50, drop_xflow=1)
    result = stream(f"iio:{ADC} path={path} verify:ramp --samples {RATE} {COMMON}")
    assert check_against_truth(result) == 50


@pytest.mark.parametrize("path", PATHS)
def test_a_loss_just_before_a_stop_is_reported(path):
    for at in (RATE // 2, RATE * 3 // 4):
        sim(rate=RATE, fifo=RATE, drop_at=at, drop=50, drop_xflow=1)
        streaming = start(f"stream iio:{ADC} path={path} verify:ramp --json {COMMON}")
        until(lambda: truth()[1] == 50, "the loss")
        interrupt(streaming)
        result = finish(streaming)
        assert result.status == 0
        check_against_truth(result)


@pytest.mark.parametrize("delay", [0, 20])
@pytest.mark.parametrize("path", PATHS)
def test_a_loss_after_the_last_requested_sample_is_never_certain(path, delay):
    """`delay` is the register's delay in milliseconds. The device still runs while the register is read, and
    the bit rises in that time."""
    wanted = RATE * 4 // 5
    sim(rate=RATE, fifo=RATE, xflow_delay_ms=delay)
    for name, value in (("drop", 500), ("drop_xflow", 1)):
        knob(name, value)
    for after in (0, RATE // 200):
        knob("drop_at", wanted + after)
        result = stream(f"iio:{ADC} path={path} verify:ramp --samples {wanted} {COMMON}")
        assert delay == 0 or truth()[1] == 500
        assert check_against_truth(result) == 0
        certain, _, lost_min, _ = reported(result)
        assert (certain, lost_min) == (0, 0)


@pytest.mark.parametrize("path", PATHS)
def test_a_loss_shortly_before_the_last_requested_sample_is_certain(path):
    wanted = RATE * 4 // 5
    sim(rate=RATE, fifo=RATE, drop_at=wanted - RATE // 5, drop=500, drop_xflow=1)
    result = stream(f"iio:{ADC} path={path} verify:ramp --samples {wanted} {COMMON}")
    assert check_against_truth(result) == 500
    assert reported(result)[0] == 1


def test_each_of_two_converters_reports_its_own_losses():
    sim(adcs=2, rate=RATE, fifo=RATE)
    for drops in [{ADC: 100}, {ADC2: 100}, {ADC: RATE // 2, ADC2: 100}, {}]:
        for device in (ADC, ADC2):
            knob("drop", 77, device)
            knob("drop_xflow", 1, device)
            knob("drop_at", drops.get(device, "off"), device)
        result = stream(f"iio:{ADC} verify:ramp --and iio:{ADC2} verify:ramp --samples {RATE} {COMMON}")
        for device, run in zip((ADC, ADC2), result.json["runs"]):
            lost = truth(device)[1]
            assert lost == (77 if device in drops else 0)
            assert run["gaps"]["lost_min"] <= lost <= run["gaps"]["lost_max"]
            assert (run["gaps"]["certain"] + run["gaps"]["possible"] > 0) == (device in drops)
            assert run["sinks"][0]["report"]["unreported"] == 0


def test_samples_lost_before_a_restart_are_not_reported_as_a_loss():
    """Like the test in test_converter.py, with a core whose bit stays clear while it is off."""
    sim(rate=RATE, fifo=4096, refuse_at=0, refuse_count=2, refuse_most=6)
    result = stream(f"iio:{ADC} path=fileio verify:ramp --samples {RATE} {COMMON} --timeout 1s")
    assert knob("refused") == "6" and truth() == ([], 0)
    assert reported(result) == (0, 0, 0, 0) and "overflow-bit" in result.gaps["evidence"]


def test_a_slow_register_covers_the_first_samples_too():
    sim(rate=RATE, fifo=RATE, xflow_delay_ms=40)
    assert reported(stream(f"iio:{ADC} verify:ramp --samples {RATE} {COMMON}")) == (0, 0, 0, 0)
    sim(rate=RATE, fifo=RATE, xflow_delay_ms=40, drop_at=100, drop=500, drop_xflow=1)
    result = stream(f"iio:{ADC} verify:ramp --samples {RATE} {COMMON}")
    assert check_against_truth(result) == 500
