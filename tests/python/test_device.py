# SPDX-License-Identifier: MIT
"""A Device object uses one connection. The peer is a minimal iiod that counts connections."""
import contextlib
import socket
import threading

import pytest

import iio_stream as ios

XML = (b'<?xml version="1.0" encoding="utf-8"?><context name="network"><device id="iio:device0" name="adc">'
       b'<channel id="voltage0" type="input"><scan-element index="0" format="le:s16/16&gt;&gt;0" />'
       b'<attribute name="gain" filename="in_voltage0_gain" /></channel>'
       b'<attribute name="speed" /></device><device id="iio:device1" name="phy">'
       b'<attribute name="mode" /></device></context>')


class Iiod:
    """A minimal iiod. The keys of ``values`` are "DEVICE NAME" and "DEVICE CHANNEL NAME"."""

    def __init__(self):
        self.values = {"iio:device0 speed": "1000000", "iio:device0 voltage0 gain": "12.500000 dB",
                       "iio:device1 mode": "rx"}
        self.clients = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"ip:127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.clients += 1
                threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        with client, contextlib.suppress(OSError), client.makefile("rwb") as stream:
            for line in stream:
                stream.write(self.answer(line.decode().split(), stream))
                stream.flush()

    def answer(self, words, stream):
        verb, *rest = words or [""]
        if verb == "VERSION":
            return b"0.24.v0.24  \n"
        if verb == "PRINT":
            return b"%d\n" % len(XML) + XML + b"\n"
        key = " ".join(word for word in rest if word not in ("INPUT", "OUTPUT"))
        if verb == "READ" and key in self.values:
            value = self.values[key].encode() + b"\n\0"
            return b"%d\n" % len(value) + value + b"\n"
        if verb == "WRITE":
            key, _, count = key.rpartition(" ")
            self.values[key] = stream.read(int(count)).rstrip(b"\0\n").decode()
            return b"%s\n" % count.encode()
        return b"0\n" if verb == "TIMEOUT" else b"-22\n"


@pytest.fixture
def iiod():
    peer = Iiod()
    yield peer
    peer.listener.close()


def test_a_device_reads_and_writes_over_one_connection(iiod):
    adc = ios.Device("adc", iiod.uri)
    assert adc["speed"] == "1000000" and adc.get("voltage0/gain") == "12.500000 dB"
    assert adc["phy/mode"] == "rx"  # an attribute of another device
    adc["speed"] = 2e6
    assert iiod.values["iio:device0 speed"] == "2000000"
    assert adc.set("voltage0/gain", 20.25) == "20.25"
    assert adc.info.name == "adc" and adc.info.id == "iio:device0"
    before, again = iiod.clients, [adc["speed"] for _ in range(5)]
    assert again == ["2000000"] * 5 and iiod.clients == before <= 2


def test_errors_name_missing_devices_and_attributes(iiod):
    with pytest.raises(ios.Error, match="adcc"):
        ios.Device("adcc", iiod.uri)
    adc = ios.Device("iio:adc", iiod.uri)
    with pytest.raises(ios.UsageError, match="sped.*speed"):
        adc.get("sped")
    with pytest.raises(ios.UsageError, match="frequency"):
        adc.tune(frequency="2.4G")  # the device has no oscillator
    with pytest.raises(ios.UsageError, match="frequency"):
        adc.tune(frequency="high")
