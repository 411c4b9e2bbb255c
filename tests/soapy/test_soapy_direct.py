# SPDX-License-Identifier: MIT
"""SoapySDR's C interface: direct access to the blocks, and errors that do not end the program."""
import ctypes
import threading
import time
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_long, c_longlong, c_size_t, c_void_p

import numpy as np
import pytest
from soapy_radio import RX, SECOND, TX, ramp
from SoapySDR import SOAPY_SDR_NOT_SUPPORTED, SOAPY_SDR_OVERFLOW, SOAPY_SDR_STREAM_ERROR, SOAPY_SDR_TIMEOUT


class Kwargs(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("keys", POINTER(c_char_p)), ("vals", POINTER(c_char_p))]


C = ctypes.CDLL("libSoapySDR.so.0.8")
C.SoapySDRDevice_makeStrArgs.restype = c_void_p
C.SoapySDRDevice_setupStream.restype = c_void_p
C.SoapySDRDevice_getNumDirectAccessBuffers.restype = c_size_t
C.SoapySDRDevice_lastError.restype = c_char_p
C.SoapySDRKwargs_fromString.restype = Kwargs
for name, count in {"unmake": 1, "closeStream": 2, "getNumDirectAccessBuffers": 2, "activateStream": 5,
                    "deactivateStream": 4}.items():
    function = getattr(C, f"SoapySDRDevice_{name}")
    function.argtypes = [c_void_p, c_void_p, c_int, c_longlong, c_size_t][:count]
C.SoapySDRDevice_setupStream.argtypes = [
    c_void_p, c_int, c_char_p, POINTER(c_size_t), c_size_t, POINTER(Kwargs)]
C.SoapySDRDevice_acquireReadBuffer.argtypes = [
    c_void_p, c_void_p, POINTER(c_size_t), POINTER(c_void_p),
    POINTER(c_int), POINTER(c_longlong), c_long]
C.SoapySDRDevice_acquireWriteBuffer.argtypes = [
    c_void_p, c_void_p, POINTER(c_size_t), POINTER(c_void_p), c_long]
C.SoapySDRDevice_releaseWriteBuffer.argtypes = [
    c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_int), c_longlong]
C.SoapySDRDevice_releaseReadBuffer.argtypes = [c_void_p, c_void_p, c_size_t]
C.SoapySDRDevice_setFrequency.argtypes = [c_void_p, c_int, c_size_t, c_double, c_void_p]
C.SoapySDRDevice_setSampleRate.argtypes = [c_void_p, c_int, c_size_t, c_double]


@pytest.fixture
def opened():
    devices = []

    def make(arguments):
        devices.append(C.SoapySDRDevice_makeStrArgs(arguments.encode()))
        return devices[-1]

    yield make
    for device in devices:
        C.SoapySDRDevice_unmake(device)


def set_up(device, form=b"CS16", channels=(0,), arguments="", direction=RX):
    words = C.SoapySDRKwargs_fromString(arguments.encode())
    numbers = (c_size_t * len(channels))(*channels)
    return C.SoapySDRDevice_setupStream(device, direction, form, numbers, len(channels), byref(words))


def acquire(device, stream, timeout=5 * SECOND):
    """Acquires a buffer. Returns the code, the handle and the values."""
    handle, address, flags, time = c_size_t(), c_void_p(), c_int(), c_longlong()
    got = C.SoapySDRDevice_acquireReadBuffer(device, stream, byref(handle), byref(address), byref(flags),
                                             byref(time), timeout)
    if got <= 0:
        return got, None, None
    return got, handle.value, np.ctypeslib.as_array((ctypes.c_int16 * (2 * got)).from_address(address.value))


def test_a_buffer_is_a_block_and_keeps_its_samples_until_it_is_released(opened):
    device = opened("driver=iiostream,uri=sim:?rate=0")
    stream = set_up(device, arguments="buffers=8, bufflen=1024")
    assert C.SoapySDRDevice_getNumDirectAccessBuffers(device, stream) == 8
    C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0)
    held = [acquire(device, stream) for _ in range(6)]
    assert [got for got, _, _ in held] == [1024] * 6 and len({handle for _, handle, _ in held}) == 6
    assert len({values.ctypes.data for _, _, values in held}) == 6
    for n in range(6, 200):  # the other buffers are reused
        got, handle, values = acquire(device, stream)
        assert got == 1024 and np.array_equal(values, ramp(n * 1024, 1024))
        C.SoapySDRDevice_releaseReadBuffer(device, stream, handle)
    for n, (_, handle, values) in enumerate(held):
        assert np.array_equal(values, ramp(n * 1024, 1024))
        C.SoapySDRDevice_releaseReadBuffer(device, stream, handle)
    assert C.SoapySDRDevice_closeStream(device, stream) == 0


def test_a_block_with_a_loss_is_delivered_in_two_parts(opened):
    device = opened("driver=iiostream,uri=sim:?pattern=ramp&rate=4M,drop_at=1500,drop=100")
    stream = set_up(device, arguments="bufflen=1024")
    C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0)
    parts = []
    while len(parts) < 4:
        got, handle, values = acquire(device, stream)
        parts.append(got)
        if got > 0:
            assert np.array_equal(values, ramp({1024: 0, 476: 1024, 548: 1600}[got], got))
            C.SoapySDRDevice_releaseReadBuffer(device, stream, handle)
    assert parts == [1024, 476, SOAPY_SDR_OVERFLOW, 548]
    C.SoapySDRDevice_closeStream(device, stream)


def test_a_program_that_keeps_every_buffer_gets_an_error(opened):
    device = opened("driver=iiostream,uri=sim:?rate=0")
    stream = set_up(device, arguments="buffers=3, bufflen=1024")
    C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0)
    handles = [acquire(device, stream)[1] for _ in range(3)]
    assert acquire(device, stream, SECOND // 10)[0] == SOAPY_SDR_STREAM_ERROR
    C.SoapySDRDevice_releaseReadBuffer(device, stream, handles[0])
    assert acquire(device, stream)[0] == 1024
    C.SoapySDRDevice_closeStream(device, stream)  # while the program still holds buffers


def test_deactivating_does_not_wait_for_a_read_of_another_thread(opened):
    device = opened("driver=iiostream,uri=sim:?pattern=ramp&rate=1M,stall_at=0,stall_for=20s")
    stream = set_up(device)
    C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0)
    codes = []
    reader = threading.Thread(target=lambda: codes.append(acquire(device, stream, 15 * SECOND)[0]))
    reader.start()
    time.sleep(0.1)  # the reader is waiting by then, or begins later and waits for its whole timeout
    begun = time.monotonic()
    assert C.SoapySDRDevice_deactivateStream(device, stream, 0, 0) == 0
    assert time.monotonic() - begun < 5
    C.SoapySDRDevice_closeStream(device, stream)
    reader.join(30)
    assert codes in ([SOAPY_SDR_TIMEOUT], [SOAPY_SDR_STREAM_ERROR])  # the read can begin after the close


def test_a_stream_can_be_stopped_and_started_while_another_thread_reads(opened):
    """SoapyRemote's server does this."""
    device = opened("driver=iiostream,uri=sim:?pattern=ramp&rate=4M")
    stream = set_up(device, arguments="bufflen=1024")
    codes, done = set(), threading.Event()

    def read():
        while not done.is_set():
            got, handle, _ = acquire(device, stream, SECOND // 100)
            codes.add(got)
            if got > 0:
                C.SoapySDRDevice_releaseReadBuffer(device, stream, handle)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(30):
        assert C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0) == 0
        time.sleep(0.01)
        assert C.SoapySDRDevice_deactivateStream(device, stream, 0, 0) == 0
    done.set()
    reader.join(30)
    assert 1024 in codes and codes <= {1024, SOAPY_SDR_TIMEOUT, SOAPY_SDR_OVERFLOW}
    C.SoapySDRDevice_closeStream(device, stream)


def test_a_write_buffer_is_an_empty_block(opened, tmp_path):
    device = opened(f"driver=iiostream,tx={tmp_path}/sent.ci16")
    stream = set_up(device, arguments="buffers=4, bufflen=1024", direction=TX)
    assert C.SoapySDRDevice_getNumDirectAccessBuffers(device, stream) == 4
    C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0)
    handle, address, flags = c_size_t(), c_void_p(), c_int()
    for first in range(0, 100_000, 1000):
        got = C.SoapySDRDevice_acquireWriteBuffer(device, stream, byref(handle), byref(address), 5 * SECOND)
        assert got == 1024
        np.ctypeslib.as_array((ctypes.c_int16 * 2000).from_address(address.value))[:] = ramp(first, 1000)
        C.SoapySDRDevice_releaseWriteBuffer(device, stream, handle, 1000, byref(flags), 0)
    assert C.SoapySDRDevice_deactivateStream(device, stream, 0, 0) == 0
    C.SoapySDRDevice_closeStream(device, stream)
    assert np.array_equal(np.fromfile(tmp_path / "sent.ci16", "<i2"), ramp(0, 100_000))


def test_several_channels_have_no_direct_access(opened):
    device = opened("driver=iiostream,uri=sim:?rate=0,format=ci16_le,channels=4")
    stream = set_up(device, channels=(0, 1))
    assert C.SoapySDRDevice_getNumDirectAccessBuffers(device, stream) == 0
    C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0)
    assert acquire(device, stream)[0] == SOAPY_SDR_NOT_SUPPORTED


def test_mistakes_are_reported_by_the_call(opened):
    assert C.SoapySDRDevice_makeStrArgs(b"driver=iiostream,uri=sim:?pattern=rump") is None
    assert b"ramp" in C.SoapySDRDevice_lastError()
    device = opened("driver=iiostream,uri=sim:")
    assert set_up(device, b"CU4") is None
    assert b"CU4" in C.SoapySDRDevice_lastError()
    assert C.SoapySDRDevice_setSampleRate(device, RX, 7, 1e6) != 0
    stream = set_up(device)
    assert C.SoapySDRDevice_closeStream(device, stream) == 0
    assert acquire(device, stream)[0] == SOAPY_SDR_STREAM_ERROR  # the stream is closed
    assert C.SoapySDRDevice_activateStream(device, stream, 0, 0, 0) == SOAPY_SDR_STREAM_ERROR
