# SPDX-License-Identifier: MIT
"""A tcp: receiver in Python, and functions that several tests of tcp: share."""
import json
import socket
import struct
import time

from conftest import DEADLINE

LONG = "--timeout 50s"


def crc32c(data):
    """Computes the CRC-32C bit by bit, as defined in RFC 3720."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def message(kind, text):
    return b"IIOT" + struct.pack("<HHII", 1, kind, len(text), crc32c(text)) + text


def request(stream_id=0, sequence=0):
    return message(1, json.dumps({"version": "t", "stream_id": stream_id, "sequence": sequence}).encode())


def exactly(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        assert more, f"hung up after {len(data)} of {size} bytes"
        data += more
    return data


class Header:
    """Receives a block header (docs/usb-protocol.md) and the data that follow it on the wire."""

    def __init__(self, peer):
        raw = exactly(peer, 100)
        assert raw[:4] == b"IIOS" and struct.unpack("<I", raw[96:])[0] == crc32c(raw[:96])
        self.stream_id, self.flags, self.sequence, self.index = struct.unpack("<IIQQ", raw[8:32])
        wire, valid = struct.unpack("<II", raw[40:48])
        assert wire % 1024 == 0
        self.data = exactly(peer, wire)[:valid]
        self.end = bool(self.flags & 1)


def connect(port):
    end = time.monotonic() + DEADLINE
    while True:
        try:
            peer = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
            break
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.02)
    return peer


def offer(peer):
    *magic_version, kind, size, crc = struct.unpack("<IHHII", exactly(peer, 16))
    text = exactly(peer, size)
    assert magic_version == [0x544F4949, 1] and crc == crc32c(text)
    return kind, json.loads(text)


def acknowledge(peer, header):
    peer.sendall(b"IIOA" + struct.pack("<IQ", header.stream_id, header.sequence + 1))


def join(port, **asked):
    """Connects a receiver. Returns its socket and the stream that the sender has offered."""
    peer = connect(port)
    peer.sendall(request(**asked))
    kind, text = offer(peer)
    assert kind == 2
    return peer, text


def finished(process, status=0):
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == status, (out + err).decode()
    return (out + err).decode()
