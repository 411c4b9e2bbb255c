# SPDX-License-Identifier: MIT
"""Control requests at random, while the board streams."""
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
    """Takes the samples and checks each."""

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
    """A host that has asked for the stream, and reads it."""
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
    """Neither what begins and ends the stream, nor what enumeration and endpoints depend on."""
    of_device = kind & 0x1f == 0
    if kind & 0x60 == 0:
        # CLEAR_FEATURE, SET_FEATURE, SET_INTERFACE; and GET_INTERFACE of 0x100, by which FunctionFS indexes
        # an array of 32 (Debian's 7.3 says so in its log).
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


def test_no_request_disturbs_a_stream():
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    sim(rate=100_000, fifo=1 << 20)  # ten seconds: a stalled machine loses nothing, and no interval is too short
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
                    except OSError as error:  # usbfs itself refuses some
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
    """The host's controller begins a request and cancels it before the board has seen it."""
    process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: all(task.read_text().rsplit(")", 1)[1].split()[0] == "T"
                          for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")), "all its threads' stop")
        with pytest.raises(TimeoutError):
            request.send(*words, timeout=100)
    finally:
        process.send_signal(signal.SIGCONT)


UNFINISHED = [(0x41, SET_ATTR, 0, 0, b"2400000000"), (0xc1, GET_INFO, 0, 0, bytes(1024)), (0x41, STOP, 1, 0, b"")]


def is_answering(process):
    """One of its threads waits for the host to finish a request."""
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            call, *arguments = (task / "syscall").read_text().split()
            if call in ("0", "1") and os.readlink(task / "fd" / str(int(arguments[0], 16))).endswith("/ep0"):
                return True
    return False


@pytest.mark.parametrize("words", UNFINISHED)
def test_a_request_that_never_ends_delays_no_block(words):
    """More blocks come while the board waits for the host than were in flight when it began to."""
    blocks = 4
    sim(rate=400_000)
    with gadget():
        process = board(f"allow=frequency --block-size {BLOCK} --blocks {blocks} --and {FFS} format=ci16_le null:")
        with Request() as request, reading(request) as reader:
            for _ in range(20):  # on a slow machine the board's second is over before they have come
                give_up(request, process, *words)
                until(lambda: is_answering(process), "the unfinished request")
                before = reader.blocks
                until(lambda: reader.blocks > before + 2 * blocks or not is_answering(process), "blocks")
                came = reader.blocks - before
                if came > 2 * blocks and is_answering(process):
                    break
            else:
                pytest.fail(f"{came} blocks came meanwhile")
            until(lambda: not is_answering(process), "the end of the board's patience")
            assert request(0xc1, GET_INFO, 0, 1024), "the next request is heard"
            give_up(request, process, *words)
            began = time.monotonic()
            reader.board_ends = True
            process.terminate()
            end(process)
            assert time.monotonic() - began < 5, "nor does a stop wait"


def test_the_cost_of_a_stall_of_the_board_is_in_the_headers():
    """If a loss has no exact size, the block after it has another index than its samples say, and no
    loss of its own."""
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
            process.terminate()  # the host goes on reading: the board waits for its last blocks
            end(process)
    losses = [lost for _, lost in truth()[0]]
    assert all(lost in losses for _, lost in reader.account.found), (reader.account.found, losses)
