#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `iio-stream archive list` for many parts: tests/bench/archive_list.py [PARTS] [COMMAND]

COMMAND (build/iio-stream) records a part of 16 samples, which is copied PARTS (100,000) times. Prints the
wall time and the processor time of three runs of `archive list`, one of `archive index`, and three of
`archive list --indexed`. The results depend on the machine.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from many_parts import copies

SAMPLES, BYTES = 16, 4
PARTS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "build" / "iio-stream")


def fill(folder):
    seed = folder / "seed.sigmf-meta"
    subprocess.run([COMMAND, "record", "sim:", "rate=1M", seed, "--samples", str(SAMPLES), "--quiet"], check=True)
    copies(seed, PARTS, SAMPLES)


def timed(folder, verb, *options):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([COMMAND, "archive", verb, folder, "--json", *options], check=True, capture_output=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout)
    assert found["parts"] == PARTS and (verb == "index" or found["bytes"] == PARTS * SAMPLES * BYTES), found
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{' '.join([verb, *options])}: {wall:.2f} s, {own:.2f} s of processor time", flush=True)


with tempfile.TemporaryDirectory() as name:
    fill(pathlib.Path(name))
    for words in [("list",)] * 3 + [("index",)] + [("list", "--indexed")] * 3:
        timed(name, *words)
