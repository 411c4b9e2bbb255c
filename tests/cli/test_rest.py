# SPDX-License-Identifier: MIT
"""A source delivers all samples that it has received, however the stream ends. If samples arrive slowly, it
does not wait for a full block. The samples come from real pipes, FIFOs, sockets and peers, and these stay
open."""
import array
import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import struct
import termios
import threading

import pytest
from conftest import DEADLINE, ramp
from tcp_peer import connect, exactly
from test_zmq import make_index

BLOCK = 65536
DATA = ramp(BLOCK // 4 * 3 // 2)  # one block and a half
LONG = "--block-size 64Ki --blocks 4 --timeout 50s --json"


class Stream:
    """A stream from a source to standard output. The test reads the output as needed."""

    def __init__(self, process):
        self.process = process
        self.out = process.stdout.fileno()

    def read(self, size):
        """Reads `size` bytes, or fewer at the end of the stream."""
        data = b""
        while len(data) < size:
            ready, _, _ = select.select([self.out], [], [], DEADLINE)
            assert ready, f"{len(data)} of {size} bytes within {DEADLINE} s"
            more = os.read(self.out, size - len(data))
            if not more:
                break
            data += more
        return data

    def rest(self, status=0):
        """Waits for the end of the stream. Returns the remaining bytes and the summary."""
        data = self.read(1 << 30)
        err = self.process.stderr.read()
        assert self.process.wait(DEADLINE) == status, err
        return data, json.loads(next(line for line in err.decode().splitlines() if line.startswith("{")))


@pytest.fixture
def from_stdin(start):
    """The source is a pipe."""
    def begin(data, options=""):
        stream = Stream(start(f"stream - format=ci16_le {options} - {LONG}", stdin=-1))
        stream.process.stdin.write(data)
        stream.process.stdin.flush()
        stream.send = lambda more: (stream.process.stdin.write(more), stream.process.stdin.flush())
        return stream
    return begin


@pytest.fixture
def from_socket(start):
    ours, theirs = socket.socketpair()

    def begin(data, options=""):
        stream = Stream(start(f"stream - format=ci16_le {options} - {LONG}", stdin=theirs))
        stream.send = ours.sendall
        stream.send(data)
        return stream
    with ours, theirs:
        yield begin


@pytest.fixture
def from_fifo(start, tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with contextlib.ExitStack() as open_files:
        def begin(data, options=""):
            stream = Stream(start(f"stream file:{path} format=ci16_le {options} - {LONG}"))
            stream.send = open_files.enter_context(open(path, "wb", buffering=0)).write
            assert stream.send(data) == len(data)
            return stream
        yield begin


@pytest.fixture
def from_zmq(start):
    zmq = pytest.importorskip("zmq")
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    push.sndtimeo = 1000 * DEADLINE
    port = push.bind_to_random_port("tcp://127.0.0.1")

    def begin(data, options=""):
        stream = Stream(start(f"stream zmq:tcp://127.0.0.1:{port} pattern=pull format=ci16_le {options} - {LONG}"))
        stream.send = push.send if isinstance(data, bytes) else push.send_multipart
        stream.send(data)
        return stream
    yield begin
    context.destroy(linger=0)


@pytest.fixture
def from_tcp(start, port):
    """A second iio-stream process sends. A relay passes on `data` and holds back everything after it."""
    server = socket.create_server(("127.0.0.1", 0))
    kept, come = [], threading.Event()

    def relay(size):
        taker, _ = server.accept()
        giver = connect(port)
        kept.extend([taker, giver])
        head = exactly(taker, 16)
        giver.sendall(head + exactly(taker, struct.unpack("<I", head[8:12])[0]))
        head = exactly(giver, 16)
        taker.sendall(head + exactly(giver, struct.unpack("<I", head[8:12])[0]))
        while size > 0:
            raw = exactly(giver, 100)
            data = exactly(giver, struct.unpack("<I", raw[40:44])[0])
            taker.sendall(raw + data[:size])
            size -= len(data)
        unsent = array.array("i", [1])
        while unsent[0] != 0:  # bytes that the kernel of the other end has not acknowledged
            fcntl.ioctl(taker, termios.TIOCOUTQ, unsent)
        come.set()

    def begin(data, options="", check=""):
        start(f"stream sim: rate=0 tcp:127.0.0.1:{port} {check} wait=50s --block-size 64Ki")
        threading.Thread(target=relay, args=(len(data),), daemon=True).start()
        stream = Stream(start(f"stream tcp:127.0.0.1:{server.getsockname()[1]} {check} {options} - {LONG}"
                              .replace("--block-size 64Ki", "")))
        assert come.wait(DEADLINE)
        stream.end = lambda: kept[0].shutdown(socket.SHUT_RDWR)
        return stream
    yield begin
    for one in [server, *kept]:
        one.close()


SOURCES = ["from_stdin", "from_socket", "from_fifo", "from_zmq", "from_tcp"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("source", SOURCES)
def test_a_signal_ends_the_stream_after_all_received_samples(request, source, number):
    stream = request.getfixturevalue(source)(DATA)
    first = stream.read(BLOCK)
    stream.process.send_signal(number)
    data, summary = stream.rest()
    assert first + data == DATA
    assert summary["ended"] == "signal" and summary["samples"] == len(DATA) // 4
    assert summary["gaps"]["certain"] == summary["gaps"]["possible"] == 0


@pytest.mark.parametrize("source", SOURCES)
def test_a_duration_ends_the_stream_after_all_received_samples(request, source):
    stream = request.getfixturevalue(source)(DATA, "--duration 3s")
    data, summary = stream.rest()
    assert data == DATA and summary["ended"] == "duration"


def test_a_duration_does_not_wait_for_a_full_block(start):
    """At 100 samples per second a block of 64 KiB holds 164 seconds."""
    stream = Stream(start(f"stream - format=ci16_le rate=100 --duration 1s - {LONG}", stdin=-1))
    stream.process.stdin.write(DATA[:200])
    stream.process.stdin.flush()
    data, summary = stream.rest()
    assert data == DATA[:200] and summary["ended"] == "duration"


@pytest.mark.parametrize("source", [one for one in SOURCES if one != "from_tcp"])
def test_a_number_of_samples_is_exact(request, source):
    stream = request.getfixturevalue(source)(DATA, "--samples 20001")
    data, summary = stream.rest()
    assert data == DATA[:80004] and summary["ended"] == "samples"


@pytest.mark.parametrize("source", [one for one in SOURCES if one != "from_tcp"])
def test_a_slow_source_delivers_a_part_of_a_block(request, source):
    stream = request.getfixturevalue(source)(DATA[:400])
    assert stream.read(400) == DATA[:400]
    stream.send(DATA[400:420])
    assert stream.read(20) == DATA[400:420]
    stream.process.send_signal(signal.SIGINT)
    assert stream.rest()[0] == b""


def test_a_slow_stream_over_tcp_does_not_wait_for_full_blocks(start, port, tmp_path):
    """The source of the sender is a pipe. Neither end waits for a full block."""
    sends = start(f"stream - format=ci16_le tcp:127.0.0.1:{port} wait=50s", stdin=-1)
    stream = Stream(start(f"stream tcp:127.0.0.1:{port} wait=50s - --timeout 50s --json"))
    sends.stdin.write(DATA[:400])
    sends.stdin.flush()
    assert stream.read(400) == DATA[:400]
    sends.send_signal(signal.SIGINT)
    assert stream.rest()[1]["ended"] == "eof"


def test_an_incomplete_block_with_a_checksum_is_delivered_by_the_receiver(from_tcp):
    """The checksum covers the whole block, so the receiver marks the part as unverified. The sender counts
    the block as not received."""
    stream = from_tcp(DATA, check="check=crc32c")
    first = stream.read(BLOCK)
    stream.process.send_signal(signal.SIGINT)
    assert first + stream.rest()[0] == DATA


def test_a_loss_ends_the_stream_after_the_samples_before_it(from_zmq):
    stream = from_zmq([make_index(0, 0), DATA[:400]], "index=on --on-gap stop")
    stream.send([make_index(2, 1000), DATA[:400]])
    data, summary = stream.rest(status=4)
    assert data == DATA[:400] and summary["ended"] == "gap"


def test_samples_before_an_error_of_the_source_are_delivered(from_zmq):
    stream = from_zmq(DATA[:400])
    stream.send(b"no sample")
    data, summary = stream.rest(status=1)
    assert data == DATA[:400] and summary["ended"] == "error" and "9 bytes" in summary["error"]["message"]


def test_the_start_of_a_block_is_delivered_if_the_connection_breaks(from_tcp):
    stream = from_tcp(DATA)
    first = stream.read(BLOCK)
    stream.end()
    data, summary = stream.rest(status=3)
    assert first + data == DATA and summary["ended"] == "error"


def test_an_incomplete_sample_is_an_error_only_at_the_end_of_a_pipe(from_stdin):
    stopped = from_stdin(DATA[:402])
    assert stopped.read(400) == DATA[:400]
    stopped.process.send_signal(signal.SIGINT)
    assert stopped.rest()[0] == b""
    ended = from_stdin(DATA[:402])
    ended.process.stdin.close()
    ended.process.stdin = None
    assert ended.rest(status=5)[0] == DATA[:400]
