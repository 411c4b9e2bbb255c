# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""Debian 13's libiio 0.26 in place of this machine's, with its own utilities and examples (script/libiio
builds them), unmodified, with `iio-stream run` and without."""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import re
import signal
import struct
import subprocess
import time

import counts
import numpy as np
import pytest
from conftest import ADC, DAC, finish, iio_dir, interrupt, knob, sim, start
from playing import count
from waiting import until

RUN = ["iio-stream", "run", "--"]
BOTH = pytest.mark.parametrize("by", [[], RUN])
BUILD = pathlib.Path(__file__).resolve().parents[2] / "build" / "libiio"
MACHINES = pathlib.Path("/usr/lib/x86_64-linux-gnu/libiio.so.0").resolve()
SLOW = "WARNING: High-speed mode not enabled\n"  # libiio's own warning about its own buffers


@pytest.fixture(autouse=True, scope="module")
def libiio():
    assert (BUILD / "done").exists(), "script/libiio has not built libiio 0.26"
    subprocess.run(["mount", "--bind", BUILD / "libiio.so.0.26", MACHINES], check=True)
    yield
    subprocess.run(["umount", MACHINES], check=True)


def said(by, words, seconds=None):
    """Runs a program of libiio, interrupts it after `seconds` if given, and returns its output."""
    process = subprocess.Popen([*by, BUILD / words[0], *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if seconds:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, err.decode()
    return out, err.decode().replace(SLOW, "")


@pytest.mark.parametrize("words", [
    ["iio_info", "-u", "local:"], ["iio_attr", "-u", "local:", "-d", ADC], ["iio_attr", "-u", "local:", "-B", ADC],
    ["iio_genxml", "-u", "local:"], ["iio_reg", ADC, "0"],
], ids=lambda words: " ".join(words[:1]))
def test_utilities_without_a_buffer_print_the_same(words):
    sim()
    words = [f"tests/{words[0]}", *words[1:]]
    mine = said(RUN, words)
    assert mine[0] and mine == said([], words)


@BOTH
def test_iio_readdev_and_iio_writedev_move_every_sample(by):
    sim()
    out, _ = said(by, ["tests/iio_readdev", "-u", "local:", "-T", "5000", "-b", "8192", "-s", "262144", ADC])
    assert (np.frombuffer(out, "<u8") == np.arange(262144)).all()
    data = np.arange(64 * 8192, dtype="<u8").tobytes()
    subprocess.run([*by, BUILD / "tests/iio_writedev", "-u", "local:", "-T", "5000", "-b", "8192", "-s", str(64 * 8192), DAC],
                   input=data, timeout=120, check=True, capture_output=True)
    assert count("delivered") >= 60 * 8192 and count("mismatches") == 0  # both drop the last queued buffers


@pytest.mark.parametrize("threads", [1, 4])
@BOTH
def test_iio_stresstest_opens_and_closes_buffers(by, threads):
    """Threads compete for one device. Some of them get EBUSY, as they do without iio-stream."""
    sim()
    out, err = said(by, ["tests/iio_stresstest", "-u", "local:", "-b", "1024", "-t", str(threads), ADC],
                    counts.pick(4, 60))
    total = re.search(r"Context : (\d+) .* buffers: (\d+) .* refills : (\d+) ", out.decode())
    contexts, buffers, refills = (int(number) for number in total.groups())
    assert contexts > 0 and buffers >= contexts and refills > 0, out
    if by:  # without iio-stream some end with ETIMEDOUT, although the timeout is UINT_MAX ms
        assert "refill failed" not in err
        # iio-stream prints this message if the device was busy for it and free for libiio.
        assert "libiio's own buffer" not in err


def test_a_device_that_another_program_reads_is_busy():
    sim()
    words = [BUILD / "tests/iio_readdev", "-u", "local:", "-s", "1024", ADC]
    holder = start(f"stream iio:{ADC} null:")
    try:
        until(lambda: (iio_dir(ADC) / "buffer0/enable").read_text() == "1\n")
        refused = [subprocess.run([*by, *words], capture_output=True, text=True, check=False) for by in (RUN, [])]
    finally:
        interrupt(holder)
        finish(holder)
    assert all(one.returncode == 1 and one.stdout == "" for one in refused), refused
    assert "Device or resource busy" in refused[0].stderr and refused[0].stderr == refused[1].stderr


@contextlib.contextmanager
def color_sensor(values):
    """Provides a TCS3414 sensor with these register values, with the kernel's own driver and i2c-stub."""
    for module in ("i2c-stub chip_addr=0x39", "i2c-dev", "tcs3414", "iio-trig-hrtimer"):
        subprocess.run(["modprobe", *module.split()], check=True)
    trigger = pathlib.Path("/sys/kernel/config/iio/triggers/hrtimer/instance1")
    trigger.mkdir()
    bus, = (path.parent for path in pathlib.Path("/sys/bus/i2c/devices").glob("i2c-*/name")
            if "stub" in path.read_text())
    (bus / "new_device").write_text("tcs3414 0x39")
    file = os.open(f"/dev/{bus.name}", os.O_RDWR)
    fcntl.ioctl(file, 0x0706, 0x39)  # I2C_SLAVE_FORCE
    for number, value in enumerate(values):
        data = ctypes.create_string_buffer(struct.pack("<H", value), 34)
        fcntl.ioctl(file, 0x0720, struct.pack("BBxxIQ", 0, 0xB0 + 2 * number, 3, ctypes.addressof(data)))  # I2C_SMBUS
    os.close(file)
    try:
        yield
    finally:
        (bus / "delete_device").write_text("0x39")
        trigger.rmdir()
        subprocess.run(["modprobe", "-r", "tcs3414", "i2c-stub"], check=True)


def test_dummy_iiostream_reads_a_triggered_sensor_with_each_method():
    with color_sensor([1000, 2000, 3000, 4000]):
        for method, length in ((method, length) for method in "0123" for length in (1, 4)):
            words = ["examples/dummy-iiostream", "-d", "tcs3414", "-r", method, "-b", str(length), "-c", "5"]
            mine, without = (said(by, words) for by in (RUN, []))
            times = re.compile(rb"\[\d{4}\]|\d{15,}")  # timestamps of each sample
            assert len(times.findall(mine[0])) == 2 * 5 * length
            assert times.sub(b"", mine[0]) == times.sub(b"", without[0]) and without[1] == ""
            assert re.fullmatch(r"iio-stream: iio:device\d+: fileio, 1 copy: the driver's buffer takes no DMABUFs .*\n", mine[1])
            for name, value in (("green", 1000), ("red", 2000), ("blue", 3000), ("clear", 4000)):
                assert re.findall(rf"intensity_{name} (\d+)", mine[0].decode()).count(str(value)) >= 5


@pytest.mark.parametrize("board,program,receiver,transmitter", [
    ("pluto", "ad9361-iiostream", "cf-ad9361-lpc", "cf-ad9361-dds-core-lpc"),
    ("fmcomms2-3", "ad9361-iiostream", "cf-ad9361-lpc", "cf-ad9361-dds-core-lpc"),
    ("ad9371", "ad9371-iiostream", "axi-ad9371-rx-hpc", "axi-ad9371-tx-hpc"),
    ("adrv9002", "adrv9002-iiostream", "axi-adrv9002-rx-lpc", "axi-adrv9002-tx-lpc"),
][counts.pick(slice(1), slice(None))])
def test_the_example_of_a_transceiver_streams_in_both_directions(board, program, receiver, transmitter):
    """Without iio-stream the example fails: it needs more contiguous memory than mainline kernels provide."""
    sim(board=board, rate=2_500_000)
    out, err = said(RUN, [f"examples/{program}"], 8)
    received, sent = re.findall(r"RX +(\S+) MSmp, TX +(\S+) MSmp", out.decode() + err)[-1]
    assert float(received) == float(sent) > 3
    # The example prints two decimals.
    assert int(knob("delivered", device=receiver)) >= (float(received) - 0.01) * 1e6
    # The last queued buffers are dropped.
    assert int(knob("delivered", device=transmitter)) >= (float(sent) - 5 * 1.05) * 1e6
