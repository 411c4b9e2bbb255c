# SPDX-License-Identifier: MIT
"""tcp: with peers written in Python. One follows the protocol, and the others do not."""
import contextlib
import json
import socket
import struct
import threading
import zlib

import pytest
from conftest import ramp
from tcp_peer import LONG, Header, acknowledge, connect, exactly, finished, join, message


def test_a_foreign_receiver_gets_headers_and_samples(start, port):
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} --samples 100k --block-size 64Ki {LONG}")
    peer, text = join(port)
    assert text["to_host"]["channels"][0]["type"] == "le:s16/16>>0" and text["to_host"]["wire_bytes"] == 65536
    data, index = b"", 0
    while True:
        header = Header(peer)
        assert header.index == index
        acknowledge(peer, header)
        if header.end:
            break
        data += header.data
        index += len(header.data) // 4
    assert data == ramp(100_000)
    assert "disconnected before" not in finished(sends)


def test_unacknowledged_blocks_are_sent_again_after_a_reconnect(start, port):
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} reconnect=20s --samples 100k --block-size 64Ki"
                  f" --json {LONG}")
    peer, _ = join(port)
    data = b""
    for _ in range(3):
        header = Header(peer)
        data += header.data
    acknowledge(peer, header)
    Header(peer)  # received, but not acknowledged
    peer.recv(1000)  # in the middle of a block
    peer.close()
    peer, _ = join(port, stream_id=header.stream_id, sequence=header.sequence + 1)
    while not (header := Header(peer)).end:
        assert header.index * 4 == len(data)
        data += header.data
        acknowledge(peer, header)
    acknowledge(peer, header)
    assert data == ramp(100_000)
    summary = json.loads(finished(sends))
    assert summary["sinks"][0]["delivered_samples"] == 100_000
    assert "connections broken: 1, blocks sent again: " in summary["route"][-1]["reason"]


def test_a_receiver_that_is_killed_ends_the_stream(start, port):
    sends = start(f"stream sim: rate=1M tcp:127.0.0.1:{port} --json {LONG}")
    peer, _ = join(port)
    Header(peer)
    peer.close()
    summary = json.loads(finished(sends, 3).splitlines()[0])
    assert summary["error"]["object"] == f"tcp:127.0.0.1:{port}" and "reconnect=" in summary["error"]["hint"]
    sink = summary["sinks"][0]
    assert sink["dropped_samples"] > 0


def test_a_receiver_that_reads_nothing_ends_the_stream(start, port):
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} --timeout 1s")
    peer, _ = join(port)
    text = finished(sends, 3)
    assert "took nothing for 10000 ms" in text
    peer.close()


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"IIOT" + b"\xff" * 100, b""])
def test_connections_that_send_garbage_do_not_harm_the_stream(start, port, tmp_path, garbage):
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} --samples 500k --json {LONG}")
    strangers = [connect(port) for _ in range(20)]
    for stranger in strangers:
        stranger.sendall(garbage)
    receives = start(f"record tcp:127.0.0.1:{port} x.sigmf-meta {LONG}")
    finished(receives)
    summary = json.loads(finished(sends))
    assert (tmp_path / "x.sigmf-data").read_bytes() == ramp(500_000)
    if garbage:
        assert "rejected" in summary["route"][-1]["reason"]
    if garbage.startswith(b"GET"):
        assert "'GET / HTTP" in summary["route"][-1]["reason"]


def test_a_second_receiver_is_refused_with_the_address_of_the_first(start, iio, port):
    sends = start(f"stream sim: rate=1M tcp:127.0.0.1:{port} --json {LONG}")
    peer, _ = join(port)
    text = iio(f"stream tcp:127.0.0.1:{port} null:", status=3).err
    assert f"127.0.0.1:{peer.getsockname()[1]} receives this stream" in text
    sends.kill()


@pytest.mark.parametrize("answer, says", [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "'HTTP/1.1 400"), (b"", "before the handshake was complete"),
    (message(2, b"{}"), "protocol"), (message(2, b'{"protocol":1,"version":"x"}'), "offers no stream"),
    (message(1, b"{}"), "does not send"), (message(2, b"[" * 60000), "parse error")],
    ids=["http", "silence", "empty", "nothing", "receiver", "brackets"])
def test_the_error_of_a_server_that_is_not_a_sender_says_why(iio, answer, says):
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            peer, _ = server.accept()
            peer.recv(1000)
            peer.sendall(answer)
            peer.close()

        threading.Thread(target=serve, daemon=True).start()
        text = iio(f"stream tcp:127.0.0.1:{server.getsockname()[1]} null:", status=3).err
        assert f"tcp:127.0.0.1:{server.getsockname()[1]}" in text or "127.0.0.1:" in text
        assert says in text, text


def test_a_sender_that_sends_garbage_after_the_handshake_is_an_error(start, port, iio):
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} --samples 1M --block-size 64Ki {LONG}")
    peer, text = join(port)
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            taker, _ = server.accept()
            taker.recv(1000)
            taker.sendall(message(2, json.dumps(text).encode()) + zlib.compress(b"x" * 1000) * 100)
            with contextlib.suppress(OSError):
                taker.recv(1000)

        threading.Thread(target=serve, daemon=True).start()
        text = iio(f"stream tcp:127.0.0.1:{server.getsockname()[1]} null:", status=3).err
        assert "sent something other than blocks" in text
    sends.kill()


@pytest.mark.parametrize("answer", [b"\xff" * 16, b"IIOA" + bytes(12), None],
                         ids=["garbage", "stranger", "future"])
def test_a_receiver_that_sends_invalid_acknowledgments_is_an_error(start, port, answer):
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} --samples 1M --block-size 64Ki {LONG}")
    peer, _ = join(port)
    header = Header(peer)
    peer.sendall(answer or b"IIOA" + struct.pack("<IQ", header.stream_id, 1 << 40))
    assert "sent something other than acknowledgments" in finished(sends, 3)


def test_a_receiver_that_reconnects_replaces_its_stale_connection(start, port):
    """The first connection stays open, as if the cable had been pulled."""
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} --samples 100k --block-size 64Ki --json {LONG}")
    stale, _ = join(port)
    header = Header(stale)
    peer, _ = join(port, stream_id=header.stream_id, sequence=header.sequence)
    data = b""
    while not (header := Header(peer)).end:
        data += header.data
        acknowledge(peer, header)
    acknowledge(peer, header)
    assert data == ramp(100_000)
    finished(sends)
    stale.close()


class Damaging(threading.Thread):
    """Relays a stream with checksums and changes a byte in its fourth block."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port = port
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp:127.0.0.1:{self.server.getsockname()[1]}"

    def run(self):
        taker, _ = self.server.accept()
        giver = connect(self.port)
        threading.Thread(target=self.copy, args=(taker, giver), daemon=True).start()
        head = exactly(giver, 16)
        taker.sendall(head + exactly(giver, struct.unpack("<I", head[8:12])[0]))
        for number in range(1000):
            raw = exactly(giver, 100)
            data = bytearray(exactly(giver, struct.unpack("<I", raw[40:44])[0]))
            if number == 3:
                data[1000] ^= 1
            taker.sendall(raw + data)
            if raw[12] & 1:  # the end
                return

    @staticmethod
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)


def test_a_damaged_block_is_a_loss_if_checksums_are_on(start, port):
    way = Damaging(port)
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} check=crc32c --samples 200k --block-size 64Ki"
                  f" {LONG}")
    way.start()
    receives = start(f"stream {way.address} check=crc32c null: --json {LONG}")
    finished(sends)
    got = json.loads(finished(receives))
    assert got["samples"] == 200_000 - 16384 and got["blocks_bad"]["error"] == 1
    assert got["gaps"]["lost_min"] == got["gaps"]["lost_max"] == 16384


def test_a_receiver_with_check_is_refused_if_the_sender_has_none(start, iio, port):
    sends = start(f"stream sim: rate=1M tcp:127.0.0.1:{port}")
    text = iio(f"stream tcp:127.0.0.1:{port} wait=20s check=crc32c null:", status=2).err
    assert "tcp:HOST:PORT check=crc32c" in text
    sends.kill()
