# SPDX-License-Identifier: MIT
"""zmq: exchanges samples with other iio-stream processes, and with Python's zmq as a foreign program."""
import json
import os
import signal
import struct
import time

import pytest

from conftest import DEADLINE, ramp

zmq = pytest.importorskip("zmq")
pytest.importorskip("zmq.auth")


@pytest.fixture
def peer():
    """Makes sockets of Python's zmq, with deadlines."""
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
def test_samples_arrive_at_another_process_of_the_command(start, tmp_path, sender, receiver):
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
def test_a_foreign_senders_samples_are_accepted(start, peer, tmp_path, kind, pattern):
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


def test_errors_name_the_address_and_a_fix(iio, peer):
    holder = peer(zmq.PUB)
    port = holder.bind_to_random_port("tcp://127.0.0.1")
    error = iio(f"stream sim: zmq:tcp://127.0.0.1:{port} --samples 10", status=3).err
    assert f"bind tcp://127.0.0.1:{port}: Address already in use" in error
    begin = time.monotonic()
    error = iio("stream sim: zmq:tcp://127.0.0.1:1 bind=off pattern=push --samples 10 --timeout 300ms", status=3).err
    assert "connect tcp://127.0.0.1:1" in error and "--timeout" in error
    assert time.monotonic() - begin < DEADLINE / 2
    error = iio("stream zmq:tcp://127.0.0.1:1 format=ci16_le null: --timeout 300ms", status=3).err
    assert "tcp://127.0.0.1:1" in error and "no message has arrived" in error
    assert "format=" in iio("stream zmq:tcp://127.0.0.1:1 null:", status=2).err


def summary_of(process):
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    return json.loads(out)


def all_of(*sockets, until):
    """Receives until a process has ended and nothing more arrives. Returns the messages of each socket, as
    lists of parts."""
    poller, messages = zmq.Poller(), {socket: [] for socket in sockets}
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
    end = time.monotonic() + DEADLINE
    while (ready := poller.poll(300)) or until.poll() is None:
        assert time.monotonic() < end
        for socket, _ in ready:
            messages[socket].append(socket.recv_multipart())
    return list(messages.values())


def values(data):
    return struct.unpack(f"<{len(data) // 8}Q", data)


def index_of(part):
    """Decodes the first part of a message as docs/zmq.md defines it."""
    key, version, sample_bytes, stream, sequence, first, doubt, reach, spread = struct.unpack("<16sII6Q", part)
    assert (key, version, sample_bytes) == (b"iio-stream:index", 1, 4)
    return stream, sequence, first, doubt, reach, spread


def make_index(sequence, first, doubt=0, reach=0, spread=0, stream=7):
    return struct.pack("<16sII6Q", b"iio-stream:index", 1, 4, stream, sequence, first, doubt, reach, spread)


def test_a_slow_subscriber_causes_no_loss_for_the_others(start, peer, tmp_path):
    slow, quick = peer(zmq.SUB), peer(zmq.SUB)
    slow.rcvhwm, quick.rcvhwm = 1, 0
    for socket in slow, quick:
        socket.subscribe(b"")
        socket.connect(f"ipc://{tmp_path}/s")
    giver = start(f"stream sim: pattern=ramp rate=2M zmq:ipc://{tmp_path}/s wait=on hwm=400 --block-size 16Ki --blocks 1000"
                  " --samples 4Mi --timeout 4s --json")
    got = b"".join(part for message in all_of(quick, until=giver)[0] for part in message)
    sink = summary_of(giver)["sinks"][0]
    first = values(got[:8])[0] * 2  # a late subscriber gets no earlier samples
    assert got == ramp(4 << 20)[4 * first:]
    assert sink["delivered_samples"] + sink["dropped_samples"] == 4 << 20
    assert len(sink["report"]["subscribers"]) == 2
    lossy, whole = sorted(sink["report"]["subscribers"], key=lambda one: -one["dropped_samples"])
    assert whole["dropped_samples"] == 0 and 4 * whole["delivered_samples"] == len(got)
    assert lossy["dropped_samples"] > 1 << 20
    received = b"".join(part for message in all_of(slow, until=giver)[0] for part in message)
    assert len(received) <= 4 * lossy["delivered_samples"]
    for at in range(0, len(received), 16 << 10):
        word = values(received[at:at + 8])[0]
        assert received[at:at + (16 << 10)] == struct.pack("<2048Q", *range(word, word + 2048))


def test_simultaneous_subscribers_have_their_own_counters(start, peer, tmp_path):
    sockets = [peer(zmq.SUB) for _ in range(12)]
    for socket in sockets:
        socket.subscribe(b"")
        socket.rcvhwm = 0
        socket.connect(f"ipc://{tmp_path}/s")
    giver = start(f"stream sim: pattern=ramp rate=1M zmq:ipc://{tmp_path}/s wait=on --samples 3M --block-size 16Ki --blocks 1000"
                  " --json --timeout 50s")
    got = [b"".join(part for message in messages for part in message)
           for messages in all_of(*sockets, until=giver)]
    sink, whole = summary_of(giver)["sinks"][0], ramp(3_000_000)
    for data in got:
        assert data == whole[8 * values(data[:8])[0]:]
    assert sorted(4 * one["delivered_samples"] for one in sink["report"]["subscribers"]) == sorted(map(len, got))


def test_a_subscriber_after_another_has_left_is_served(start, peer, tmp_path):
    giver = start(f"stream sim: pattern=ramp rate=1M zmq:ipc://{tmp_path}/s --duration 1h --block-size 16Ki --json")
    for _ in range(3):
        sub = peer(zmq.SUB)
        sub.subscribe(b"")
        sub.connect(f"ipc://{tmp_path}/s")
        assert len(sub.recv()) == 16 << 10
        sub.close()
    giver.send_signal(signal.SIGINT)
    out, _ = giver.communicate(timeout=DEADLINE)
    assert len(json.loads(out)["sinks"][0]["report"]["subscribers"]) == 3


def test_the_index_shows_what_a_subscriber_misses(start, peer):
    sub = peer(zmq.SUB)
    sub.rcvhwm = 1
    sub.subscribe(b"iio-stream")
    port = sub.bind_to_random_port("tcp://127.0.0.1")
    giver = start(f"stream sim: pattern=ramp rate=50M zmq:tcp://127.0.0.1:{port} bind=off hwm=2 index=on --samples 20M "
                  "--block-size 16Ki --timeout 5s --json")
    assert sub.poll(1000 * DEADLINE)
    time.sleep(0.3)
    messages, = all_of(sub, until=giver)
    subscriber, = summary_of(giver)["sinks"][0]["report"]["subscribers"]
    samples = 0
    for part, data in messages:
        stream, sequence, first, doubt, reach, spread = index_of(part)
        assert first == 2 * values(data[:8])[0]  # the ramp shows the true index
        assert stream == index_of(messages[0][0])[0] and (doubt, reach, spread) == (0, 0, 0)
        samples += len(data) // 4
    assert samples == subscriber["delivered_samples"]
    assert subscriber["dropped_samples"] > 0


@pytest.mark.parametrize("index, gaps", [
    # sequence, first, doubt, reach, spread of three messages of 1000 samples; the reported losses
    ([(0, 500), (1, 1500), (2, 2500)], (0, 0, 0, 0)),
    ([(0, 500), (3, 3500), (4, 4700)], (2, 0, 2200, 2200)),              # lost messages; a loss of the sender's source
    ([(0, 0), (1, 1000, 700, 40, 1), (2, 2000, 700, 0, 1)], (0, 1, 0, 700)),
    ([(0, 0), (2, 2000, 700, 0, 1), (3, 3000, 700, 0, 1)], (1, 1, 1000, 1700)),
    ([(0, 0, 2**64 - 1), (1, 1100, 2**64 - 1), (2, 2100, 2**64 - 1)], (1, 1, 100, None)),
    ([(0, 0), (0, 0, 0, 0, 0, 8), (1, 1000, 0, 0, 0, 8)], (0, 1, 0, None)),  # another sender
])
def test_losses_are_computed_from_the_index(start, peer, tmp_path, index, gaps):
    push = peer(zmq.PUSH)
    port = push.bind_to_random_port("tcp://127.0.0.1")
    taker = start(f"record zmq:tcp://127.0.0.1:{port} pattern=pull index=on format=ci16_le x.ci16"
                  " --samples 3000 --timeout 50s --json")
    data = [bytes([number]) * 4000 for number in range(3)]
    for numbers, samples in zip(index, data):
        push.send_multipart([make_index(*numbers), samples])
    summary = summary_of(taker)
    told = summary["gaps"]
    assert (told["certain"], told["possible"], told["lost_min"], told["lost_max"]) == gaps
    assert told["evidence"] == ["counter"] and summary["samples"] == 3000
    assert (tmp_path / "x.ci16").read_bytes() == b"".join(data)


def test_without_an_index_the_number_of_losses_is_unknown(start, peer, tmp_path):
    push = peer(zmq.PUSH)
    port = push.bind_to_random_port("tcp://127.0.0.1")
    taker = start(f"record zmq:tcp://127.0.0.1:{port} pattern=pull format=ci16_le x --samples 1000 --timeout 50s --json")
    push.send(ramp(1000))
    gaps = summary_of(taker)["gaps"]
    assert gaps["lost_max"] is None and gaps["evidence"] == [] and gaps["lost_min"] == 0


def says_that_losses_are_unknown(iio, recording, samples):
    """Checks the metadata of a recording, and the output of verify and stream."""
    metadata = json.loads(recording.read_text())
    annotation, = [one for one in metadata["annotations"] if "iio_stream:lost_min" in one]
    assert (annotation["core:sample_start"], annotation["core:sample_count"]) == (0, samples)
    assert (annotation["iio_stream:lost_min"], annotation["iio_stream:lost_max"]) == (0, None)
    checked = iio("verify", recording, "--max-lost 0 --json", status=4).json
    assert checked["recording"]["gaps"]["lost_max"] is None
    summary = iio("stream", recording, "null: --max-lost 0 --json", status=4).json
    assert (summary["gaps"]["possible"], summary["gaps"]["lost_max"]) == (1, None)


@pytest.mark.parametrize("options, names", [("", ["x"]), ("rotate_bytes=4Ki", ["x.0000", "x.0001", "x.0002"])])
def test_a_recording_without_an_index_says_that_its_losses_are_unknown(iio, start, peer, tmp_path, options, names):
    push = peer(zmq.PUSH)
    port = push.bind_to_random_port("tcp://127.0.0.1")
    taker = start(f"record zmq:tcp://127.0.0.1:{port} pattern=pull format=ci16_le rate=1M x.sigmf-meta {options}"
                  " --block-size 4Ki --samples 3072 --timeout 50s --max-lost 0 --json")
    push.send(ramp(3072))
    out, err = taker.communicate(timeout=DEADLINE)
    assert taker.returncode == 4 and json.loads(out)["gaps"]["lost_max"] is None, err
    for name in names:
        says_that_losses_are_unknown(iio, tmp_path / f"{name}.sigmf-meta", 3072 // len(names))
    listed = iio("archive list . --json").json
    assert [one["gaps"]["lost_max"] for one in listed["recordings"]] == [None]  # the parts are one recording


def test_a_killed_recording_without_an_index_says_that_its_losses_are_unknown(iio, start, peer, tmp_path):
    push = peer(zmq.PUSH)
    port = push.bind_to_random_port("tcp://127.0.0.1")
    taker = start(f"record zmq:tcp://127.0.0.1:{port} pattern=pull format=ci16_le rate=1M x.sigmf-meta engine=buffered"
                  " --block-size 4Ki --timeout 50s")
    push.send(ramp(1024))
    journal, end = tmp_path / "x.sigmf-data.journal", time.monotonic() + DEADLINE
    while not (journal.exists() and b'"bytes":4096' in journal.read_bytes()):
        assert time.monotonic() < end
        time.sleep(0.05)
    taker.kill()
    taker.wait()
    iio("recover x.sigmf-meta", status=None)
    says_that_losses_are_unknown(iio, tmp_path / "x.sigmf-meta", 1024)


def test_tcp_passes_on_that_losses_are_unknown(iio, start, peer, tmp_path, port):
    push = peer(zmq.PUSH)
    source = push.bind_to_random_port("tcp://127.0.0.1")
    relay = start(f"stream zmq:tcp://127.0.0.1:{source} pattern=pull format=ci16_le rate=1M tcp:127.0.0.1:{port}"
                  " --samples 1024 --timeout 50s --json")
    taker = start(f"record tcp:127.0.0.1:{port} wait=20s x.sigmf-meta --timeout 50s --json")
    push.send(ramp(1024))
    assert summary_of(relay)["gaps"]["lost_max"] is None
    assert summary_of(taker)["gaps"]["lost_max"] is None
    says_that_losses_are_unknown(iio, tmp_path / "x.sigmf-meta", 1024)


@pytest.mark.parametrize("parts, options, word", [
    ([make_index(0, 0), bytes(40)], "", "index=on"),
    ([bytes(40)], "index=on", "index=on"),
    ([b"iio-stream:index" + bytes(56), bytes(40)], "index=on", "without an index"),
    ([make_index(0, 2**63), bytes(40)], "index=on", "without an index"),
    ([make_index(0, 0), bytes(40), bytes(40)], "index=on", "one part"),
    ([make_index(0, 0), bytes(42)], "index=on", "42 bytes"),
    ([make_index(0, 0), bytes(40)], "index=on format=cf32_le", "samples of 4 bytes, not 8"),
])
def test_a_malformed_message_ends_the_stream(start, peer, parts, options, word):
    push = peer(zmq.PUSH)
    port = push.bind_to_random_port("tcp://127.0.0.1")
    options = options if "format" in options else options + " format=ci16_le"
    taker = start(f"stream zmq:tcp://127.0.0.1:{port} pattern=pull {options} null: --samples 100 --timeout 50s")
    push.send_multipart(parts)
    _, err = taker.communicate(timeout=DEADLINE)
    assert taker.returncode == 1 and word in err.decode()


@pytest.mark.parametrize("pattern", ["pub", "push"])
@pytest.mark.parametrize("bind", ["on", "off"])
def test_without_a_receiver_samples_are_dropped_without_waiting(iio, tmp_path, pattern, bind):
    begin = time.monotonic()
    summary = json.loads(iio(f"stream sim: rate=0 zmq:ipc://{tmp_path}/nowhere pattern={pattern} bind={bind} wait=off"
                             " --samples 1M --timeout 1h --json").out)
    sink = summary["sinks"][0]
    assert (sink["delivered_samples"], sink["dropped_samples"], sink["bytes"]) == (0, 1_000_000, 0)
    assert sink["report"]["unheard_samples"] <= 1_000_000
    assert summary["closing_seconds"] < 4  # libzmq waits forever by default; a hang here would take longer
    assert time.monotonic() - begin < DEADLINE


def test_without_libzmq_the_error_says_what_to_install(iio, tmp_path):
    (tmp_path / "libzmq.so.5").write_bytes(b"")  # the loader finds this file first, and it is not a library
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    err = iio("stream sim: zmq:tcp://127.0.0.1:* --samples 9", env=environment, status=1).err
    assert "libzmq.so.5" in err and "sudo apt install libzmq5" in err
    iio("stream sim: null: --samples 9", env=environment)  # other endpoints do not need libzmq
