# SPDX-License-Identifier: MIT
"""`iio-stream serve` with Debian's unmodified clients of libiio 0.x, compared with Debian's iiod.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_serve.py
"""
import errno
import itertools
import re
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from conftest import ADC, DAC, attached_dmabufs, knob, sim, truth
from libiio_programs import SAMPLE, binding, flowgraph, ramp_of
from serving import URI, Line, Serving, answers, device_id, need_clients, readdev, said
from waiting import until

PHY = "iios-sim-phy"

pytestmark = need_clients()


@pytest.fixture(autouse=True)
def fresh():
    sim(rate=100_000)  # a rate that clients in an emulated machine can handle, however busy its host is


@pytest.fixture
def server():
    with Serving() as one:
        yield one


def of_iiod(words):
    """Runs a client program with Debian's iiod as its server, and returns what it writes."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    process = subprocess.Popen(["iiod"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: subprocess.run(["iio_info", "-u", URI], capture_output=True, check=False).returncode == 0, "iiod")
        return said(words)
    finally:
        process.kill()
        process.wait()


def lasting(info):
    """Splits iio_info's text by device and channel, and sorts the channels of each device, because libiio
    lists channels without samples in the order of a hash."""
    text = info.decode()
    devices = re.split(r"\n\t(?=\S)", text[text.index("IIO context has"):])
    return [devices[0], *(sorted(re.split(r"\n\t\t\t?(?=\S)", device)) for device in devices[1:])]


def test_iio_info_prints_the_same_as_with_iiod():
    words = ["iio_info", "-u", URI]
    with_iiod = lasting(of_iiod(words))
    with Serving():
        ours = lasting(said(words))
    assert len(ours) == len(with_iiod) > 4
    for our, theirs in zip(ours, with_iiod, strict=True):
        assert our == theirs


@pytest.mark.parametrize(("buffer", "rate"), [(131072, 100_000), (8192, 100_000), (500, 30_000)])
def test_iio_readdev_receives_every_sample(server, buffer, rate):
    sim(rate=rate)
    wanted = 1 << 18 if buffer > 500 else 1 << 15
    data = said(readdev(wanted, buffer=buffer))
    assert len(data) == wanted * SAMPLE and ramp_of(data)[0] == 0
    assert truth() == ([], 0)
    stats = server.end()
    device, = stats["devices"]
    assert device["gaps"] == {"certain": 0, "possible": 0, "lost_min": 0, "lost_max": 0} and device["starts"] == 1
    assert device["route"][0]["mechanism"] == "dmabuf" and device["route"][0]["copies"] == 0
    reader, = stats["readers"]
    assert reader["samples"] >= wanted and reader["dropped_samples"] == 0 and reader["hop"]["copies"] == 1
    assert attached_dmabufs() == 0


def test_the_text_summary_shows_how_the_samples_were_sent():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with subprocess.Popen(["iio-stream", "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(answers, "the server")
        said(readdev(4096))
        process.send_signal(signal.SIGINT)
        summary = process.communicate(timeout=30)[0]
    [line] = [line for line in summary.splitlines() if " samples sent" in line]
    assert line.endswith("samples sent, 0 dropped; send, 1 copy: the client is on this machine"), line


def test_a_subset_of_the_channels_can_be_read(server):
    data = said(readdev(100_000, "voltage0_q", "voltage1_i"))
    assert len(data) == 100_000 * 4
    ramp_of(data[:len(data) // 8 * 8])  # the words of the ramp continue through the enabled channels
    assert server.end()["devices"][0]["route"][0]["copies"] == 0


def test_the_python_binding_receives_every_sample(server):
    ramp_of(said(binding(URI, 10_000)))


def test_gr_iios_source_receives_every_sample(server):
    data = said(flowgraph(URI, 100_000))[-100_000 * SAMPLE:]  # GNU Radio prints text before the samples
    assert len(ramp_of(data)) == 100_000


def test_attributes_can_be_read_but_not_written(server):
    words = ["-i", "-c", PHY, "voltage0", "hardwaregain"]
    read = said(["iio_attr", "-u", URI, *words])
    assert read == said(["iio_attr", "-u", "local:", *words]) != b""
    refused = subprocess.run(["iio_attr", "-u", URI, *words, "17"], capture_output=True, check=False)
    assert b"ermission" in refused.stdout + refused.stderr
    assert said(["iio_attr", "-u", URI, *words]) == read
    assert any("hardwaregain" in name for name in server.end()["refused"])


def test_allowed_attributes_can_be_written():
    with Serving("--allow", f"{PHY}/in_voltage0/hard*") as server:
        said(["iio_attr", "-u", URI, "-i", "-c", PHY, "voltage0", "hardwaregain", "17"])
        assert said(["iio_attr", "-u", URI, "-i", "-c", PHY, "voltage0", "hardwaregain"]).startswith(b"17")
        assert server.end()["refused"] == []


def test_several_readers_share_one_capture(server):
    """All readers read while the device runs. Each gets every sample from its first one on."""
    sim(rate=50_000)
    data = [None] * 4

    def read(i):
        data[i] = said(readdev(60_000 + 20_000 * i))

    threads = [threading.Thread(target=read, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, one in enumerate(data):
        assert len(ramp_of(one)) == 60_000 + 20_000 * i
    device, = server.end()["devices"]
    assert device["gaps"]["lost_max"] == 0


TOP = 12  # the bits from here on contain the channel's number


def lanes_of(data):
    return np.frombuffer(data, np.uint16).astype(int)


def test_readers_of_different_channels_share_a_restarted_capture():
    """The capture is restarted to add the second reader's channel, and the first reader continues with its
    own. With the pattern `lanes`, each value contains the number of its channel."""
    sim(pattern="lanes", rate=100_000)
    with Serving() as server:
        first = subprocess.Popen([str(word) for word in readdev(300_000, "voltage0_i")], stdout=subprocess.PIPE)
        until(lambda: int(knob("delivered")) > 100_000, "the first samples")
        second = said(readdev(100_000, "voltage1_q"))
        one, two = (lanes_of(data) for data in (first.communicate(timeout=120)[0], second))
        assert len(one) == 300_000 and len(two) == 100_000
        assert len(set(one >> TOP)) == 1 and len(set(two >> TOP)) == 1 and one[0] >> TOP != two[0] >> TOP
        assert set(np.diff(two) % (1 << TOP)) == {1}
        # The only jump is at the place where the channel was added.
        assert len(np.nonzero(np.diff(one) % (1 << TOP) != 1)[0]) <= 1
        stats = server.end()
        assert stats["devices"][0]["starts"] == 2
        assert "the capture was restarted" in server.result.err and "too slow" not in server.result.err
        restarts = [reader["restarts"] for reader in sorted(stats["readers"], key=lambda reader: reader["number"])]
        assert restarts[0]["certain"] + restarts[0]["possible"] == 1, restarts
        assert restarts[1] == {"certain": 0, "possible": 0, "lost_min": 0, "lost_max": 0}, restarts
        # The losses are only known modulo the period of the pattern. The true loss is within the bounds.
        missing = (np.diff(one) % (1 << TOP) - 1).sum()
        assert any(restarts[0]["lost_min"] <= missing + turns * (1 << TOP) <= restarts[0]["lost_max"]
                   for turns in range(100)), (missing, restarts)
        assert [reader["dropped_samples"] for reader in stats["readers"]] == [0, 0]
        assert [reader["hop"]["copies"] for reader in stats["readers"]] == [2, 2]


MOST_READERS = 32  # of one device
MANY = ["--clients", 2 * MOST_READERS + 8]  # libiio opens a second connection for each buffer


def stalled_reader(adc):
    """Returns a client that requests samples and never reads the answer."""
    slow = Line()
    assert slow.ask("TIMEOUT 5000") == 0
    assert slow.ask(f"OPEN {adc} 8192 0000000f") == 0
    slow.say(f"READBUF {adc} {1 << 30}")
    return slow


@pytest.mark.parametrize("stalled", [1, MOST_READERS - 1])
def test_slow_clients_do_not_affect_another(stalled):
    with Serving("--memory", "2Mi", *MANY) as server:
        adc = device_id(ADC)
        slow = [stalled_reader(adc) for _ in range(stalled)]
        words = ramp_of(said(readdev(1_000_000)))  # more than the kernel buffers for a slow client
        assert len(words) == 1_000_000
        stats = server.end()
        for one in slow:
            one.close()
    # Once only the slow clients are left, the device waits for them and loses samples.
    assert all(delivered > words[-1] for delivered, _ in truth()[0])
    assert sorted(reader["dropped_samples"] > 0 for reader in stats["readers"]) == [False] + stalled * [True]
    assert server.result.err.count("was too slow for") >= stalled


def test_as_many_readers_as_possible_receive_every_sample():
    sim(rate=20_000)
    with Serving(*MANY) as server:
        clients = [subprocess.Popen([str(word) for word in readdev(40_000, buffer=4000)], stdout=subprocess.PIPE)
                   for _ in range(MOST_READERS)]
        data = [None] * MOST_READERS

        def read(i):
            data[i] = clients[i].communicate(timeout=240)[0]

        threads = [threading.Thread(target=read, args=[i]) for i in range(MOST_READERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = server.end()
    assert [len(ramp_of(one)) for one in data] == MOST_READERS * [40_000]
    assert stats["devices"][0]["gaps"]["lost_max"] == 0 and truth()[1] == 0
    assert [reader["dropped_samples"] for reader in stats["readers"]] == MOST_READERS * [0]


def test_a_reader_beyond_the_limit_is_refused():
    with Serving(*MANY) as server:
        adc = device_id(ADC)
        lines = [Line() for _ in range(MOST_READERS + 1)]
        answers_to_open = [line.ask(f"OPEN {adc} 4096 0000000f") for line in lines]
        assert answers_to_open == MOST_READERS * [0] + [-errno.EBUSY]
        assert lines[0].ask(f"CLOSE {adc}") == 0
        assert lines[-1].ask(f"OPEN {adc} 4096 0000000f") == 0
        for line in lines:
            line.close()
        server.end()


def test_the_device_waits_for_its_only_client_and_its_losses_are_counted():
    """While the client does not read, no block is captured in vain. The samples that are missing are the
    device's losses, and their bounds contain them."""
    rate, wanted = 1_000_000, 1_500_000  # more samples than the blocks and the sockets hold
    sim(rate=rate)
    with Serving("--memory", "1Mi") as server:
        adc = device_id(ADC)
        slow = Line()
        assert slow.ask(f"OPEN {adc} 2048 0000000f") == 0
        slow.say(f"READBUF {adc} {wanted * SAMPLE}")
        until(lambda: int(knob("produced")) > int(knob("delivered")) + rate, "a second without a block")
        got = bytearray()
        for first in itertools.chain([True], itertools.repeat(False)):
            size = slow.number()
            if first:
                slow.file.readline()
            got += slow.file.read(size)
            if len(got) == wanted * SAMPLE:
                break
        slow.close()
        stats = server.end()
    device, = stats["devices"]
    steps = np.diff(np.frombuffer(got, "<u8").astype(np.int64))
    missing = int((steps - 1).sum())
    assert (steps >= 1).all() and missing > 0
    assert device["gaps"]["lost_min"] <= missing <= device["gaps"]["lost_max"], (missing, device)
    assert [reader["dropped_samples"] for reader in stats["readers"]] == [0]
    assert device["waits"] > 0 and "samples lost so far; its readers are too slow" in server.result.err


def test_a_client_that_dies_ends_its_capture(server):
    process = subprocess.Popen([str(word) for word in readdev(0)], stdout=subprocess.PIPE)
    process.stdout.read(1 << 20)
    process.kill()
    process.wait()
    until(lambda: attached_dmabufs() == 0, "the end of the capture")


def test_a_stalled_device_times_out(server):
    knob("dead_at", 50_000)
    before = time.monotonic()
    done = subprocess.run(["iio_readdev", "-u", URI, "-T", "2000", "-b", "8192", "-s", "1000000", ADC],
                          capture_output=True, timeout=60, check=False)
    assert b"imed out" in done.stderr and time.monotonic() - before < 30


def test_a_client_does_not_shorten_the_timeout_of_another(server):
    sim(rate=10_000)  # a block takes 0.8 s
    reader = subprocess.Popen([str(word) for word in readdev(40_960)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: int(knob("delivered")) > 0, "the first samples")
    impatient = Line()
    assert impatient.ask("TIMEOUT 1") == 0
    data, error = reader.communicate(timeout=120)
    impatient.close()
    assert len(data) == 40_960 * SAMPLE and len(ramp_of(data)) == 40_960, error


def test_losses_are_reported(server):
    sim(rate=100_000, drop_at=50_000, drop=1000, drop_every=50_000, drop_xflow=1)
    said(readdev(200_000))
    stats = server.end()
    gaps = stats["devices"][0]["gaps"]
    assert gaps["certain"] + gaps["possible"] > 0 and gaps["lost_min"] <= truth()[1]
    assert "samples lost so far" in server.result.err


def test_a_dac_is_not_played_unless_allowed(server):
    done = subprocess.run(["iio_writedev", "-u", URI, "-b", "8192", "-s", "8192", DAC], input=bytes(65536),
                          capture_output=True, timeout=60, check=False)
    assert done.returncode != 0 and b"ermission" in done.stderr
    assert f"play:{DAC}" in server.end()["refused"]
