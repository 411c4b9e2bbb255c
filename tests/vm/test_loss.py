# SPDX-License-Identifier: MIT
"""Losses: every true loss is inside a reported interval, no false loss is reported, and the totals are
correct.

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_loss.py
"""
import itertools

import counts
import pytest
from conftest import ADC, knob, sim, stream, truth

RATE = 250_000              # slow enough for an emulator on a busy machine
BLOCK = 16 << 10            # bytes: 2048 samples of four 16-bit channels, 8 ms
BLOCK_SAMPLES = BLOCK // 8
COMMON = f"--block-size {BLOCK} --blocks 32"  # 262 ms of samples
STALL = "stall_at=50000 stall_for=800ms"


def reported(result):
    gaps = result.gaps
    return gaps["certain"], gaps["possible"], gaps["lost_min"], gaps["lost_max"]


def truth_within(result):
    """Returns the losses before the last delivered sample, and their total. The device continued for a while
    after it."""
    jumps = [jump for jump in truth()[0] if jump[0] < result.json["samples"]]
    return jumps, sum(lost for _, lost in jumps)


def check_against_truth(result):
    """Checks a result against the simulator's losses. `verify:` compares the jumps that it finds with the
    intervals of the blocks, and fails if they differ."""
    jumps, lost = truth_within(result)
    report = result.json["sinks"][0]["report"]
    assert report["unreported"] == 0 and report["mismatches"] == 0
    assert report["gaps"] == len(jumps) and report["lost"] == lost
    assert result.gaps["lost_min"] <= lost <= result.gaps["lost_max"]
    sinks = result.json["sinks"]
    assert all(s["delivered_samples"] + s["dropped_samples"] == result.json["samples"] for s in sinks)
    assert result.json["source"]["produced_samples"] == result.json["samples"] + result.gaps["lost_min"]
    return lost


@pytest.mark.parametrize("xflow,fifo", itertools.product(["mainline", "adi", "none"],
                                                         [0, 4096, 2 * BLOCK_SAMPLES]))
def test_a_long_stall_is_reported_as_a_gap_that_contains_the_true_loss(xflow, fifo):
    sim(rate=RATE, fifo=fifo, xflow=xflow)
    # A stall of 800 ms starves the device for the time that the blocks do not bridge.
    result = stream(f"iio:{ADC} verify:ramp null: {STALL} --duration 1500ms {COMMON}")
    lost = check_against_truth(result)
    assert lost > RATE * 0.4
    jumps, _ = truth()
    certain, possible, lost_min, lost_max = reported(result)
    assert lost_max < 2 * lost + len(jumps) * RATE // 10
    if xflow == "none":
        assert certain == 0 and possible >= len(jumps) and lost_min == 0
        assert result.gaps["evidence"] == ["starvation"]
    else:
        assert 1 <= certain <= len(jumps) and lost_min >= 1
        assert result.gaps["evidence"] == ["overflow-bit", "starvation"]


def test_a_stall_loses_no_samples_while_blocks_are_free():
    sim(rate=RATE, fifo=0)
    # 64 blocks are 524 ms. They bridge a stall of 250 ms, with or without a FIFO.
    result = stream(f"iio:{ADC} verify:ramp null: stall_at=50000 stall_for=250ms --duration 1s "
                    f"--block-size {BLOCK} --blocks 64")
    assert check_against_truth(result) == 0
    assert reported(result) == (0, 0, 0, 0)
    assert result.json["sinks"][1]["lag_high_water"] > 20


def test_nothing_is_lost_if_all_sinks_block_while_blocks_are_free():
    sim(rate=RATE, fifo=0)
    result = stream(f"iio:{ADC} null: stall_at=50000 stall_for=500ms null: stall_at=50000 stall_for=500ms "
                    f"verify:ramp --samples {RATE} --block-size {2 * BLOCK} --blocks 64")
    assert reported(result) == (0, 0, 0, 0)


def test_stalls_shorter_than_the_fifo_report_no_certain_gap():
    short = (f"iio:{ADC} verify:ramp null: stall_at=10000 stall_for=100ms --duration 250ms "
             f"--block-size {BLOCK} --blocks 4")
    sim(rate=RATE, fifo=200_000, xflow="mainline")
    for _ in range(counts.SHORT_STALLS):
        result = stream(short)
        assert truth()[1] == 0
        assert reported(result)[0] == 0 and reported(result)[2] == 0
    sim(rate=RATE, fifo=200_000, xflow="none")
    result = stream(short)
    assert reported(result)[0] == 0 and reported(result)[1] >= 1


@pytest.mark.parametrize("width", [32, 64])
def test_a_counter_channel_makes_every_loss_exact(width):
    sim(rate=RATE, fifo=4096, counter=width, pattern="lanes", drop_at=33_333, drop=77, drop_every=50_001)
    result = stream(f"iio:{ADC} counter=channel:count0 verify:lanes null: {STALL} --duration 1500ms "
                    f"--block-size 24Ki --blocks 32")
    jumps, lost = truth_within(result)
    report = result.json["sinks"][0]["report"]
    assert report["unreported"] == 0 and report["mismatches"] == 0
    assert len(jumps) > 3
    assert reported(result) == (len(jumps), 0, lost, lost)
    assert report["lost"] == lost


@pytest.mark.parametrize("pattern, sink", [("ramp", "verify:ramp"), ("stamp", "null:")])
def test_a_header_in_each_frame_makes_every_loss_exact(pattern, sink):
    """The pattern `stamp` does not change the memory between its headers, so that memory contains headers of
    earlier rounds."""
    sim(rate=RATE, fifo=4096, pattern=pattern, drop_at=33_333, drop=77, drop_every=50_001)
    result = stream(f"iio:{ADC} counter=header:8/4Ki {sink} null: {STALL} --duration 1500ms "
                    f"--block-size 24Ki --blocks 32")
    jumps, lost = truth_within(result)
    assert len(jumps) > 3
    assert reported(result) == (len(jumps), 0, lost, lost)
    if pattern == "ramp":
        assert result.json["sinks"][0]["report"]["unreported"] == 0


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_after_a_possible_wrap_the_counter_gives_the_minimum_and_the_clock_the_maximum(path):
    turn = 65536  # number of scans after which the low two bytes of the ramp's words repeat
    sim(rate=RATE, drop_at=100_000, drop=2 * turn + 18_928)
    result = stream(f"iio:{ADC} path={path} counter=header:2/4Ki null: --duration 1500ms --block-size 24Ki "
                    "--blocks 32")
    jumps, lost = truth_within(result)
    certain, possible, lost_min, lost_max = reported(result)
    assert (len(jumps), certain, possible) == (1, 1, 0) and lost > 2 * turn
    assert lost_min == lost % turn and (lost_max - lost) % turn == 0
    assert lost <= lost_max <= lost + turn


def test_a_loss_that_a_counter_does_not_show_is_reported_by_the_overflow_register():
    turn = 65536
    sim(rate=RATE, drop_at=100_000, drop=2 * turn, drop_xflow=1)
    result = stream(f"iio:{ADC} counter=header:2/4Ki null: --duration 1500ms --block-size 24Ki --blocks 32")
    jumps, lost = truth_within(result)
    certain, possible, lost_min, lost_max = reported(result)
    assert (len(jumps), lost, certain, possible) == (1, 2 * turn, 1, 0)
    assert lost_min == turn and lost_max % turn == 0 and lost <= lost_max
    assert result.gaps["evidence"] == ["counter", "overflow-bit", "starvation"]


def test_a_loss_that_a_counter_does_not_show_is_possible_if_it_delays_all_blocks():
    turn = 65536
    sim(rate=RATE, xflow="none", drop_at=4 * RATE, drop=turn)
    result = stream(f"iio:{ADC} counter=header:2/4Ki null: --duration 8s --block-size 24Ki --blocks 32")
    jumps, lost = truth_within(result)
    assert (len(jumps), lost) == (1, turn)
    assert reported(result) == (0, 1, 0, turn)


def test_a_pause_too_short_for_a_counter_to_wrap_is_not_a_possible_loss():
    sim(rate=RATE // 10, xflow="none", fifo=1 << 20)
    result = stream(f"iio:{ADC} counter=header:2/4Ki null: stall_at=20000 stall_for=500ms --duration 2s --block-size 24Ki "
                    "--blocks 4")
    assert reported(result) == (0, 0, 0, 0)
    assert result.gaps["evidence"] == ["counter", "starvation"]


def test_a_counter_that_wraps_is_not_a_loss():
    sim(rate=0, counter=32, pattern="lanes", start=(1 << 32) - 5000)
    result = stream(f"iio:{ADC} counter=channel:count0 null: --samples 100000")
    assert reported(result) == (0, 0, 0, 0)


def test_a_silent_loss_inside_a_block_is_found_by_the_overflow_register():
    sim(rate=RATE, fifo=4096, drop_at=100_001, drop=123, drop_xflow=1)
    result = stream(f"iio:{ADC} verify:ramp --duration 2s {COMMON}", status=0)
    check_against_truth(result)
    assert reported(result)[0] == 1


def test_an_undetected_loss_fails_the_verification():
    sim(rate=RATE, fifo=4096, drop_at=50_001, drop=123, drop_xflow=0)
    result = stream(f"iio:{ADC} verify:ramp --duration 500ms {COMMON}", status=1)
    assert result.json["sinks"][0]["report"]["unreported"] == 1
    assert result.json["error"]["operation"] == "verify"


def test_a_slow_overflow_register_delays_no_samples():
    sim(rate=RATE, fifo=4096, xflow_delay_ms=40)
    result = stream(f"iio:{ADC} verify:ramp --samples {2 * RATE} --block-size {BLOCK} --blocks 16")
    assert reported(result) == (0, 0, 0, 0)
    result = stream(f"iio:{ADC} verify:ramp null: {STALL} --duration 1500ms --block-size {BLOCK} --blocks 16")
    check_against_truth(result)
    assert reported(result)[0] >= 1


def test_on_gap_stop_ends_before_the_gap_with_status_4(tmp_path):
    sim(rate=RATE, fifo=0)
    file = tmp_path / "stop.bin"
    result = stream(f"iio:{ADC} {file} null: {STALL} --duration 2s --on-gap stop {COMMON}",
                    status=4)
    assert result.json["ended"] == "gap"
    jumps, _ = truth()
    assert result.json["samples"] == jumps[0][0]
    assert file.stat().st_size == jumps[0][0] * 8


def test_on_gap_zero_fill_keeps_the_time_of_exact_gaps(tmp_path):
    sim(rate=RATE, counter=64, pattern="lanes", drop_at=30_000, drop=777)
    file = tmp_path / "filled.bin"
    result = stream(f"iio:{ADC} counter=channel:count0 {file} --samples 100000 --on-gap zero-fill {COMMON}")
    data = file.read_bytes()
    sample = result.json["sample_bytes"]
    assert len(data) == 100_000 * sample
    assert data[30_000 * sample:30_777 * sample] == bytes(777 * sample)
    after = data[30_777 * sample:30_778 * sample]
    assert int.from_bytes(after[-8:], "little") == 30_777


def test_thresholds_set_the_exit_status():
    sim(rate=RATE, fifo=0)
    stall = f"iio:{ADC} null: {STALL} --duration 1200ms {COMMON}"
    stream(stall)
    for option in ("--max-gaps 0", "--max-lost 1000", "--min-rate 5M"):
        result = stream(f"{stall} {option}", status=4)
        assert option.split()[0].strip("-") in result.json["error"]["message"]
    stream(f"{stall} --max-gaps 9 --max-lost 900k --min-rate 100k")


@pytest.mark.parametrize("xflow", ["mainline", "none"])
def test_losses_with_fileio_are_certain_with_the_register_and_possible_without(xflow):
    sim(rate=RATE, fifo=4096, xflow=xflow)
    result = stream(f"iio:{ADC} path=fileio verify:ramp null: {STALL} --duration 1500ms {COMMON}")
    assert check_against_truth(result) > 0
    jumps, _ = truth()
    certain, possible, _, _ = reported(result)
    if xflow == "mainline":
        assert 1 <= certain <= len(jumps)
    else:
        assert certain == 0 and possible >= len(jumps)


def test_dropping_sinks_count_the_dropped_samples():
    sim(rate=RATE, fifo=0)
    result = stream(f"iio:{ADC} verify:ramp null: rate=75k on-full=drop hold=2 --duration 1s "
                    f"{COMMON}")
    assert reported(result) == (0, 0, 0, 0)
    slow = result.json["sinks"][1]
    assert slow["dropped_samples"] > RATE * 0.4
    assert slow["delivered_samples"] + slow["dropped_samples"] == result.json["samples"]
    assert knob("lost") == "0"
