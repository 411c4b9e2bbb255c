# SPDX-License-Identifier: MIT
"""close() of one stream by several threads at once: each gets the summary, and no one waits for ever."""
import contextlib
import sys
import threading

import pytest
from conftest import DEADLINE, ramp

import iio_stream as ios

ROUNDS = 100


@pytest.fixture(autouse=True)
def many_switches():
    """The interpreter changes threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*calls):
    """What each call returns, or raises, on a thread of its own; all begin at the same time."""
    results = [None] * len(calls)
    begin = threading.Barrier(len(calls))

    def run(place, call):
        begin.wait(DEADLINE)
        try:
            results[place] = call()
        except BaseException as error:
            results[place] = error

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    return results


def is_refusal(result):
    return isinstance(result, ValueError) and str(result) == "the stream is closed"


def check_closed(stream, closed, others):
    assert stream.closed and all(isinstance(one, ios.Summary) for one in closed), closed
    assert all(one == closed[0] for one in closed) and stream.close() == closed[0]
    failed = [one for one in others if isinstance(one, BaseException) and not is_refusal(one)]
    assert not failed, failed


@pytest.mark.parametrize("rate", [0, 1000])  # blocks without an end, or none before the close
def test_readers_wait_in_next_while_several_threads_close(rate):
    for _ in range(ROUNDS):
        rx = ios.source("sim:", rate=rate, block_size=16384, timeout="1h")
        taken = []

        def iterate(rx=rx, taken=taken):
            for block in rx:
                taken.append(block.sequence)

        rx.start()
        *closed, one, other, stats = together(rx.close, rx.close, rx.close, rx.close, iterate, rx.next,
                                              lambda rx=rx: rx.stats)
        check_closed(rx, closed, [one, other])
        assert len(set(taken)) == len(taken) and isinstance(stats, ios.Stats)


def test_a_reader_in_read_is_ended_by_several_threads():
    for _ in range(ROUNDS):
        rx = ios.source("sim:", rate=0, block_size=16384)
        assert len(rx.read(1000)) == 1000  # of a block that is left
        *closed, read = together(rx.close, rx.close, rx.close, lambda rx=rx: [rx.read(3) for _ in range(999)])
        check_closed(rx, closed, [read])


def test_callbacks_run_while_several_threads_close():
    for _ in range(ROUNDS // 4):
        rx = ios.source("sim:", rate=0, block_size=16384)
        worker = rx.call(lambda block: 1 / 0)
        check_closed(rx, together(rx.close, rx.close, rx.close), [])
        with contextlib.suppress(ZeroDivisionError):  # no block may have come
            worker.wait(DEADLINE)
        assert not worker.running


def test_a_with_block_ends_while_another_thread_closes():
    for _ in range(ROUNDS):
        with ios.source("sim:", rate=0, block_size=16384) as rx:
            rx.next()
            closing = threading.Thread(target=rx.close)
            closing.start()
        closing.join(DEADLINE)
        assert rx.closed and rx.summary is not None and not closing.is_alive()


def test_writers_close_once_and_lose_nothing(tmp_path):
    for number in range(ROUNDS // 4):
        path = tmp_path / f"{number}.ci16"
        tx = ios.sink(path, format="ci16_le", block_size=16384)
        tx.write(ramp(0, 40_000))
        *closed, took = together(tx.close, tx.close, tx.close, tx.close, lambda tx=tx: tx.take(timeout="1h"))
        check_closed(tx, closed, [took])
        assert closed[0].stats.samples == 10_000 and path.read_bytes() == ramp(0, 40_000)


def test_threads_that_close_a_writer_get_its_error(tmp_path):
    for _ in range(ROUNDS // 4):
        tx = ios.sink("/dev/full", format="ci16_le", block_size=16384)
        tx.write(ramp(0, 4000))
        results = together(tx.close, tx.close, tx.close, tx.close)
        errors = [one for one in results if isinstance(one, ios.Error) and one.errno == 28]
        late = [one for one in results if isinstance(one, ios.Summary) and one.error is not None]
        assert errors and len(errors) + len(late) == 4, results  # late: it was closed
        assert tx.closed and tx.summary.error is not None
