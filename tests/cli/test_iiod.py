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


BOARD = (b'<?xml version="1.0" encoding="utf-8"?><context name="network" description="A board">'
         b'<device id="iio:device0" name="adc"><channel id="voltage0" type="input">'
         b'<scan-element index="0" format="le:S12/16&gt;&gt;0" /></channel></device>'
         b'<device id="iio:device1" name="dac"><channel id="voltage0" type="output">'
         b'<scan-element index="0" format="le:S16/16&gt;&gt;0" /></channel></device>'
         b'<device id="iio:device2" name="sensor"><attribute name="temp" /></device></context>')


class Iiod(Peer):
    """An iiod that describes a board and refuses to stream."""

    def __init__(self):
        super().__init__([])

    def talk(self, client):
        answers = {b"VERSION": b"0.24.v0.24  \n", b"PRINT": b"%d\n" % len(BOARD) + BOARD + b"\n"}
        with contextlib.suppress(OSError), client.makefile("rb") as lines:
            for line in lines:
                if words := line.split():
                    client.sendall(answers.get(words[0], b"-22\n"))


def refused():
    """Returns the URI of a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"ip:127.0.0.1:{listener.getsockname()[1]}"


def test_a_scan_prints_endpoints_that_can_be_pasted(iio):
    peer = Iiod()
    result = iio(f"info --scan --uri {peer.uri}")
    lines = [line.split() for line in result.out.splitlines()]
    assert ["source", "iio:adc", f"uri={peer.uri}"] in lines and ["sink", "iio:dac", f"uri={peer.uri}"] in lines
    assert "sensor" not in result.out and result.err == ""
    # The printed words are an endpoint: the stream gets as far as the board's buffer.
    source, = [line[1:] for line in lines if line[0] == "source" and peer.uri in line[2]]
    error = iio("stream", *source, "null: --samples 9", status=3).err
    assert "open the IIO context" not in error
    peer.close()


@pytest.mark.parametrize("name", ["silence", "hang-up"])
def test_a_scan_reports_each_place_within_a_deadline(iio, name):
    peer = Peer(ANSWERS[name])
    before = time.monotonic()
    result = iio(f"info --scan --uri {peer.uri}")
    assert time.monotonic() - before < 20  # each place has two seconds at most, all at the same time
    if "no board answered" in result.out:
        for place in ("USB: ", "DNS-SD: ", "ip:192.168.2.1: ", "ip:pluto.local: ", "ip:analog.local: ", f"{peer.uri}: "):
            assert f"  {place}" in result.out, result.out
        assert "Is the board on" in result.out and "port 30431" in result.out
    assert f"uri={peer.uri}" not in result.out and result.err == ""
    peer.close()


def test_a_scan_refuses_options_that_need_one_device(iio):
    for words in ("adc", "--all", "--json"):
        assert "--scan takes no device" in iio(f"info --scan {words}", status=2).err


def test_the_error_names_the_address_and_what_to_try(iio):
    uri = refused()
    err = iio(f"info --uri {uri}", status=3).err
    assert f"{uri}: Connection refused" in err
    assert "ping 127.0.0.1" in err and f"port {uri.split(':')[-1]}" in err and "info --scan" in err
    assert "lsusb" in iio("info --uri usb:250.250.250", status=3).err


@pytest.mark.parametrize("uri", ["ip:no-such-host.invalid", "ip:", "usb:", "usb:garbage", "xml:/nowhere"])
def test_libiios_own_messages_do_not_appear(iio, uri):
    line, = iio(f"info --uri {uri}", status=3).err.splitlines()
    assert line.startswith(f"iio-stream: info: open the IIO context {uri.removesuffix(':')}: ")


def test_the_usb_id_of_an_adi_board_leads_to_iiod(iio):
    err = iio("record usb:0456:b673 a.ci16 --samples 9", status=3).err
    assert "iio:DEVICE uri=usb:" in err and "info --scan" in err
    assert "uri=usb:" not in iio("record usb:1d6b:0104 a.ci16 --samples 9", status=3).err
