# SPDX-License-Identifier: MIT
"""Transmitting with python3-soapysdr to sinks that need no hardware."""
import numpy as np
import pytest
from soapy_radio import RX, SECOND, TX, Receiver, Transmitter, radio, ramp
from SoapySDR import (
    SOAPY_SDR_END_BURST,
    SOAPY_SDR_HAS_TIME,
    SOAPY_SDR_NOT_SUPPORTED,
    SOAPY_SDR_STREAM_ERROR,
    SOAPY_SDR_TIMEOUT,
)
from waiting import until


def test_the_sink_gets_all_written_samples(tmp_path):
    values = ramp(0, 300_001)
    with radio(tx=f"{tmp_path}/sent.ci16") as device:
        assert (device.getNumChannels(RX), device.getNumChannels(TX)) == (0, 1)
        with Transmitter(device) as stream:
            assert stream.put(values[:20_002]) == 10_001  # not a whole number of blocks
            assert stream.put(values[20_002:]) == 290_000
    assert np.array_equal(np.fromfile(tmp_path / "sent.ci16", "<i2"), values)


def test_floats_are_not_converted_if_the_sink_accepts_floats(tmp_path):
    values = np.linspace(-1, 1, 20_000, dtype=np.float32)
    with radio(tx=f"{tmp_path}/sent.cf32") as device, Transmitter(device, "CF32") as stream:
        assert stream.put(values) == 10_000
    assert np.array_equal(np.fromfile(tmp_path / "sent.cf32", np.float32), values)


def test_the_end_of_a_burst_is_sent_at_once(tmp_path):
    sent = tmp_path / "sent.ci16"
    with radio(tx=f"{sent}?engine=buffered") as device, Transmitter(device) as stream:
        stream.put(ramp(0, 1000), SOAPY_SDR_END_BURST)
        until(lambda: sent.stat().st_size == 4000, "the burst in the file")


def test_writing_to_a_full_sink_times_out():
    with radio(tx="null:?stall_at=0&stall_for=2s", uri="sim:") as device:
        assert device.getFullDuplex(TX, 0)
        with Transmitter(device, buffers="4", bufflen="1024") as stream:
            sent = [stream.put(ramp(0, 1024), timeout=50_000) for _ in range(6)]
    assert sent[:3] == [1024] * 3 and sent[-1] == SOAPY_SDR_TIMEOUT


def test_an_activation_with_a_number_of_samples_accepts_no_more(tmp_path):
    with radio(tx=f"{tmp_path}/sent.ci16") as device, Transmitter(device, activate=False) as stream:
        assert stream.put(ramp(0, 10), timeout=1000) == SOAPY_SDR_TIMEOUT  # not active
        device.activateStream(stream.stream, SOAPY_SDR_END_BURST, 0, 1500)
        assert stream.put(ramp(0, 1000)) == 1000
        assert stream.put(ramp(1000, 1000)) == 500
        assert stream.put(ramp(0, 10), timeout=1000) == SOAPY_SDR_TIMEOUT
    assert np.array_equal(np.fromfile(tmp_path / "sent.ci16", "<i2"), ramp(0, 1500))


def test_timed_transmission_is_not_supported():
    with radio(tx="null:") as device, Transmitter(device, activate=False) as stream:
        now = device.getHardwareTime()
        assert device.activateStream(stream.stream, SOAPY_SDR_HAS_TIME, now) == SOAPY_SDR_NOT_SUPPORTED
        device.activateStream(stream.stream)
        assert stream.put(ramp(0, 10), SOAPY_SDR_HAS_TIME) == SOAPY_SDR_NOT_SUPPORTED
        assert device.readStreamStatus(stream.stream, timeoutUs=1000).ret == SOAPY_SDR_NOT_SUPPORTED
        assert device.deactivateStream(stream.stream, SOAPY_SDR_HAS_TIME, now) == SOAPY_SDR_NOT_SUPPORTED
        assert device.readStream(stream.stream, [np.zeros(2, np.int16)], 1).ret == SOAPY_SDR_NOT_SUPPORTED


def test_a_sink_that_fails_is_an_error(tmp_path):
    (tmp_path / "there.ci16").write_bytes(b"")
    with radio(tx=f"{tmp_path}/there.ci16") as device, pytest.raises(RuntimeError, match="exists"):
        Transmitter(device)
    with radio(tx="file:/dev/full?engine=buffered&overwrite=on") as device, Transmitter(device) as stream:
        until(lambda: stream.put(ramp(0, 100_000), timeout=SECOND) == SOAPY_SDR_STREAM_ERROR, "the error")


def test_both_directions_can_stream_at_the_same_time(tmp_path):
    """The program sends the samples that it receives."""
    with radio(uri="sim:?pattern=ramp&rate=2M", tx=f"{tmp_path}/sent.ci16") as device:
        with Receiver(device) as source, Transmitter(device) as sink:
            for _ in range(20):
                assert sink.put(source.take(10_000)) == 10_000
    assert np.array_equal(np.fromfile(tmp_path / "sent.ci16", "<i2"), ramp(0, 200_000))
