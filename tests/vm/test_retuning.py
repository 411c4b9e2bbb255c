# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""A radio is retuned while it is recorded. The reference is the simulator's count of samples right before and
right after the retuning.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_retuning.py
"""
import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from board_scans import load
from conftest import finish, iio_dir, interrupt, knob, run, start, truth
from waiting import until

RATE = 250_000
RX, PHY = "cf-ad9361-lpc", "ad9361-phy"
LO, GAIN = "out_altvoltage0_RX_LO_frequency", "in_voltage0_hardwaregain"
BEFORE = 2_400_000_000
BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / "build"
READER = pathlib.Path(__file__).resolve().parent.parent / "cli/sigmf_reader.py"

# The recording program retunes its radio itself.
RECORDER = """
import sys
import iio_stream as ios
with ios.source("iio:cf-ad9361-lpc", sinks=sys.argv[1], frequency="2.4G", gain=30) as rx:
    for number, block in enumerate(rx):
        if number == 40:
            print("tuning", flush=True)
            sys.stdin.readline()
            print(ios.tune("iio:cf-ad9361-lpc", frequency="2.45G").frequency, flush=True)
        if number == 80:
            break
"""


def produced():
    return int(knob("produced", device=RX))


def by_sysfs(file, value):
    (iio_dir(PHY) / file).write_text(str(value))


def by_iio_stream(_, value):
    run(f"attr set {PHY}/out_altvoltage0/frequency {value}")


def by_iio_attr(_, value):
    run(f"-c {PHY} RX_LO frequency {value}", command="iio_attr")


class Recording:
    """A running `iio-stream record`, and the sample positions between which it was retuned."""

    def __init__(self, *words):
        by_sysfs(LO, BEFORE)
        self.process = start("record", f"iio:{RX}", "gain=30", *words, "--json")
        # Each tuple has the earliest sample, the latest sample and the new value of a retuning.
        self.hops = [(0, 0, BEFORE)]
        until(lambda: produced() > 0, "the first sample")

    def wait(self, seconds):
        end = produced() + seconds * RATE
        until(lambda: produced() >= end, "samples")

    def set(self, file, value, by=by_sysfs):
        before = produced()
        by(file, value)
        self.hops.append((before, produced(), value))

    def finish(self):
        interrupt(self.process)
        result = finish(self.process)
        assert result.status == 0 and result.gaps["lost_max"] == 0, result.err
        return result.json


def holds(retuning, hop):
    """Returns whether a reported retuning overlaps the samples that were produced while the new value was
    written."""
    return retuning["begin"] <= hop[1] and hop[0] <= retuning["end"]


def claims(meta, key="core:frequency"):
    """Returns (first sample, sample after the last, frequency) of the stream for each frequency in the
    metadata."""
    captures, samples = meta["captures"], meta["global"]["iio_stream:samples"]
    first = captures[0].get("core:global_index", 0)
    ends = [capture["core:sample_start"] for capture in captures[1:]] + [samples]
    return [(first + capture["core:sample_start"], first + end, capture[key])
            for capture, end in zip(captures, ends, strict=True) if key in capture]


def check_claims(metas, hops, key="core:frequency"):
    """Checks that the metadata do not give any sample a frequency that the radio certainly did not have at
    that time."""
    ends = [before for before, _, _ in hops[1:]] + [1 << 62]
    certain = [(after, end, frequency) for (_, after, frequency), end in zip(hops, ends, strict=True)]
    for begin, end, said in (claim for meta in metas for claim in claims(meta, key)):
        for known, until_then, frequency in certain:
            overlap = min(end, until_then) - max(begin, known)
            assert overlap <= 0 or said == frequency, (begin, end, said, hops)


def package_accepts(*recordings):
    """Validates recordings with SigMF's own package, if it is installed."""
    python = BUILD / "venv/bin/python"
    if python.exists():
        run(str(READER), *recordings, command=str(python), timeout=120)


@pytest.mark.parametrize("by", [by_sysfs, by_iio_stream, by_iio_attr])
def test_a_recording_has_the_real_settings_regardless_of_the_program_that_retunes(by, tmp_path):
    load("pluto", rate=RATE)
    recording = Recording(f"{tmp_path}/a.sigmf-meta")
    for frequency in (2_450_000_000, 2_500_000_000):
        recording.wait(1)
        recording.set(LO, frequency, by)
    recording.wait(1)
    summary = recording.finish()
    told = summary["retunings"]
    assert [one["frequency"] for one in told] == [2_450_000_000, 2_500_000_000]
    assert all(holds(*pair) for pair in zip(told, recording.hops[1:], strict=True)), (told, recording.hops)
    assert all(one["gain_db"] == 30 and one["sample_rate"] == RATE for one in told)
    blocks = summary["block_count"] * summary["block_bytes"] // summary["sample_bytes"]
    assert all(one["end"] - one["begin"] < 2 * RATE + blocks for one in told), told
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())
    check_claims([meta], recording.hops)
    assert [said for _, _, said in claims(meta)] == [BEFORE, 2_450_000_000, 2_500_000_000]
    notes = [(one["core:sample_start"], one["core:sample_count"], one["core:label"]) for one in meta["annotations"]]
    assert notes == [(one["begin"], one["end"] - one["begin"], "retuning") for one in told]
    assert meta["global"]["iio_stream:gain_db"] == 30
    assert run(f"verify {tmp_path}/a.sigmf-meta --json").json["ok"]
    package_accepts(tmp_path / "a.sigmf-meta")


def test_closed_parts_have_the_real_settings(tmp_path):
    load("pluto", rate=RATE)
    recording = Recording(f"{tmp_path}/a.sigmf-meta", "rotate_time=150ms", "--block-size 16Ki --blocks 64")
    for frequency in (2_450_000_000, 2_500_000_000):
        recording.wait(1)
        recording.set(LO, frequency)
    recording.wait(1.5)
    parts = recording.finish()["sinks"][0]["report"]["files"]
    metas = [json.loads(pathlib.Path(part).read_text()) for part in parts]
    assert len(metas) >= 20
    check_claims(metas, recording.hops)
    assert {said for meta in metas for _, _, said in claims(meta)} == {BEFORE, 2_450_000_000, 2_500_000_000}
    assert any(one["core:label"] == "retuning" for meta in metas for one in meta["annotations"])
    package_accepts(*(part for part, meta in zip(parts, metas, strict=True) if len(meta["captures"]) > 1))


@pytest.mark.parametrize("seconds", [0, 0.4, 0.8])
def test_a_killed_recording_contains_no_false_settings(seconds, tmp_path):
    load("pluto", rate=RATE)
    meta = tmp_path / "a.sigmf-meta"
    recording = Recording(str(meta), "--block-size 16Ki --blocks 64")
    recording.wait(1.5)
    recording.set(LO, 2_450_000_000)
    recording.wait(seconds)
    interrupt(recording.process, signal.SIGKILL)
    recording.process.communicate()
    run(f"recover {meta}")
    said = json.loads(meta.read_text())
    check_claims([said], recording.hops)
    assert claims(said)[0][2] == BEFORE
    assert said["global"]["core:sample_rate"] == RATE
    assert run(f"verify {meta} --json").json["ok"]
    package_accepts(meta)


def test_a_program_that_retunes_its_own_recording_records_it_immediately(tmp_path):
    load("pluto", rate=RATE)
    process = subprocess.Popen([sys.executable, "-c", RECORDER, tmp_path / "a.sigmf-meta"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == "tuning\n"
    before = produced()
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "2450000000.0\n"
    after = produced()
    process.communicate(timeout=60)
    assert process.returncode == 0
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())
    check_claims([meta], [(0, 0, BEFORE), (before, after, 2_450_000_000)])
    note, = (one for one in meta["annotations"] if one["core:label"] == "retuning")
    assert note["core:sample_start"] >= before - RATE // 2  # the note does not begin at the previous check
    assert note["core:sample_count"] <= after - before + RATE // 2
    package_accepts(tmp_path / "a.sigmf-meta")


def test_all_frequency_changes_within_a_second_are_detected():
    load("pluto", rate=RATE)
    recording = Recording("null:")
    recording.wait(1)
    hops = [2_410_000_000, BEFORE, 2_420_000_000, BEFORE]
    for frequency in hops:
        recording.set(LO, frequency)
        time.sleep(0.3)
    told = recording.finish()["retunings"]
    assert [one["frequency"] for one in told] == hops
    assert all(holds(*pair) for pair in zip(told, recording.hops[1:], strict=True))


def test_a_changed_gain_is_recorded_in_the_captures(tmp_path):
    load("pluto", rate=RATE)
    recording = Recording(f"{tmp_path}/a.sigmf-meta")
    recording.wait(0.6)
    recording.set(GAIN, 12)
    recording.wait(2)
    recording.set("in_voltage0_gain_control_mode", "slow_attack")  # from then on the gain is not a setting
    recording.wait(1.5)
    told = recording.finish()["retunings"]
    assert [one["gain_db"] for one in told] == [12, None]
    assert all(holds(*pair) for pair in zip(told, recording.hops[1:], strict=True))
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())
    assert "iio_stream:gain_db" not in meta["global"]
    gains = [capture.get("iio_stream:gain_db") for capture in meta["captures"]]
    assert gains == [30, None, 12, None, None] or gains == [30, None, 12, None]
    assert all(capture["core:frequency"] == BEFORE for capture in meta["captures"])
    package_accepts(tmp_path / "a.sigmf-meta")


def test_a_rate_that_the_transmitter_briefly_raises_bounds_the_loss():
    """The chip has a single clock. The attribute that is written is not the receiver's own."""
    slow, fast, clock = 2_100_000, 8_400_000, "out_voltage_sampling_frequency"
    load("pluto", fifo=0, rate=slow)
    process = start(f"stream iio:{RX} null: stall_at=400000 stall_for=2s --samples 1M --block-size 64Ki --blocks 4 --json")
    until(lambda: produced() > 600_000, "the pause")
    by_sysfs(clock, fast)
    most = produced() + fast // 4
    until(lambda: produced() > most, "the loss")
    by_sysfs(clock, slow)
    result = finish(process)
    lost = sum(samples for at, samples in truth(RX)[0] if at < result.json["samples"])
    assert result.status == 0 and 2.5 * slow < lost <= result.gaps["lost_max"], result.out


def test_a_changed_rate_is_recorded_in_the_captures(tmp_path):
    load("pluto", rate=RATE)
    clock = "in_voltage_sampling_frequency"
    by_sysfs(clock, 2_400_000)  # the chip's rate, which the core divides by 8
    (iio_dir(RX) / clock).write_text("300000")
    recording = Recording(f"{tmp_path}/a.sigmf-meta", "--block-size 16Ki --blocks 64")
    recording.hops = [(0, 0, 300_000)]
    recording.wait(2.5)
    recording.set(clock, 500_000, lambda file, value: by_sysfs(file, 8 * value))
    recording.wait(3)
    told = recording.finish()["retunings"]
    assert [one["sample_rate"] for one in told] == [500_000]
    assert holds(told[0], recording.hops[1]), (told, recording.hops)
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())
    check_claims([meta], recording.hops, "iio_stream:sample_rate")
    assert [said for _, _, said in claims(meta, "iio_stream:sample_rate")] == [300_000, 500_000]
    # SigMF has no other place for the rate, and no single rate is true.
    assert "core:sample_rate" not in meta["global"]
    assert all(capture["core:frequency"] == BEFORE for capture in meta["captures"])
    note, = (one for one in meta["annotations"] if one["core:label"] == "retuning")
    assert (note["core:sample_start"], note["core:sample_count"]) == (told[0]["begin"], told[0]["end"] - told[0]["begin"])
    assert run(f"verify {tmp_path}/a.sigmf-meta --json").json["ok"]
    package_accepts(tmp_path / "a.sigmf-meta")


def test_the_summary_shows_the_new_settings_after_retuning():
    load("pluto", rate=RATE)
    by_sysfs(LO, BEFORE)
    process = start("record", f"iio:{RX}", "gain=30", "null:")
    until(lambda: produced() > RATE, "samples")
    by_sysfs(LO, 2_450_000_000)
    end = produced() + 2 * RATE
    until(lambda: produced() >= end, "samples")
    interrupt(process)
    line, = (line for line in finish(process).out.splitlines() if line.startswith("  retuned "))
    assert "to 2.45 GHz, gain 30 dB" in line and "250.00 kS/s" in line, line
