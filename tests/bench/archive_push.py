#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `iio-stream archive push` over a slow network: tests/bench/archive_push.py [PARTS] [MS] [COMMAND…]

COMMAND (build/iio-stream) records PARTS (64) parts of 1 MiB and pushes them to a store on this machine that
sends each answer MS (100) milliseconds late. Prints the wall time, the requests and the connections of three
pushes: one with --keep all, one that finds everything stored, and one with --keep none into an empty store.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "campaign"))
import s3_store  # noqa: E402

PARTS = int(sys.argv[1]) if len(sys.argv) > 1 else 64
DELAY = int(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.1
COMMAND = sys.argv[3:] or [str(ROOT / "build" / "iio-stream")]


class SlowStore(s3_store.Store):
    """Counts the requests by their method, and the connections."""

    def __init__(self):
        super().__init__({}, False)
        self.methods, self.connections = collections.Counter(), set()

    def answer(self, request):
        made = super().answer(request)
        with self.lock:
            self.methods[request.method] += 1
            self.connections.add(request.client_address)
        time.sleep(DELAY)
        return made


def push(store, folder, keep):
    store.methods.clear()
    store.connections.clear()
    words = [*COMMAND, "archive", "push", folder, "s3://board/here", "--keep", keep, "--json"]
    began = time.monotonic()
    done = subprocess.run(words, env={**os.environ, **store.environment()}, capture_output=True, text=True,
                          check=True)
    wall, said = time.monotonic() - began, json.loads(done.stdout)
    assert said["stored"] + said["already"] == PARTS and len(store.objects) == 2 * PARTS, said
    print(f"--keep {keep}: {said['stored']} of {PARTS} parts stored in {wall:.2f} s, over"
          f" {len(store.connections)} connections: {dict(store.methods)}", flush=True)


with tempfile.TemporaryDirectory() as name, SlowStore() as slow:
    subprocess.run([*COMMAND, "record", "sim:", "rate=0", f"{name}/a.sigmf-meta", "rotate_bytes=1Mi",
                    "--bytes", f"{PARTS}Mi", "--quiet"], check=True)
    push(slow, name, "all")
    push(slow, name, "all")
    slow.objects.clear()
    push(slow, name, "none")
