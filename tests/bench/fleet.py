#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures many recorders with one store: tests/bench/fleet.py [RECORDERS] [SECONDS]

RECORDERS (200) processes of build/iio-stream record `sim:` for SECONDS (60), in parts of 256 KiB. The parts
go to one versitygw on this machine and are kept nowhere else (archive=, keep=none). Then the program checks
that the store has each sample of each recorder. Prints the work done and its processor time, which depend
on the machine.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "build" / "python")]
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from gateway import serving  # noqa: E402

RECORDERS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
RATE, SAMPLE, PART = 10_000, 4, "256Ki"
COMMAND = ROOT / "build" / "iio-stream"


def started(number, folder):
    own = folder / f"{number:03}"
    own.mkdir()
    file = [own / f"board{number:03}.sigmf-meta", f"rotate_bytes={PART}", "hash=end", "archive=s3://roof",
            "archive_wait=5min", "keep=none"]
    return subprocess.Popen([COMMAND, "record", "sim:", f"rate={RATE}", *file, "--duration", f"{SECONDS}s", "--json"],
                            stdout=subprocess.PIPE, text=True)


def seconds_of(pid):
    """Returns the processor time that a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most_memory(pid):
    """Returns the peak memory of a process so far, in MiB."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) >> 10


def check(number, summary, objects):
    """Checks that the store has each sample once, in its place."""
    assert summary["gaps"]["certain"] == summary["sinks"][0]["dropped_samples"] == 0, summary
    archive = summary["sinks"][0]["report"]["archive"]
    assert archive["stored"] == archive["parts"], summary
    data = b"".join(path.read_bytes() for path in sorted(objects.glob(f"board{number:03}.*.sigmf-data")))
    words = np.frombuffer(data[:len(data) // 8 * 8], "<u8")
    assert len(data) == summary["samples"] * SAMPLE and np.array_equal(words, np.arange(len(words))), number
    return archive


def listed():
    start = time.monotonic()
    done = subprocess.run([COMMAND, "archive", "list", "s3://roof", "--json"], check=True, capture_output=True)
    return time.monotonic() - start, json.loads(done.stdout)


with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
    place = pathlib.Path(name)
    (place / "local").mkdir()
    with serving(place / "store", patch) as objects:
        store = int(subprocess.run(["pgrep", "-n", "versitygw"], check=True, capture_output=True, text=True).stdout)
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        recorders = [started(number, place / "local") for number in range(RECORDERS)]
        time.sleep(SECONDS / 2)
        memory = max(most_memory(one.pid) for one in recorders)
        summaries = [json.loads(one.communicate()[0]) for one in recorders]
        wall, spent = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        store_seconds = seconds_of(store)
        archives = [check(number, summary, objects) for number, summary in enumerate(summaries)]
        list_seconds, found = listed()
        assert len(found["recordings"]) == RECORDERS and not found["damaged"]
    parts, samples = sum(one["parts"] for one in archives), sum(one["samples"] for one in summaries)
    own = spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime
    print(f"{RECORDERS} recorders, {SECONDS} s at {RATE} S/s: {samples} samples in {parts} parts, all in the store; "
          f"{sum(one['retries'] for one in archives)} retries")
    print(f"{wall:.1f} s until the last recorder ended; the longest wait for the store "
          f"{max(one['closing_seconds'] for one in summaries):.1f} s")
    print(f"processor time: {own:.1f} s by the recorders ({1000 * own / parts:.1f} ms per part), {store_seconds:.1f} s by the "
          f"store ({1000 * store_seconds / parts:.1f} ms per part); no recorder used more than {memory} MiB")
    print(f"list: {list_seconds:.2f} s for {found['parts']} parts")
