# SPDX-License-Identifier: MIT
"""Samples, times and losses of sim:, with python3-soapysdr."""
import numpy as np
import pytest
from soapy_radio import RX, SECOND, Receiver, SoapySDR, logged, radio, ramp
from SoapySDR import (
    SOAPY_SDR_END_BURST,
    SOAPY_SDR_HAS_TIME,
    SOAPY_SDR_NOT_SUPPORTED,
    SOAPY_SDR_OVERFLOW,
    SOAPY_SDR_STREAM_ERROR,
    SOAPY_SDR_TIME_ERROR,
    SOAPY_SDR_TIMEOUT,
    SOAPY_SDR_WARNING,
)

FAST = "sim:?rate=0"  # without a rate, and therefore without times


def test_native_samples_are_unchanged():
    with radio(uri=FAST) as device, Receiver(device) as stream:
        assert np.array_equal(stream.take(1_000_001), ramp(0, 1_000_001))


@pytest.mark.parametrize(("form", "scale", "error"), [("CF32", 1 / 32768, 1e-7), ("CS8", 1 / 256, 0.5)])
def test_other_formats_are_converted_to_their_full_scale(form, scale, error):
    with radio(uri=FAST, pattern="noise", seed="7") as device:
        with Receiver(device) as stream:
            native = stream.take(100_000)
        with Receiver(device, form) as stream:
            made = stream.take(100_000)
    wanted = np.minimum(native * scale, 127 if form == "CS8" else 1)
    assert np.ptp(native) > 30000 and np.abs(made - wanted).max() <= error


def test_each_channel_has_its_own_buffer():
    with radio(uri=FAST, format="ci16_le", channels="4") as device:
        assert device.getNumChannels(RX) == 2
        with Receiver(device, channels=(1, 0)) as stream:
            result, (second, first) = stream.read(5000)
    both = ramp(0, 10_000).reshape(-1, 4)[:result.ret]
    assert result.ret == 5000
    assert np.array_equal(first.reshape(-1, 2), both[:, :2])
    assert np.array_equal(second.reshape(-1, 2), both[:, 2:])


def test_a_real_converter_can_be_read_as_complex_samples():
    with radio(uri=FAST, format="ri16_le") as device:
        assert device.getStreamFormats(RX, 0) == ("S16", "F32", "S8", "CF32")
        with Receiver(device, "CF32") as stream:
            values = stream.take(1000)
    real = np.arange(250, dtype="<u8").view("<i2") / np.float32(32768)
    assert np.array_equal(values[::2], real) and not values[1::2].any()


def test_a_loss_is_reported_as_one_overflow_and_logged():
    with radio(uri="sim:?pattern=ramp&rate=1M", drop_at="100k", drop="1000") as device, logged() as log:
        with Receiver(device) as stream:
            assert np.array_equal(stream.take(100_000), ramp(0, 100_000))
            result, _ = stream.read()
            assert result.ret == SOAPY_SDR_OVERFLOW
            assert np.array_equal(stream.take(100_000), ramp(101_000, 100_000))
    assert [text for level, text in log if level == SOAPY_SDR_WARNING] == [
        "iiostream: 1000 samples lost after sample 100000 (counter)"]


def test_times_advance_with_the_samples_and_include_lost_ones():
    with radio(uri="sim:?pattern=ramp&rate=1M", drop_at="50k", drop="1000") as device, Receiver(device) as stream:
        begun = device.getHardwareTime()
        expected = None
        for _ in range(20):
            result, _ = stream.read(5000)
            if result.ret == SOAPY_SDR_OVERFLOW:
                expected += 1_000_000  # one microsecond per sample
                continue
            assert result.ret > 0 and result.flags & SOAPY_SDR_HAS_TIME
            assert expected is None or abs(result.timeNs - expected) <= 2
            assert expected is not None or abs(result.timeNs - begun) < 2e9
            expected = result.timeNs + result.ret * 1000


def test_a_stream_can_begin_at_a_given_time():
    with radio(uri="sim:?pattern=ramp&rate=1M") as device, Receiver(device, activate=False) as stream:
        at = device.getHardwareTime() + 50_000_000
        assert device.activateStream(stream.stream, SOAPY_SDR_HAS_TIME, at) == 0
        result, _ = stream.read()
        assert result.ret > 0 and abs(result.timeNs - at) <= 500  # half a sample
        device.deactivateStream(stream.stream)
        assert device.activateStream(stream.stream, SOAPY_SDR_HAS_TIME, at) == SOAPY_SDR_TIME_ERROR
    with radio(uri=FAST) as device, Receiver(device, activate=False) as stream:
        assert device.activateStream(stream.stream, SOAPY_SDR_HAS_TIME, at) == SOAPY_SDR_NOT_SUPPORTED


def test_a_stream_can_end_at_a_time_or_after_a_number_of_samples():
    with radio(uri="sim:?pattern=ramp&rate=1M") as device, Receiver(device, activate=False) as stream:
        assert device.activateStream(stream.stream, 0, 0, 30_000) == 0
        assert len(stream.take(29_999)) == 2 * 29_999
        result, _ = stream.read()
        assert result.ret == 1 and result.flags & SOAPY_SDR_END_BURST
        assert stream.read(timeout=1000)[0].ret == SOAPY_SDR_TIMEOUT
        device.deactivateStream(stream.stream)
        device.activateStream(stream.stream)
        first, _ = stream.read(1000)
        device.deactivateStream(stream.stream, SOAPY_SDR_HAS_TIME, first.timeNs + 20_000_000)
        got = first.ret
        while (result := stream.read(1000, timeout=SECOND)[0]).ret > 0:
            got += result.ret
        assert result.ret == SOAPY_SDR_TIMEOUT and 20_000 <= got <= 21_000


def test_reading_an_inactive_stream_times_out():
    with radio(uri="sim:") as device, Receiver(device, activate=False) as stream:
        assert stream.read(timeout=50_000)[0].ret == SOAPY_SDR_TIMEOUT
        device.activateStream(stream.stream)
        assert stream.read()[0].ret > 0
        device.deactivateStream(stream.stream)
        assert stream.read(timeout=50_000)[0].ret == SOAPY_SDR_TIMEOUT


def test_unplugging_the_device_is_an_error_and_logged_once():
    with radio(uri="sim:?pattern=ramp&rate=4M", unplug_at="100k") as device, logged() as log, Receiver(device) as stream:
        while (result := stream.read()[0]).ret > 0:
            pass
        assert result.ret == SOAPY_SDR_STREAM_ERROR
        assert stream.read(timeout=1000)[0].ret == SOAPY_SDR_STREAM_ERROR
    assert sum("No such device" in text for _, text in log) == 1, log


def test_a_new_rate_takes_effect_while_the_stream_is_active():
    with radio(uri="sim:?pattern=ramp&rate=1M") as device, Receiver(device) as stream:
        stream.take(10_000)
        device.setSampleRate(RX, 0, 4e6)
        assert device.getSampleRate(RX, 0) == 4e6
        first, _ = stream.read(4000)
        second, _ = stream.read(4000)
        assert second.timeNs - first.timeNs == first.ret * 250


def test_arguments_of_a_stream_set_its_blocks_and_are_validated():
    with radio(uri=FAST) as device:
        remotes = {"remote:mtu": "4096"}  # SoapyRemote's server passes this on
        with Receiver(device, bufflen="4096", buffers="4", **remotes) as stream:
            assert device.getStreamMTU(stream.stream) == 4096
            assert device.getNumDirectAccessBuffers(stream.stream) == 4
            assert stream.read(100_000)[0].ret == 4096
        for wrong, said in (({"bufflem": "1"}, "bufflen"), ({"time": "indx"}, "index"),
                            ({"pattern": "rump"}, "ramp")):
            with pytest.raises(RuntimeError, match=said):
                Receiver(device, **wrong)
        with pytest.raises(RuntimeError, match="CS12"):
            device.setupStream(RX, "CS12", [0])
        with pytest.raises(RuntimeError, match="channel 3"):
            device.setupStream(RX, "CS16", [3])


def test_streams_left_open_are_closed_with_their_device():
    with radio(uri="sim:") as device:
        streams = [device.setupStream(RX, "CS16", [0]) for _ in range(3)]
        for stream in streams[:2]:
            device.activateStream(stream)
        buffer = np.zeros(20, np.int16)
        assert device.readStream(streams[0], [buffer], 10, timeoutUs=SECOND).ret == 10
        device.closeStream(streams[1])
    with radio(uri="sim:") as device, Receiver(device) as stream:
        assert stream.read()[0].ret > 0
    assert SoapySDR.errToStr(SOAPY_SDR_OVERFLOW) == "OVERFLOW"
