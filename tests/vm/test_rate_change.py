# SPDX-License-Identifier: MIT
"""Another program changes the sample rate during a stream, and samples are lost after that.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_rate_change.py
"""
import pytest
from conftest import ADC, finish, iio_dir, knob, sim, start, truth
from test_loss import STALL, check_against_truth, reported, truth_within
from waiting import until

SLOW, FAST = 50_000, 400_000


def stream_with_a_change(words, blocks=32, at=10_000, then=lambda: None):
    """Runs a stream that begins at the rate SLOW. The rate changes to FAST right after sample `at`. By
    default, this is before the 50000th sample, where STALL begins."""
    process = start(f"stream {words} --samples 500000 --block-size 16Ki --blocks {blocks} --json")
    until(lambda: int(knob("produced")) > at, "the beginning")
    (iio_dir(ADC) / "sampling_frequency").write_text(str(FAST))
    then()
    result = finish(process)
    assert result.status == 0, result.err
    return result


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
@pytest.mark.parametrize("xflow", ["mainline", "none"])
def test_losses_after_an_increase_of_the_rate_are_within_the_interval(xflow, path):
    sim(rate=SLOW, fifo=0, xflow=xflow)
    result = stream_with_a_change(f"iio:{ADC} path={path} verify:ramp null: {STALL}")
    assert check_against_truth(result) > 0.4 * FAST
    assert result.gaps["lost_max"] is not None


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
@pytest.mark.parametrize("first, second", [(SLOW, FAST), (FAST, SLOW)])
def test_a_duration_follows_the_clock_after_a_change(first, second, path):
    seconds = 2
    sim(rate=first, fifo=FAST)
    process = start(f"stream iio:{ADC} path={path} verify:ramp --duration {seconds}s --block-size 64Ki --blocks 16 --json")
    until(lambda: int(knob("produced")) > first // 2, "the beginning")
    before = int(knob("produced"))
    (iio_dir(ADC) / "sampling_frequency").write_text(str(second))
    after = int(knob("produced"))
    result = finish(process)
    assert (result.status, result.json["ended"]) == (0, "duration"), result.err
    assert truth() == ([], 0)
    due = sorted(at + (seconds - at / first) * second for at in (before, after))
    assert due[0] - second / 10 < result.json["samples"] < due[1] + second / 10
    assert result.json["sinks"][0]["report"]["mismatches"] == 0


@pytest.mark.parametrize("words", ["", "counter=header:2/4Ki"])
def test_a_rate_that_is_higher_for_less_than_a_second_is_taken_into_account(words):
    """Neither the periodic reading nor the one after the pause detects the higher rate. The rate is also
    read whenever a program writes it."""
    def back():
        most = int(knob("produced")) + FAST // 5
        until(lambda: int(knob("produced")) > most, "the loss")
        (iio_dir(ADC) / "sampling_frequency").write_text(str(SLOW))

    sim(rate=SLOW, fifo=0, xflow="none")
    # The rate increases when all blocks are full, so that no other pause triggers a reading before the loss
    # that must be detected.
    result = stream_with_a_change(f"iio:{ADC} {words} verify:ramp null: stall_at=15000 stall_for=2s", blocks=4, at=30_000,
                                  then=back)
    lost = truth_within(result)[1]
    assert 2.5 * SLOW < lost, "more samples than at the first rate during the stall"
    assert reported(result)[2] <= lost <= reported(result)[3]


def test_the_higher_rate_bounds_an_overflow_without_other_evidence():
    sim(rate=SLOW, fifo=4096, drop=FAST // 4, drop_xflow=1)
    # The bit rises once, at the beginning of the loss. With this many blocks, the register is only read
    # periodically.
    result = stream_with_a_change(f"iio:{ADC} verify:ramp", blocks=128,
                                  then=lambda: knob("drop_at", int(knob("delivered")) + 100_001))
    assert check_against_truth(result) == FAST // 4
    assert reported(result)[0] == 1


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_the_higher_rate_bounds_how_often_a_counter_wrapped(path):
    turn = 65536
    sim(rate=SLOW, fifo=FAST, drop_at=60_000, drop=5 * turn + 18_928)
    result = stream_with_a_change(f"iio:{ADC} path={path} counter=header:2/4Ki null:")
    jumps, lost = truth_within(result)
    certain, possible, lost_min, lost_max = reported(result)
    assert (len(jumps), certain, possible) == (1, 1, 0) and lost > 5 * turn
    assert lost_min == lost % turn and (lost_max - lost) % turn == 0 and lost <= lost_max
