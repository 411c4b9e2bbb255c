#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures computations on archives: tests/bench/archive_compute.py [PARTS], with the Python of build/venv

Opens a folder of PARTS (10,000) copies of one part, with and without its index. Then computes power() and
spectrogram() of 1 GiB of noise in one process. Prints the wall time and the processor time, which depend on
the machine.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

from many_parts import copies

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "python"))
import iio_stream as ios  # noqa: E402

PARTS, SAMPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, 16


def timed(name, work):
    wall, own = time.monotonic(), time.process_time()
    result = work()
    print(f"{name}: {time.monotonic() - wall:.1f} s, {time.process_time() - own:.1f} s of processor time", flush=True)
    return result


with tempfile.TemporaryDirectory() as name:
    seed = pathlib.Path(name) / "seed.sigmf-meta"
    ios.record("sim:", seed, rate="1M", samples=SAMPLES)
    copies(seed, PARTS, SAMPLES)
    [many] = timed(f"open() of {PARTS} parts", lambda: ios.archive.open(name))
    assert len(many.parts) == PARTS
    subprocess.run([ROOT / "build" / "iio-stream", "archive", "index", name, "--quiet"], check=True)
    by_index = timed(f"open(indexed=True) of {PARTS} parts", lambda: ios.archive.open(name, indexed=True))
    middle = [many.time(PARTS // 2 * SAMPLES), many.time((PARTS // 2 + 100) * SAMPLES)]
    [cut] = timed("select() of 100 of them", lambda: by_index.select(time=middle))
    assert [cut] == list(ios.archive.Archive(name, [many]).select(time=middle))
with tempfile.TemporaryDirectory() as name:
    ios.record("sim:", pathlib.Path(name) / "a.sigmf-meta", rate=0, pattern="noise", bytes="1Gi",
               file_options={"rotate_bytes": "64Mi"})
    [noise] = ios.archive.open(name)
    for what, job in {"power()": ios.archive.power(noise, samples=1 << 20),
                      "spectrogram(average=1024)": ios.archive.spectrogram(noise, average=1024).power}.items():
        timed(f"{what} of {noise.samples} samples", lambda job=job: job.compute(scheduler="synchronous"))
