# SPDX-License-Identifier: MIT
"""A network peer that is not iiod, or a faulty iiod, causes a device error within a deadline."""
import contextlib
import socket
import threading
import time

import pytest

XML = b'<?xml version="1.0" encoding="utf-8"?><context name="network"><device id="iio:device0" name="adc">'
ANSWERS = {
    "silence": None,
    "hang-up": [],
    "noise": [b"\xff\0\n" * 500],
    "not a number": [b"hello\n"] * 9,
    "an error": [b"0.24.v0.24  \n", b"-22\n", b"-22\n"],
    "an endless number": [b"9" * 100_000],
    "fewer bytes than announced": [b"0.24.v0.24  \n", b"99999999999\n", XML],
    "no bytes": [b"0.24.v0.24  \n", b"0\n\n"],
    "incomplete XML": [b"0.24.v0.24  \n", b"%d\n" % len(XML) + XML + b"\n"],
    "invalid XML": [b"0.24.v0.24  \n", b"9\n<context\n"],
}


class Peer:
    """Answers each request with the next element of `answers`, and then closes the connection. If `answers`
    is None, the peer never answers."""

    def __init__(self, answers):
        self.answers = answers
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"ip:127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                with client:
                    self.talk(client)

    def talk(self, client):
        with contextlib.suppress(OSError):
            if self.answers is None:
                while client.recv(4096):
                    pass
                return
            for answer in self.answers:
                if not client.recv(4096):
                    return
                client.sendall(answer)

    def close(self):
        self.listener.close()


@pytest.mark.parametrize("name", ANSWERS)
def test_a_bad_peer_is_an_error_within_a_deadline(iio, name):
    peer = Peer(ANSWERS[name])
    before = time.monotonic()
    result = iio(f"stream iio:adc uri={peer.uri} null: --samples 9", status=3)
    assert f"{peer.uri}: " in result.err, result.err  # with the port and a reason
    assert time.monotonic() - before < 30  # libiio's own deadline is five seconds
    peer.close()


def test_without_libiio_only_remote_devices_are_unreachable(iio, tmp_path):
    """The loader finds an empty file first, which simulates a machine without the library."""
    (tmp_path / "libiio.so.0").touch()
    hidden = {"LD_LIBRARY_PATH": str(tmp_path)}
    err = iio("stream iio:adc uri=ip:127.0.0.1 null:", status=3, env=hidden).err
    assert "libiio" in err and "apt install libiio0" in err, err
    check, = (c for c in iio("doctor --json", env=hidden).json["checks"] if c["name"] == "libiio")
    assert not check["ok"] and "apt install libiio0" in check["fix"]
    assert iio("info --json", env=hidden).json["devices"] is not None
