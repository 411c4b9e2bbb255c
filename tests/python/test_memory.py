# SPDX-License-Identifier: MIT
"""Views and blocks do not leak memory, keep their samples valid, and access no other memory. The tests run in
separate interpreters, because the memory use of other tests would hide errors."""
import os
import shutil
import subprocess
import sys

import counts
import pytest
from conftest import DEADLINE, PACKAGE, REPOSITORY

MANY_BLOCKS = f"""
import gc, resource, sys
import iio_stream as ios
size = 4 << 20
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with ios.source("sim:", rate=0, pattern="stamp", block_size=size, blocks=4) as rx:
    def turn():
        block = next(rx)
        return int(block.array[0, 0]), block.time.ns, block.gaps
    for _ in range(20):
        turn()
    gc.collect()
    blocks, before = sys.getallocatedblocks(), peak()
    for _ in range({counts.PYTHON_BYTES} // size):
        turn()
    gc.collect()
    print(sys.getallocatedblocks() - blocks, peak() - before)
"""

# This program creates and releases views in every possible way.
VIEWS = """
import asyncio, gc, threading
import numpy as np
import iio_stream as ios

def source(**options):
    return ios.source("sim:", **{"rate": 0, "block_size": 4096, "blocks": 4, **options})

class Node: pass

rx = source(blocks=8)
blocks = [next(rx) for _ in range(4)]
views = [blocks[n % 4].array[n % 7:] for n in range(1000)]
more = [blocks[0].channel(1), memoryview(blocks[1]), np.asarray(blocks[2]), blocks[0].iq(),
        blocks[3].__dlpack__(max_version=(1, 0)), blocks[1].convert("rf32_le"), blocks[2].copy()]
expected = [bytes(block) for block in blocks]
del blocks
def drop(mine):
    while mine:
        number, view = mine.pop()
        assert view.tobytes() == expected[number % 4][number % 7 * 4:]
hands = [list(enumerate(views))[n::4] for n in range(4)]
threads = [threading.Thread(target=drop, args=(hand,)) for hand in hands]
del views
for thread in threads: thread.start()
for _ in range(50): next(rx)
for thread in threads: thread.join()
node = Node()
node.me, node.view = node, next(rx).array
del node
gc.freeze()
kept = next(rx).array
rx.close()
del rx
gc.unfreeze()
gc.collect()
assert more[1].tobytes() == expected[1] and more[0].tobytes() == np.frombuffer(
    expected[0], "i2").reshape(-1, 2)[:, 1].tobytes()
assert kept.sum() != 0

with source(format="le:s12/16>>4,be:u24/32>>8", samples=2000) as rx:
    assert sum(block.array["channel1"].size for block in rx) == 2000
with source() as rx:
    block = next(rx)
    view = block.array
    for refused in (block.release, lambda: memoryview(block).cast("B").__setitem__(0, 1)):
        try: refused()
        except (BufferError, TypeError): pass
        else: raise SystemExit("taken")
    kept = [block] + [next(rx) for _ in range(3)]
    try: next(rx, None)
    except ios.PoolExhausted: pass
with ios.sink("null:", block_size=4096, blocks=4) as tx:
    block = tx.take()
    block.array[:] = 1
    tx.put(block)
    tx.write(np.zeros((5000, 2), np.int16))
    left = tx.take().array
async def read():
    with source(samples=5000) as rx:
        return sum([len(block) async for block in rx])
assert asyncio.run(read()) == 5000
print("done")
"""


def test_memory_stays_flat_over_many_blocks(python):
    objects, kibibytes = (int(word) for word in python(MANY_BLOCKS, timeout=60 * DEADLINE).split())
    assert objects < 100 and kibibytes < 2048  # half a block


def test_views_can_be_created_and_released_in_every_way(python):
    assert python(VIEWS) == "done\n"


def test_valgrind_finds_no_access_outside_of_the_views(tmp_path):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: script/install test")
    log = tmp_path / "valgrind"
    done = subprocess.run(
        ["valgrind", "--error-exitcode=9", "--undef-value-errors=no", "--leak-check=no", "--fair-sched=yes",
         f"--suppressions={REPOSITORY / 'tests' / 'python' / 'valgrind.supp'}", f"--log-file={log}",
         sys.executable, "-B", "-c", VIEWS], capture_output=True, text=True, check=False,
        timeout=20 * DEADLINE, env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONMALLOC": "malloc",
                                    "OPENBLAS_NUM_THREADS": "1"})
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr + log.read_text()[-5000:]
