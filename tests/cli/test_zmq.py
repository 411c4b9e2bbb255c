# SPDX-License-Identifier: MIT
"""Samples to and from other processes: this command's, and Python's zmq as a foreign one."""
import time

import pytest

from conftest import DEADLINE, ramp

zmq = pytest.importorskip("zmq")


@pytest.fixture
def peer():
    """A socket of another library's user, with deadlines."""
    context = zmq.Context()

    def make(kind):
        socket = context.socket(kind)
        socket.rcvtimeo = socket.sndtimeo = 1000 * DEADLINE
        socket.linger = 0
        return socket

    yield make
    context.destroy(linger=0)


def received(socket, size):
    data = b""
    while len(data) < size:
        data += socket.recv()
    return data


@pytest.mark.parametrize("sender, receiver", [
    ("pattern=push on-full=block", "pattern=pull"),
    ("wait=on on-full=block", ""),
])
def test_from_one_process_to_another(start, tmp_path, sender, receiver):
    address = f"zmq:ipc://{tmp_path}/s"
    taker = start(f"stream {address} {receiver} format=ci16_le verify:ramp --samples 3M --timeout 50s")
    giver = start(f"stream sim: rate=0 {address} {sender} --samples 3M --timeout 50s")
    _, err = giver.communicate(timeout=DEADLINE)
    assert giver.returncode == 0, err
    out, err = taker.communicate(timeout=DEADLINE)
    assert taker.returncode == 0, out + err
    assert b"3000000 samples" in out


def test_a_recording_feeds_another_process(iio, start, tmp_path):
    iio("record sim: rate=0 x --samples 1M")
    taker = start(f"record zmq:ipc://{tmp_path}/s pattern=pull format=ci16_le y.ci16 --samples 1M --timeout 50s")
    iio(f"play x zmq:ipc://{tmp_path}/s pattern=push on-full=block --timeout 50s")
    assert taker.wait(DEADLINE) == 0
    assert (tmp_path / "y.ci16").read_bytes() == (tmp_path / "x.sigmf-data").read_bytes() == ramp(1_000_000)


def test_a_foreign_pull_gets_the_raw_samples(start, peer):
    pull = peer(zmq.PULL)
    port = pull.bind_to_random_port("tcp://127.0.0.1")
    giver = start(f"stream sim: rate=0 zmq:tcp://127.0.0.1:{port} pattern=push bind=off on-full=block"
                  " --samples 500k --timeout 50s")
    assert received(pull, 2_000_000) == ramp(500_000)
    assert giver.wait(DEADLINE) == 0


def test_a_foreign_subscriber_gets_the_raw_samples(start, peer, tmp_path):
    sub = peer(zmq.SUB)
    sub.subscribe(b"")
    sub.connect(f"ipc://{tmp_path}/s")
    giver = start(f"stream sim: rate=0 zmq:ipc://{tmp_path}/s wait=on on-full=block --samples 500k --timeout 50s")
    assert received(sub, 2_000_000) == ramp(500_000)
    assert giver.wait(DEADLINE) == 0


@pytest.mark.parametrize("kind, pattern", [("PUSH", "pull"), ("PUB", "sub")])
def test_a_foreign_senders_samples_are_taken(start, peer, tmp_path, kind, pattern):
    sender = peer(zmq.XPUB if kind == "PUB" else zmq.PUSH)
    port = sender.bind_to_random_port("tcp://127.0.0.1")
    sender.sndhwm = 0
    taker = start(f"record zmq:tcp://127.0.0.1:{port} pattern={pattern} format=ci16_le x.ci16"
                  " --samples 300k --timeout 50s")
    if kind == "PUB":
        assert sender.recv() == b"\1"  # the subscription
    data = ramp(300_000)
    for at in range(0, len(data), 65_536):
        sender.send(data[at:at + 65_536])
    assert taker.wait(DEADLINE) == 0
    assert (tmp_path / "x.ci16").read_bytes() == data


def test_mistakes_name_the_address_and_the_way_out(iio, peer):
    holder = peer(zmq.PUB)
    port = holder.bind_to_random_port("tcp://127.0.0.1")
    error = iio(f"stream sim: zmq:tcp://127.0.0.1:{port} --samples 10", status=1).err
    assert f"bind tcp://127.0.0.1:{port}: Address already in use" in error
    begin = time.monotonic()
    error = iio("stream sim: zmq:tcp://127.0.0.1:1 bind=off pattern=push --samples 10 --timeout 300ms", status=1).err
    assert "connect tcp://127.0.0.1:1" in error and "--timeout" in error
    assert time.monotonic() - begin < DEADLINE / 2
    assert "format=" in iio("stream zmq:tcp://127.0.0.1:1 null:", status=2).err
