# SPDX-License-Identifier: MIT
"""Recordings in several files, through the kernel's own drivers to a real disk: no sample is lost or repeated
at a seam, and none is copied."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess

import pytest
from conftest import ADC, DISK, processes, run, sim, start, truth
from waiting import until

RATE = 400_000  # 3.2 MB/s, which a busy emulator can handle


@pytest.fixture(autouse=True)
def folder():
    sim(rate=RATE)
    path = DISK / "rotated"
    path.mkdir()
    yield path
    subprocess.run(["rm", "-r", path], check=True)


def parts_of(result):
    return [pathlib.Path(name) for name in result.json["sinks"][0]["report"]["files"]]


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "buffered"])
def test_raw_parts_together_contain_the_stream(folder, engine):
    result = run(f"record iio:{ADC} memory=udmabuf {folder}/a.ci16 engine={engine} rotate_bytes=2Mi "
                 f"--bytes 9Mi --block-size 64Ki --blocks 32 --json")
    assert truth()[1] == 0 and result.json["copies"] == (engine == "buffered")
    parts = parts_of(result)
    assert [part.stat().st_size for part in parts] == [2 << 20] * 4 + [1 << 20]
    whole = folder / "whole.ci16"
    with open(whole, "wb") as out:
        subprocess.run(["cat", *parts], stdout=out, check=True)
    assert run(f"verify --pattern ramp {whole} --json").json["ok"]


def test_each_sigmf_part_is_a_complete_recording(folder):
    result = run(f"record iio:{ADC} memory=udmabuf {folder}/a.sigmf-meta rotate_time=1s "
                 f"--bytes 9Mi --block-size 64Ki --blocks 32 --json")
    assert truth()[1] == 0 and result.json["copies"] == 0
    parts = parts_of(result)
    assert len(parts) >= 3
    samples = 0
    for part in parts:
        report = run(f"verify --pattern ramp {part} --json").json
        assert report["ok"], report
        samples += report["samples"]
    assert samples == result.json["samples"] == (9 << 20) // 8


def test_a_loss_that_the_register_shows_late_is_recorded_in_its_part(folder):
    """Only the register shows the loss. It is read once a second, and by then the part is closed."""
    sim(rate=RATE, drop_at=RATE // 3, drop=5000, drop_xflow=1)
    result = run(f"record iio:{ADC} memory=udmabuf {folder}/a.sigmf-meta rotate_time=100ms "
                 f"--samples {2 * RATE} --block-size 64Ki --blocks 32 --json")
    assert (RATE // 3, 5000) in truth()[0] and result.gaps["certain"] >= 1
    reports = [run(f"verify --pattern ramp {part} --json").json for part in parts_of(result)]
    assert len(reports) >= 20 and all(report["ok"] for report in reports)


@pytest.mark.parametrize("words", ["", "rotate_time=450ms"])
def test_a_loss_that_the_register_had_not_shown_before_a_kill_is_possible(folder, words):
    """At the time of the kill, the journal already has the samples around the loss, or the part that contains
    them is already complete."""
    lost_at = RATE // 8
    sim(rate=RATE, drop_at=lost_at, drop=5000, drop_xflow=1)
    process = start(f"record iio:{ADC} memory=udmabuf {folder}/a.sigmf-meta {words} --samples {20 * RATE} "
                    f"--block-size 64Ki --blocks 32 --quiet")

    def marked():
        texts = []
        for path in folder.glob("*.journal"):
            with contextlib.suppress(FileNotFoundError):  # a part that has just been closed
                texts.append(path.read_text())
        return sum(int(mark) for text in texts for mark in re.findall(r'"bytes":(\d+)}\n', text)[-1:])

    until(lambda: marked() > 2 * lost_at * 8 or process.poll() is not None, "a mark after the loss")
    if words:
        until(lambda: (folder / "a.0001.sigmf-data").exists() and
              (folder / "a.0001.sigmf-data").stat().st_blocks > 0, "the second part")
    for number in processes("iio-stream"):
        os.kill(number, signal.SIGKILL)
    process.wait(20)
    for part in sorted(folder.glob("a*.sigmf-meta")):
        assert run(f"recover {part}", status=None).status in (0, 4)  # 4: the end of a part is missing
        samples = part.with_suffix(".sigmf-data").stat().st_size // 8
        assert samples == 0 or run(f"verify --pattern ramp {part} --json").json["ok"]
