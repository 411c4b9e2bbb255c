# SPDX-License-Identifier: MIT
"""Remote contexts, with Debian's own iiod on the guest's loopback interface.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_remote.py

Linux 6.12, 2048 MB; needs Debian's package iiod.
"""
import json
import shutil
import signal
import socket
import subprocess
import time

import pytest
from conftest import ADC, DAC, finish, knob, run, sim, start, truth
from errors import account, failing
from waiting import until

URI = "ip:127.0.0.1"
PHY = "iios-sim-phy"
BLOCK = "--block-size 64Ki"

pytestmark = pytest.mark.skipif(shutil.which("iiod") is None, reason="iiod is not installed")


def answers():
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", 30431)) == 0


class Server:
    def __init__(self, load=True):
        if load:
            sim(check="ramp")  # iiod reads the devices once, when it starts
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.process = subprocess.Popen(["iiod"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(answers, "iiod's first answer")

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def server():
    one = Server()
    yield one
    one.end()


def remote(*words, timeout=30, status=0, block=BLOCK):
    return run("stream", *words, block, "--json", timeout=timeout, status=status)


def test_samples_arrive_over_the_network(server):
    result = remote(f"iio:{ADC} uri={URI} verify:ramp --bytes 8Mi")
    assert result.json["bytes"] == 8 << 20
    hop = result.json["route"][0]
    assert hop["mechanism"] == "libiio" and hop["copies"] == 2 and URI in hop["reason"]
    assert result.json["channels"] == ["voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q"]


def test_without_a_counter_no_loss_is_reported_or_ruled_out(server, tmp_path):
    """Neither iiod nor libiio reports losses, so the loss is unknown and not zero, and no index is exact."""
    file = tmp_path / "a.sigmf-meta"
    result = remote(f"iio:{ADC} uri={URI} {file} --bytes 1Mi")
    assert result.gaps == {"certain": 0, "possible": 0, "lost_min": 0, "lost_max": None, "evidence": []}
    assert "reports no losses" in result.json["route"][0]["reason"]
    capture, = json.loads(file.read_text())["captures"]
    assert capture["iio_stream:index_exact"] is False
    text = run(f"stream iio:{ADC} uri={URI} null: --bytes 1Mi {BLOCK}").out
    assert "this source cannot detect any" in text
    strict = remote(f"iio:{ADC} uri={URI} null: --bytes 1Mi --max-lost 1M", status=4)
    assert "unknown number" in strict.json["error"]["message"]


def test_a_counter_channel_makes_a_remote_loss_exact():
    sim(counter=32, pattern="lanes", drop_at=33_333, drop=77, drop_every=50_001)
    server = Server(load=False)
    try:
        result = remote(f"iio:{ADC} uri={URI} counter=channel:count0 verify:lanes --samples 200000",
                        block="--block-size 48Ki")
        jumps = [jump for jump in truth()[0] if jump[0] < 200_000]
        lost = sum(samples for _, samples in jumps)
        assert len(jumps) > 2
        assert result.gaps == {"certain": len(jumps), "possible": 0, "lost_min": lost, "lost_max": lost,
                               "evidence": ["counter"]}
        report = result.json["sinks"][0]["report"]
        assert report["unreported"] == 0 and report["lost"] == lost
        assert "reports no losses" not in result.json["route"][0]["reason"]
    finally:
        server.end()


@pytest.mark.parametrize("channels", ["voltage0_i", "voltage0_i,voltage0_q", "voltage1_i,voltage1_q"])
def test_a_subset_of_the_channels_can_be_captured(server, channels):
    result = remote(f"iio:{ADC} uri={URI} channels={channels} verify:ramp --bytes 1Mi")
    assert result.json["channels"] == channels.split(",")


def check_played(samples):
    """Checks that every sample was played, and that only zeros follow."""
    assert int(knob("delivered", device=DAC)) >= samples
    # The position is counted in 64-bit words. A sample of four channels is one word.
    assert int(knob("mismatch_at", device=DAC)) == samples
    assert int(knob("mismatch_got", device=DAC), 0) == 0


@pytest.mark.parametrize("samples", [1, 8191, 8192, 200_000])
def test_samples_go_to_a_remote_dac(server, samples):
    result = remote(f"sim: pattern=ramp channels=4 rate=0 iio:{DAC} uri={URI} --samples {samples}")
    assert result.json["route"][-1]["mechanism"] == "libiio"
    assert result.json["sinks"][0]["delivered_samples"] == samples
    check_played(samples)


def test_a_remote_device_is_tuned_and_listed(server):
    remote(f"iio:{ADC} uri={URI} gain=31 frequency=1.2G null: --samples 10000")
    assert run(f"attr get {PHY}/in_voltage0/hardwaregain --uri {URI}").out.startswith("31")
    info = {device["name"]: device for device in run(f"info --uri {URI} --json").json["devices"]}
    assert {ADC, DAC, PHY} <= set(info)
    buffer, = info[ADC]["buffers"]
    assert not buffer["dmabuf"] and "remote" in buffer["reason"] and len(buffer["channels"]) == 4
    assert run(f"attr set {PHY}/in_voltage0/hardwaregain 30 --uri {URI}").out.startswith("30")


def test_ctrl_c_ends_a_remote_stream(server):
    process = start(f"stream iio:{ADC} uri={URI} verify:ramp {BLOCK} --json")
    until(lambda: int(knob("delivered")) > 50_000, "the first samples")
    process.send_signal(signal.SIGINT)
    result = finish(process, 15)
    assert result.status == 0 and result.json["ended"] == "signal" and result.json["samples"] > 0


def test_wrong_arguments_are_refused(server):
    failing(f"iio:{ADC} uri={URI} path=dmabuf null: --samples 9", status=2, name="EINVAL", words=["'path'", URI])
    failing(f"iio:{ADC} uri={URI} channels=voltage7 null: --samples 9", status=2, name="EINVAL", words=["voltage7"])
    error = failing(f"iio:iios-sim-acd uri={URI} null: --samples 9", status=3, name="ENODEV", words=["iios-sim-acd", URI])
    assert ADC in error.json["error"]["hint"]


def test_the_error_for_a_missing_server_names_it():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    failing(f"iio:{ADC} uri={URI} null: --samples 9", status=3, name="ECONNREFUSED", words=[URI], timeout=20)
    assert URI in run(f"info --uri {URI}", status=3, timeout=20).err


def test_a_server_that_dies_ends_the_stream(server):
    process = start(f"stream iio:{ADC} uri={URI} null: {BLOCK} --json --timeout 2s")
    until(lambda: int(knob("delivered")) > 50_000, "the first samples")
    server.end()
    result = finish(process, 20)
    assert result.status == 3, result.err
    assert ADC in result.json["error"]["message"] and result.json["samples"] > 0


def test_a_stalled_server_ends_the_stream_at_the_deadline(server):
    process = start(f"stream iio:{ADC} uri={URI} null: {BLOCK} --json --timeout 1s")
    until(lambda: int(knob("delivered")) > 50_000, "the first samples")
    before = time.monotonic()
    server.process.send_signal(signal.SIGSTOP)
    result = finish(process, 30)
    assert time.monotonic() - before < 20
    account(result, 3, "ETIMEDOUT", ADC)


def test_a_stalled_remote_dma_ends_the_stream_at_the_deadline(server):
    knob("dead_at", 50_000)
    result = failing(f"iio:{ADC} uri={URI} null: {BLOCK} --timeout 1s", status=3, name="ETIMEDOUT", words=[ADC],
                     timeout=30)
    assert result.json["samples"] <= 50_000
