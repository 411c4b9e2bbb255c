#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long `iio-stream archive list` takes for a folder of many parts: tests/bench/archive_list.py [PARTS] [COMMAND]

PARTS of 16 samples each, 100,000 by itself, copied from one that COMMAND (build/iio-stream) records. Prints the wall
and processor time of three runs: read it beside the machine that it was run on.
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


def listed(folder):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([COMMAND, "archive", "list", folder, "--json"], check=True, capture_output=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout)
    assert (found["parts"], found["bytes"], found["damaged"]) == (PARTS, PARTS * SAMPLES * BYTES, []), found
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with tempfile.TemporaryDirectory() as name:
    fill(pathlib.Path(name))
    for _ in range(3):
        print("{:.2f} s, {:.2f} s of processor time".format(*listed(name)))
