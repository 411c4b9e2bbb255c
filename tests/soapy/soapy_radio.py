# SPDX-License-Identifier: MIT
"""Shared parts of the tests of the SoapySDR module. They use Debian's SoapySDR with the module in build/.

    /usr/bin/python3 -m pytest -q tests/soapy
"""
import contextlib
import os
import pathlib
import subprocess
import sys

import numpy as np

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("IIO_STREAM_BUILD", REPOSITORY / "build")).resolve()
sys.path.insert(0, str(REPOSITORY / "tests"))
os.environ["SOAPY_SDR_PLUGIN_PATH"] = str(BUILD / "soapy")

import SoapySDR  # noqa: E402
from SoapySDR import SOAPY_SDR_RX, SOAPY_SDR_TX  # noqa: E402

RX, TX = SOAPY_SDR_RX, SOAPY_SDR_TX
DTYPES = {"CS16": (np.int16, 2), "CF32": (np.float32, 2), "CS8": (np.int8, 2), "S16": (np.int16, 1),
          "F32": (np.float32, 1), "S8": (np.int8, 1)}
SECOND = 1_000_000  # in microseconds, for timeouts

assert any("iiostreamSupport" in path for path in SoapySDR.listModules()), "the module is not built"


def util(*arguments, timeout=60, **options):
    """Runs Debian's SoapySDRUtil and returns its output."""
    result = subprocess.run(["SoapySDRUtil", *arguments], capture_output=True, text=True, timeout=timeout,
                            check=False, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@contextlib.contextmanager
def radio(**arguments):
    # Debian 13's binding would pass on the empty values of a plain dict.
    device = SoapySDR.Device(SoapySDR.SoapySDRKwargs({"driver": "iiostream", **arguments}))
    try:
        yield device
    finally:
        device.close()


@contextlib.contextmanager
def logged():
    """Yields a list that collects the messages of SoapySDR's log with their levels."""
    messages = []
    SoapySDR.setLogLevel(SoapySDR.SOAPY_SDR_DEBUG)
    SoapySDR.registerLogHandler(lambda level, text: messages.append((level, text)))
    try:
        yield messages
    finally:
        SoapySDR.registerLogHandler(None)


class Active:
    """A stream that is active within a `with` statement."""

    def __init__(self, device, direction, form, channels, activate, arguments):
        self.device, self.form, self.channels, self.activate = device, form, list(channels), activate
        self.stream = device.setupStream(direction, form, self.channels, arguments)

    def __enter__(self):
        if self.activate:
            assert self.device.activateStream(self.stream) == 0
        return self

    def __exit__(self, *_):
        self.device.deactivateStream(self.stream)
        self.device.closeStream(self.stream)


class Receiver(Active):
    """A receiving stream of one or more channels."""

    def __init__(self, device, form="CS16", channels=(0,), activate=True, **arguments):
        super().__init__(device, RX, form, channels, activate, arguments)

    def read(self, most=65536, timeout=5 * SECOND):
        """Calls readStream() once. Returns the result and the values of each channel."""
        dtype, values = DTYPES[self.form]
        buffers = [np.zeros(most * values, dtype) for _ in self.channels]
        result = self.device.readStream(self.stream, buffers, most, timeoutUs=timeout)
        return result, [buffer[:max(result.ret, 0) * values] for buffer in buffers]

    def take(self, samples):
        """Reads the given number of samples without a loss. Returns the values of the first channel."""
        parts, left = [], samples
        while left:
            result, (values, *_) = self.read(left)
            assert result.ret > 0, SoapySDR.errToStr(result.ret)
            parts.append(values.copy())
            left -= result.ret
        return np.concatenate(parts)


class Transmitter(Active):
    """A transmitting stream of one channel."""

    def __init__(self, device, form="CS16", activate=True, **arguments):
        super().__init__(device, TX, form, [0], activate, arguments)

    def put(self, values, flags=0, timeout=5 * SECOND):
        """Calls writeStream() once and returns its code."""
        values = np.ascontiguousarray(values)
        samples = len(values) // DTYPES[self.form][1]
        return self.device.writeStream(self.stream, [values], samples, flags, timeoutUs=timeout).ret


def ramp(first, samples):
    """Returns samples of pattern=ramp as ci16_le. The bytes of the stream are consecutive 64-bit numbers."""
    words = np.arange(first // 2, (first + samples + 1) // 2 + 1, dtype="<u8")
    return words.view("<i2")[first % 2 * 2:][:samples * 2]


__all__ = ["RX", "SECOND", "TX", "Receiver", "SoapySDR", "Transmitter", "logged", "radio", "ramp", "util"]
