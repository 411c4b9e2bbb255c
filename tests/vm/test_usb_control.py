# SPDX-License-Identifier: MIT
"""Random control requests while the board streams."""
import contextlib
import errno
import os
import pathlib
import random
import signal
import threading
import time

import pytest

import counts
from conftest import sim, truth
from usb import FFS, Request, board, end, endpoints_in, gadget
from waiting import until
from wire import Account

BLOCK = 64 << 10
GET_INFO, START, STOP, SET_ATTR = 1, 2, 3, 6


class Reader(threading.Thread):
    """Reads the samples and checks each of them."""

    def __init__(self, request):
        super().__init__()
        self.request, self.over, self.blocks, self.wrong = request, False, 0, None
        self.board_ends = False
        self.account = Account()

    def run(self):
        try:
            samples, _ = endpoints_in()
            while not self.over:
                header = self.request.read(samples, 1024)
                self.account.block(header, self.request.read(samples, BLOCK))
                self.blocks += 1
        except Exception as error:  # noqa: BLE001 (reported by the test)
            self.wrong = error

    def await_blocks(self, count, what):
        last = self.blocks + count
        until(lambda: self.blocks >= last or self.wrong, what)


@contextlib.contextmanager
def reading(request):
    """A host that has requested the stream, and reads it."""
    until(lambda: request(0xc1, GET_INFO, 0, 1024), "GET_INFO")
    until(lambda: request(0xc1, START, 0, 12), "START")
    reader = Reader(request)
    reader.start()
    try:
        reader.await_blocks(3, "the first blocks")
        yield reader
    finally:
        reader.over = True
        reader.join(30)
    assert reader.wrong is None or reader.board_ends, reader.wrong
    reader.account.check()


def harmless(kind, request):
    """Returns whether a request does not start or end the stream, and does not affect enumeration or the
    endpoints."""
    of_device = kind & 0x1f == 0
    if kind & 0x60 == 0:
        # CLEAR_FEATURE, SET_FEATURE and SET_INTERFACE are not harmless. GET_INTERFACE of 0x100 is not either,
        # because FunctionFS indexes an array of 32 with that number (Debian's 7.3 reports that in its log).
        return not of_device and request not in (1, 3, 10, 11)
    return kind & 0x60 != 0x40 or request not in (2, 3)  # START, STOP


def any_request(chance):
    while True:
        kind = chance.choice((0x00, 0x80)) | chance.choice((0x00, 0x20, 0x40, 0x40, 0x60)) | chance.choice((0, 1, 1, 2, 3))
        request = chance.choice((chance.randrange(8), chance.randrange(256)))
        if harmless(kind, request):
            break
    value = chance.choice((0, 1, chance.randrange(1 << 16)))
    place = {1: (0, 0x0100), 2: (0x81, 0x02, 0x83)}.get(kind & 0x1f, (0, chance.randrange(1 << 16)))
    length = chance.choice((0, 1, 12, 64, 256, chance.randrange(4097), 4096))
    return kind, request, value, chance.choice(place), chance.randbytes(length)


def test_no_control_request_disturbs_a_stream():
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    # The FIFO holds ten seconds, so that a stalled machine loses nothing and no interval is too short.
    sim(rate=100_000, fifo=1 << 20)
    with gadget():
        process = board(f"allow=frequency --block-size {BLOCK}")
        with Request() as request:
            answered = 0
            with reading(request) as reader:
                for n in range(counts.CONTROL_REQUESTS):
                    one = any_request(chance)
                    told = f"seed {seed}, request {n}: {[hex(word) for word in one[:4]]}, {len(one[4])} bytes"
                    try:
                        answered += request.send(*one)
                    except OSError as error:  # usbfs itself refuses some requests
                        assert error.errno in (errno.ENOENT, errno.EINVAL), f"{told}: {error}"
                    assert process.poll() is None and reader.wrong is None, f"{told}: {reader.wrong}"
                    assert n % 50 or request(0xc1, GET_INFO, 0, 1024), told
                reader.await_blocks(3, "blocks after the last request")
            assert not reader.account.found, f"seed {seed}: {reader.account.found}"
            assert 0 < answered < counts.CONTROL_REQUESTS
            until(lambda: request(0x41, 3, 0, 0), "STOP")
        process.terminate()
        end(process)


def give_up(request, process, *words):
    """Makes the host's controller start a request, and cancel it before the board has received it."""
    process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: all(task.read_text().rsplit(")", 1)[1].split()[0] == "T"
                          for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")), "its threads are stopped")
        with pytest.raises(TimeoutError):
            request.send(*words, timeout=100)
    finally:
        process.send_signal(signal.SIGCONT)


UNFINISHED = [(0x41, SET_ATTR, 0, 0, b"2400000000"), (0xc1, GET_INFO, 0, 0, bytes(1024)), (0x41, STOP, 1, 0, b"")]


def is_answering(process):
    """Returns whether one of the program's threads waits for the host to finish a request."""
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            call, *arguments = (task / "syscall").read_text().split()
            if call in ("0", "1") and os.readlink(task / "fd" / str(int(arguments[0], 16))).endswith("/ep0"):
                return True
    return False


@pytest.mark.parametrize("words", UNFINISHED)
def test_a_request_that_never_ends_does_not_delay_any_block(words):
    """While the board waits for the host, more blocks arrive than were in flight when the wait began."""
    blocks = 4
    # The FIFO holds ten seconds, so that stopping the board, or a slow machine, loses no samples. An overflow register
    # reports a loss late, and until then the index of the headers is not what the reader expects.
    sim(rate=400_000, fifo=1 << 22)
    with gadget():
        process = board(f"allow=frequency --block-size {BLOCK} --blocks {blocks} --and {FFS} format=ci16_le null:")
        with Request() as request, reading(request) as reader:
            # On a slow machine, the board's timeout of one second ends before the blocks have arrived.
            for _ in range(20):
                give_up(request, process, *words)
                until(lambda: is_answering(process), "the unfinished request")
                before = reader.blocks
                until(lambda: reader.blocks > before + 2 * blocks or reader.wrong or not is_answering(process), "blocks")
                assert reader.wrong is None, reader.wrong
                came = reader.blocks - before
                if came > 2 * blocks and is_answering(process):
                    break
            else:
                pytest.fail(f"only {came} blocks arrived in the meantime")
            until(lambda: not is_answering(process), "the board's timeout")
            assert request(0xc1, GET_INFO, 0, 1024), "the next request is not answered"
            give_up(request, process, *words)
            began = time.monotonic()
            reader.board_ends = True
            process.terminate()
            end(process)
            assert time.monotonic() - began < 5, "the stop waited"


def test_the_headers_report_the_losses_of_a_stalled_board():
    """If a loss has no exact size, the next block has an index that differs from its samples, and no loss of
    its own."""
    sim(rate=100_000)
    with gadget():
        process = board(f"--block-size {BLOCK} --blocks 4")
        with Request() as request, reading(request) as reader:
            for _ in range(2):
                process.send_signal(signal.SIGSTOP)
                time.sleep(1)  # three times as long as the blocks last
                process.send_signal(signal.SIGCONT)
                found = len(reader.account.found)
                until(lambda: len(reader.account.found) > found or reader.wrong, "a loss at the host")
                reader.await_blocks(20, "blocks after it")
            reader.board_ends = True
            # The host continues to read, because the board waits until its last blocks are read.
            process.terminate()
            end(process)
    losses = [lost for _, lost in truth()[0]]
    assert all(lost in losses for _, lost in reader.account.found), (reader.account.found, losses)
