# SPDX-License-Identifier: MIT
"""Several threads close() one stream at the same time. Each gets the summary, and none waits forever."""
import contextlib
import sys
import threading

import pytest
from conftest import DEADLINE, ramp

import iio_stream as ios

ROUNDS = 100


@pytest.fixture(autouse=True)
def many_switches():
    """Makes the interpreter switch between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*calls):
    """Starts all calls at the same time in separate threads. Returns their results or exceptions."""
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


@pytest.mark.parametrize("rate", [0, 1000])  # endless blocks, or none before the close
def test_several_threads_can_close_a_reader_while_others_read(rate):
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


def test_several_threads_can_close_a_reader_during_read():
    for _ in range(ROUNDS):
        rx = ios.source("sim:", rate=0, block_size=16384)
        assert len(rx.read(1000)) == 1000  # leaves the rest of a block
        *closed, read = together(rx.close, rx.close, rx.close, lambda rx=rx: [rx.read(3) for _ in range(999)])
        check_closed(rx, closed, [read])


def test_several_threads_can_close_a_reader_during_callbacks():
    for _ in range(ROUNDS // 4):
        rx = ios.source("sim:", rate=0, block_size=16384)
        worker = rx.call(lambda block: 1 / 0)
        check_closed(rx, together(rx.close, rx.close, rx.close), [])
        with contextlib.suppress(ZeroDivisionError):  # possibly no block has arrived
            worker.wait(DEADLINE)
        assert not worker.running


def test_a_with_block_can_end_while_another_thread_closes():
    for _ in range(ROUNDS):
        with ios.source("sim:", rate=0, block_size=16384) as rx:
            rx.next()
            closing = threading.Thread(target=rx.close)
            closing.start()
        closing.join(DEADLINE)
        assert rx.closed and rx.summary is not None and not closing.is_alive()


def test_several_threads_can_close_a_writer_without_loss(tmp_path):
    for number in range(ROUNDS // 4):
        path = tmp_path / f"{number}.ci16"
        tx = ios.sink(path, format="ci16_le", block_size=16384)
        tx.write(ramp(0, 40_000))
        *closed, took = together(tx.close, tx.close, tx.close, tx.close, lambda tx=tx: tx.take(timeout="1h"))
        check_closed(tx, closed, [took])
        assert closed[0].stats.samples == 10_000 and path.read_bytes() == ramp(0, 40_000)


def test_each_thread_that_closes_a_writer_gets_its_error(tmp_path):
    for _ in range(ROUNDS // 4):
        tx = ios.sink("/dev/full", format="ci16_le", block_size=16384)
        tx.write(ramp(0, 4000))
        results = together(tx.close, tx.close, tx.close, tx.close)
        errors = [one for one in results if isinstance(one, ios.Error) and one.errno == 28]
        late = [one for one in results if isinstance(one, ios.Summary) and one.error is not None]
        assert errors and len(errors) + len(late) == 4, results  # late: the writer was closed already
        assert tx.closed and tx.summary.error is not None
