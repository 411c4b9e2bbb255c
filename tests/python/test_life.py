# SPDX-License-Identifier: MIT
"""Streams in forked children, the summary of an interrupted stream, asynchronous contexts, and pickled
data."""
import asyncio
import copy
import pickle
import time

import pytest
from conftest import ramp

import iio_stream as ios


def test_forked_processes_of_a_pool_can_stream(python):
    """Each child opens its own streams, even while the parent has streams and blocks."""
    assert python("""
import multiprocessing, os
import iio_stream as ios

def work(number):
    with ios.source("sim:", rate=0, samples=1000 * number) as rx:
        count = sum(len(block) for block in rx)
    with ios.Session() as session:
        session.add("sim:?rate=0", "verify:ramp", samples=1000)
        [summary] = session.run()
    with ios.sink(f"{number}.ci16") as tx:
        tx.write(bytes(4 * number))
    return count, summary.reports[0]["mismatches"], os.path.getsize(f"{number}.ci16")

rx = ios.source("sim:", rate=0, samples=100_000)
first = next(rx)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, [1, 2, 3]))
    print(pool.map(work, [4]))
print(len(first) + sum(len(block) for block in rx))
""") == "[(1000, 0, 4), (2000, 0, 8), (3000, 0, 12)]\n[(4000, 0, 16)]\n100000\n"


def test_a_grandchild_cannot_use_the_stream_of_a_forked_child(python):
    assert python("""
import os
import iio_stream as ios
def forked(work):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
def child():
    rx = ios.source("sim:", rate=0, samples=10)
    def grandchild():
        try:
            next(rx)
        except RuntimeError as error:
            print("fork" in str(error), flush=True)
        print(len(next(ios.source("sim:", rate=0, samples=20))), flush=True)
    forked(grandchild)
    print(len(next(rx)), flush=True)
forked(child)
""") == "True\n20\n10\n"


def test_an_interrupted_recording_has_its_summary(python, tmp_path):
    said = python("""
import _thread, threading, time
import iio_stream as ios
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    ios.record("sim:", "a.ci16", pattern="ramp", rate="100k")
except ios.Interrupted as interrupted:
    done = interrupted.summary
    assert isinstance(interrupted, KeyboardInterrupt) and interrupted.summaries == [done]
    print(done.stats.samples, done.ended, str(interrupted) == str(done))
""")
    count, ended, same = said.split()
    assert int(count) > 0 and ended != "error" and same == "True"
    assert (tmp_path / "a.ci16").read_bytes() == ramp(0, 4 * int(count))


def test_streams_are_asynchronous_context_managers(tmp_path):
    async def through():
        async with ios.source("sim:", pattern="ramp", rate="1M", samples=50_000) as rx, \
                ios.sink(tmp_path / "a.ci16") as tx:
            async for block in rx:
                tx.write(block)
        assert rx.closed and tx.closed and tx.summary.stats.samples == 50_000
        async with ios.Session() as session:
            session.add("sim:?rate=0", "null:", samples=10)
            session.run()

    asyncio.run(through())
    assert (tmp_path / "a.ci16").read_bytes() == ramp(0, 200_000)


def test_leaving_a_sink_lets_other_tasks_run():
    async def slow():
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.01)

        counting = asyncio.create_task(count())
        async with ios.sink("null:", rate=10_000, block_size=4096, blocks=8) as tx:
            tx.write(bytes(4 * 5000))  # half a second
        counting.cancel()
        return turns

    assert asyncio.run(slow()) > 5


def test_a_block_has_its_time_in_utc():
    before = time.time_ns()
    with ios.source("sim:", rate="1M", samples=100_000) as rx:
        for block in rx:
            now = time.time_ns()
            moment = block.time
            assert moment.clock == "monotonic" and moment.ns <= time.monotonic_ns()
            assert before - 1_000_000 <= moment.utc_ns <= now + 1_000_000
            assert abs(moment.utc.timestamp() - moment.utc_ns / 1e9) < 2e-6
            assert moment.utc.utcoffset().total_seconds() == 0 and block.time == moment


def test_plain_data_survive_pickling():
    with ios.source("sim:", rate=0, drop_at=500, drop=300, samples=2000) as rx:
        block = next(rx)
        [gap] = block.gaps
        plain = [gap, block.time, rx.format, rx.format.channels[0], rx.route, rx.stats, rx.tuning]
    done = ios.stream("sim:", "verify:ramp", rate=0, samples=1000)
    for one in [*plain, done, done.latency, *ios.doctor()]:
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert again == one and type(again) is type(one) and repr(again) == repr(one)
    assert (gap.offset_min, gap.lost_min, gap.lost_max, gap.evidence) == (500, 300, 300, "counter")
    assert hash(pickle.loads(pickle.dumps(gap))) == hash(gap) and gap != block.time
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(block)


def test_a_summary_has_a_one_line_repr_and_an_html_table():
    done = ios.stream("sim:", "null:", rate=0, drop_at=500, drop=300, samples=2000)
    for word in ("2000 samples", "1 certain gaps", "300 samples lost", "ended by samples"):
        assert word in repr(done) and word in done._repr_html_(), word
    assert "\n" not in repr(done) and len(repr(done)) < 200
    assert done._repr_html_().startswith("<table>") and "sim:" in done._repr_html_()
