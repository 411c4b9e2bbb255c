# SPDX-License-Identifier: MIT
"""Arguments, settings and rates of sim:, with python3-soapysdr."""
import numpy as np
import pytest
from soapy_radio import RX, Receiver, SoapySDR, radio


def test_options_of_the_endpoint_are_arguments_and_settings():
    with radio(uri="sim:?rate=0", pattern="tone") as device:
        assert device.readSetting("pattern") == "tone"
        assert {info.key for info in device.getSettingInfo()} >= {"pattern", "seed", "drop_at"}
        device.writeSetting("pattern", "noise")
        device.writeSetting("seed", "3")
        with Receiver(device) as stream:
            noise = stream.take(1000)
        device.writeSetting("pattern", "tone")
        with Receiver(device) as stream:
            tone = stream.take(1000)
    tone, noise = (np.hypot(*values.reshape(-1, 2).T.astype(float)) for values in (tone, noise))
    assert np.ptp(tone) < 3 and np.ptp(noise) > 10_000


def test_a_tone_has_the_frequency_of_its_setting():
    with radio(uri="sim:", pattern="tone", frequency="250k", rate="1M") as device:
        with Receiver(device, "CF32") as stream:
            values = stream.take(4096).view(np.complex64)
    spectrum = np.abs(np.fft.fft(values))
    assert spectrum.argmax() == 1024 and abs(np.abs(values).mean() - 0.5) < 0.01


def test_the_error_of_an_unknown_setting_suggests_the_nearest():
    with radio(uri="sim:") as device:
        for call in (lambda: device.writeSetting("patern", "tone"), lambda: device.readSensor("temp"),
                     lambda: device.setAntenna(RX, 0, "A"), lambda: device.setGain(RX, 0, "LNA", 1.0),
                     lambda: device.setSampleRate(RX, 0, -1.0)):
            with pytest.raises(RuntimeError):
                call()
        with pytest.raises(RuntimeError, match="pattern"):
            device.writeSetting("patern", "tone")
        with pytest.raises(RuntimeError, match="ramp"):
            device.writeSetting("pattern", "rump")


def test_missing_features_of_a_radio_are_reported_as_missing():
    with radio(uri="sim:") as device:
        assert device.getNumChannels(RX) == 1 and device.getNumChannels(SoapySDR.SOAPY_SDR_TX) == 0
        assert list(device.listAntennas(RX, 0)) == ["RX"] and device.getAntenna(RX, 0) == "RX"
        assert list(device.listGains(RX, 0)) == [] and not device.hasGainMode(RX, 0)
        assert list(device.listFrequencies(RX, 0)) == [] and device.getFrequency(RX, 0) == 0
        device.setFrequency(RX, 0, 100e6)  # programs do this without a check
        device.setGainMode(RX, 0, False)
        assert device.getSampleRate(RX, 0) == 1e6 and device.getSampleRateRange(RX, 0)[0].maximum() == 1e9
        assert device.hasHardwareTime() and not device.hasHardwareTime("PPS")


def test_a_recording_can_be_a_device(tmp_path):
    values = np.arange(2000, dtype="<i2")
    (tmp_path / "some.ci16").write_bytes(values.tobytes())
    with radio(uri=f"{tmp_path}/some.ci16", rate="1M") as device, Receiver(device) as stream:
        assert device.getSampleRate(RX, 0) == 1e6
        assert np.array_equal(stream.take(1000), values)
        assert stream.read()[0].ret == SoapySDR.SOAPY_SDR_STREAM_ERROR  # the recording has ended
