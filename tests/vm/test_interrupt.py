# SPDX-License-Identifier: MIT
"""Ctrl-C, once and twice, in different states of the sinks.

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_interrupt.py

Linux 6.12, 2048 MB.
"""
import os
import signal
import subprocess
import threading
import time

import pytest
from conftest import ADC, DAC, DISK, finish, interrupt, knob, run, sim, start
from waiting import until

RATE = 50_000
# More bytes than a pipe and its reader hold, but fewer than they and the queue hold together.
FULL_PIPE = 3 << 19
SMALL = "--block-size 16Ki --blocks 64"  # blocks of 40 ms each, so that a busy emulator loses nothing


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim(rate=RATE)


def catches_signals(process):
    """Returns whether the program has started far enough that a signal does not simply kill it."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
        caught, = (int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
    return caught >> (signal.SIGINT - 1) & 1


def begin(*words, moved=160_000):
    """Starts a stream, and waits until the ADC has moved that many bytes (`delivered` is not reset).

    After a program is killed, the kernel continues to fill its blocks.
    """
    process = start("stream", *words, "--json")
    until(lambda: catches_signals(process) or process.poll() is not None, "the program's start", 20)
    knob("reset", 1)
    until(lambda: int(knob("bytes")) > moved or process.poll() is not None, "the stream", 30)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("sinks", ["null:", "verify:ramp", f"iio:{DAC}", "FILE", "FILE null: verify:ramp"])
def test_one_signal_drains_the_stream_and_reports(sinks, number):
    file = DISK / "interrupted.ci16"
    process = begin(f"iio:{ADC}", sinks.replace("FILE", f"{file} overwrite=on"), SMALL)
    interrupt(process, number)
    result = finish(process, 30)
    assert result.status == 0, result.err
    assert result.json["ended"] == "signal" and result.json["error"] is None
    assert all(sink["delivered_samples"] == result.json["samples"] for sink in result.json["sinks"])
    if "FILE" in sinks:
        assert file.stat().st_size == result.json["bytes"] > 0
        assert run(f"verify --pattern ramp {file} --json").json["ok"]


class Reader(threading.Thread):
    """Reads a part of a FIFO, then pauses until `go` is set."""

    def __init__(self, path, first=1 << 16):
        super().__init__(daemon=True)
        self.path, self.first, self.go, self.data = path, first, threading.Event(), b""
        self.start()

    def run(self):
        with open(self.path, "rb") as pipe:
            self.data = pipe.read(self.first)
            self.go.wait(60)
            self.data += pipe.read()


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "pipe.bin"
    os.mkfifo(path)
    return path


def test_one_signal_during_a_slow_write_waits_for_it_within_its_deadline(fifo):
    reader = Reader(fifo)
    process = begin(f"iio:{ADC} {fifo} {SMALL} --timeout 20s", moved=FULL_PIPE)
    time.sleep(0.5)  # the pipe is full, and the writer waits
    interrupt(process)
    time.sleep(2)
    assert process.poll() is None  # it drains: the reader might still continue
    reader.go.set()
    result = finish(process, 20)
    reader.join(10)
    assert result.status == 0 and result.json["ended"] == "signal"
    assert len(reader.data) == result.json["bytes"] == result.json["sinks"][0]["bytes"]


def test_one_signal_during_a_write_that_never_ends_fails_at_the_deadline(fifo):
    reader = Reader(fifo)
    process = begin(f"iio:{ADC} {fifo} {SMALL} --timeout 1s", moved=FULL_PIPE)
    time.sleep(0.3)
    before = time.monotonic()
    interrupt(process)
    result = finish(process, 15)
    assert time.monotonic() - before < 8
    assert result.status == 5, result.err
    error = result.json["error"]
    assert error["name"] in ("ETIMEDOUT", "ECANCELED") and str(fifo) in error["message"]
    reader.go.set()
    reader.join(10)
    assert len(reader.data) >= result.json["sinks"][0]["bytes"]


def test_two_signals_end_immediately_with_130(fifo):
    reader = Reader(fifo)
    process = begin(f"iio:{ADC} {fifo} null: {SMALL} --timeout 60s", moved=FULL_PIPE)
    time.sleep(0.3)
    interrupt(process)
    time.sleep(0.5)
    assert process.poll() is None
    before = time.monotonic()
    interrupt(process)
    result = finish(process, 30)
    assert time.monotonic() - before < 5
    assert result.status == 130
    reader.go.set()


def test_two_signals_in_a_row_end_with_130_or_cleanly():
    for _ in range(3):
        process = begin(f"iio:{ADC} null: {SMALL}")
        interrupt(process)
        interrupt(process, signal.SIGTERM)
        assert finish(process, 30).status in (0, 130)


def test_a_signal_before_the_stream_starts_ends_the_program():
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
        process = start(f"stream iio:{ADC} null: {SMALL} --json")
        time.sleep(delay)
        interrupt(process)
        # Before main() installs a handler, the signal kills any program.
        assert finish(process, 30).status in (0, -signal.SIGINT), delay


def test_a_disk_slower_than_the_timeout_does_not_end_a_recording():
    """dm-delay makes each write to the disk, and therefore fdatasync(), take 1.5 s. The end of a stream waits
    for it, regardless of --timeout."""
    subprocess.run(["modprobe", "-a", "loop", "dm-delay"], check=True)
    image = DISK / "slow.img"
    subprocess.run(["truncate", "-s", "64M", image], check=True)
    loop = subprocess.run(["losetup", "-f", "--show", image], check=True, capture_output=True,
                          text=True).stdout.strip()
    table = f"0 131072 delay {loop} 0 0 {loop} 0 1500"
    mount = "/mnt/slow"
    os.makedirs(mount, exist_ok=True)
    try:
        subprocess.run(["mkfs.ext4", "-q", loop], check=True)
        subprocess.run(["dmsetup", "create", "iios-slow", "--noudevsync", "--table", table], check=True)
        subprocess.run(["dmsetup", "mknodes"], check=True)
        subprocess.run(["mount", "/dev/mapper/iios-slow", mount], check=True)
        process = begin(f"iio:{ADC} {mount}/a.ci16 {SMALL} --timeout 1s")
        interrupt(process)
        result = finish(process, 100)
        assert result.status == 0, result.err
        assert run(f"verify --pattern ramp {mount}/a.ci16 --json", timeout=100).json["ok"]
    finally:
        subprocess.run(["umount", mount], check=False)
        subprocess.run(["dmsetup", "remove", "iios-slow", "--noudevsync"], check=False)
        subprocess.run(["losetup", "-d", loop], check=False)
        image.unlink()
