# SPDX-License-Identifier: MIT
"""Blocks by `async for` and by callbacks, with cancellation, errors, and the end of the interpreter."""
import asyncio
import threading
import time

import pytest
from conftest import ramp
from waiting import until

import iio_stream as ios

SLOW = {"rate": 1000, "block_size": 400_000, "timeout": "1h"}  # one block takes 100 s


def test_async_for_gives_each_block():
    async def read():
        with ios.source("sim:", pattern="ramp", rate="1M", samples=100_000, block_size=40_000) as rx:
            return b"".join([block.array.tobytes() async for block in rx])

    assert asyncio.run(read()) == ramp(0, 400_000)


def test_other_tasks_run_during_async_for():
    async def both():
        turns = 0
        with ios.source("sim:", rate="100k", samples=50_000) as rx:
            async def count():
                return sum([len(block) async for block in rx])

            reading = asyncio.create_task(count())
            while not reading.done():
                turns += 1
                await asyncio.sleep(0.01)
            return turns, await reading

    turns, samples = asyncio.run(both())
    assert samples == 50_000 and turns > 5


def test_a_task_that_waits_can_be_cancelled():
    async def cancelled():
        with ios.source("sim:", **SLOW) as rx:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(rx.__anext__(), 0.1)
            return rx.ended

    assert asyncio.run(cancelled()) is False


def test_stop_ends_an_async_iteration():
    async def stopped():
        with ios.source("sim:", **SLOW) as rx:
            asyncio.get_running_loop().call_later(0.1, rx.stop)
            return [block async for block in rx]

    blocks = asyncio.run(asyncio.wait_for(stopped(), 30))
    assert sum(len(block) for block in blocks) < 100_000  # the received part of the first block


def test_an_error_ends_an_async_iteration():
    async def failing():
        with ios.source("sim:", rate=0, unplug_at=10_000, block_size=4000) as rx:
            async for _ in rx:
                pass

    with pytest.raises(ios.DeviceError):
        asyncio.run(failing())


def test_an_empty_pool_is_an_error_for_async_readers():
    async def keeping():
        kept = []
        with ios.source("sim:", rate=0, block_size=4096, blocks=4) as rx:
            async for block in rx:
                kept.append(block)

    with pytest.raises(ios.PoolExhausted):
        asyncio.run(keeping())


def test_a_callback_gets_each_block_in_a_separate_thread():
    seen = []
    with ios.source("sim:", rate=0, samples=10_000, block_size=4000) as rx:
        worker = rx.call(lambda block: seen.append((threading.current_thread().name, block.sample_index)))
        assert worker.wait(30)
        assert not worker.running and rx.ended
    assert seen == [("iio-stream-callbacks", index) for index in range(0, 10_000, 1000)]


def test_an_exception_of_the_callback_ends_the_stream():
    def fail(block):
        if block.sequence == 3:
            raise KeyError("my own")

    with ios.source("sim:", rate=0, block_size=4000) as rx:
        worker = rx.call(fail)
        with pytest.raises(KeyError, match="my own"):
            worker.wait(30)
        until(lambda: rx.next(0) is None and rx.ended, "the end")


def test_the_streams_error_is_raised_by_wait():
    with ios.source("sim:", rate=0, unplug_at=10_000) as rx, pytest.raises(ios.DeviceError):
        rx.call(lambda block: None).wait(30)


def test_wait_returns_at_its_timeout_and_stop_ends_the_callbacks():
    with ios.source("sim:", **SLOW) as rx:
        worker = rx.call(print)
        assert worker.wait("10ms") is False and worker.running
        rx.stop()
        assert worker.wait(30)


def test_closing_the_stream_ends_the_callbacks():
    rx = ios.source("sim:", rate="1M")
    worker = rx.call(lambda block: time.sleep(0.001))
    until(lambda: rx.stats.samples > 10_000, "the first samples")
    rx.close()
    until(lambda: not worker.running, "the end of the callbacks")


@pytest.mark.parametrize("program", [
    "worker = rx.call(lambda block: None)",
    "worker = rx.call(lambda block: time.sleep(0.2))",
    "worker = rx.call(lambda block: 1 / 0); time.sleep(0.2)",
    "threading.Thread(target=lambda: list(rx), daemon=True).start(); time.sleep(0.1)",
    "threading.Thread(target=rx.next, args=(None,), daemon=True).start(); sys.exit(0)",
])
@pytest.mark.parametrize("rate", ["1M", "1000, block_size=400_000"])
def test_the_interpreter_ends_while_a_thread_reads(python, program, rate):
    rate = repr(rate) if rate == "1M" else rate
    python(f"""
import sys, threading, time
import iio_stream as ios
rx = ios.source("sim:", rate={rate})
{program}
""")
