# SPDX-License-Identifier: MIT
"""The system calls for each block that is written to a file or read from it, which strace counts.

A run with few blocks is subtracted from one with many, so that the start and the end do not count.
"""
import json
import shutil
import subprocess

import pytest
from conftest import COMMAND, DEADLINE

FEW, MANY = 64, 1088
BLOCK = 64 << 10
WAITS = ("poll", "ppoll", "restart_syscall", "epoll_wait")

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def run(folder, words):
    table = folder / "calls"
    done = subprocess.run(["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", table, COMMAND, *words.split(),
                           "--block-size", str(BLOCK), "--blocks", "16", "--json"],
                          cwd=folder, capture_output=True, timeout=DEADLINE, check=False)
    if done.returncode == 1 and b"ptrace" in done.stderr:
        pytest.skip("strace cannot trace here")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in table.read_text().splitlines()]
    return json.loads(done.stdout), {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit()}


def calls_per_block(folder, words, engine, hop):
    """Returns the calls by name. The words contain {size}, the bytes of the stream."""
    counts = []
    for blocks in (FEW, MANY):
        summary, found = run(folder, words.format(size=blocks * BLOCK))
        if summary["route"][hop]["mechanism"] != f"{engine}-direct":
            pytest.skip(f"engine={engine}: {summary['route'][hop]['reason']}")
        counts.append(found)
    names = counts[0].keys() | counts[1].keys()
    calls = {name: (counts[1].get(name, 0) - counts[0].get(name, 0)) / (MANY - FEW) for name in names}
    print(", ".join(f"{name} {count:.2f}" for name, count in sorted(calls.items()) if count > 0.01))
    return calls


def waits(calls):
    return sum(calls.get(name, 0) for name in WAITS)


WRITE = "stream sim: rate=0 pattern=stamp a.ci16 overwrite=on direct=on depth=8 preallocate=128Mi"
READ = "stream a.ci16 direct=on depth=8"


def test_io_uring_writes_a_block_and_waits_for_another_in_one_call(tmp_path):
    calls = calls_per_block(tmp_path, WRITE + " engine=io_uring --bytes {size}", "io_uring", -1)
    assert 0 < calls["io_uring_enter"] <= 1.2
    assert waits(calls) <= 0.1


def test_io_uring_reads_a_block_and_waits_for_another_in_one_call(tmp_path, iio):
    iio(f"record sim: rate=0 a.ci16 --bytes {MANY * BLOCK}")
    calls = calls_per_block(tmp_path, READ + " engine=io_uring null: --bytes {size}", "io_uring", 0)
    assert 0 < calls["io_uring_enter"] <= 1.2
    assert waits(calls) <= 0.1


def test_libaio_reads_a_block_in_two_calls(tmp_path, iio):
    iio(f"record sim: rate=0 a.ci16 --bytes {MANY * BLOCK}")
    calls = calls_per_block(tmp_path, READ + " engine=libaio null: --bytes {size}", "libaio", 0)
    assert calls["io_submit"] == pytest.approx(1, abs=0.1)
    assert 0 < calls["io_getevents"] <= 1.2
    assert waits(calls) <= 0.1 and calls.get("read", 0) <= 0.1


# The writes are made by a thread of their own, because io_submit() can block. It wakes the thread that makes
# the samples when it gives a block back.
def test_libaio_writes_a_block_in_two_calls_besides_those_between_its_threads(tmp_path):
    calls = calls_per_block(tmp_path, WRITE + " engine=libaio --bytes {size}", "libaio", -1)
    assert calls["io_submit"] == pytest.approx(1, abs=0.1)
    assert 0 < calls["io_getevents"] <= 1.2
    assert waits(calls) <= 1.2 and calls.get("read", 0) <= 1.2 and calls.get("write", 0) <= 1.2
