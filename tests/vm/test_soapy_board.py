# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""SoapySDR's calls tune the radio of a real board.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_soapy_board.py
"""
import pathlib
import sys

import numpy as np
import pytest
from board_scans import load
from conftest import iio_dir

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "soapy"))
pytest.importorskip("SoapySDR")

from soapy_radio import RX, SECOND, TX, Receiver, radio  # noqa: E402

DAC = "cf-ad9361-dds-core-lpc"


def at(file, device="ad9361-phy"):
    return (iio_dir(device) / file).read_text().strip()


def test_soapysdr_tunes_an_ad9361():
    load("pluto")
    with radio() as device:
        assert device.getHardwareKey() == "ad9361-phy"
        assert (device.getNumChannels(RX), device.getNumChannels(TX)) == (1, 1)
        assert device.hasGainMode(RX, 0) and device.getGainMode(RX, 0)
        device.setFrequency(RX, 0, 1.5e9)
        device.setSampleRate(RX, 0, 30.72e6)
        device.setBandwidth(RX, 0, 20e6)
        device.setAntenna(RX, 0, "B_BALANCED")
        device.setGain(RX, 0, "PGA", 40)
        assert at("out_altvoltage0_RX_LO_frequency") == "1500000000"
        assert at("in_voltage_rf_bandwidth") == "20000000"
        assert at("in_voltage0_rf_port_select") == "B_BALANCED"
        assert at("in_voltage0_gain_control_mode") == "manual" and not device.getGainMode(RX, 0)
        assert at("in_voltage0_hardwaregain").startswith("40.0") and device.getGain(RX, 0) == 40
        device.writeSetting(RX, 0, "agc_mode", "fast_attack")
        device.setGainMode(RX, 0, True)
        assert at("in_voltage0_gain_control_mode") == "fast_attack"
        device.setFrequency(TX, 0, 900e6)
        device.setGain(TX, 0, -20)
        assert at("out_altvoltage1_TX_LO_frequency") == "900000000"
        assert at("out_voltage0_hardwaregain").startswith("-20.0") and device.getGain(TX, 0) == -20
        device.setGain(TX, 0, 89)  # on the gain scale of other SoapySDR drivers
        assert at("out_voltage0_hardwaregain").startswith("0.0")
        gains, rates = device.getGainRange(RX, 0), device.getSampleRateRange(RX, 0)
        assert (gains.minimum(), gains.maximum(), gains.step()) == (-3, 71, 1)
        assert rates[0].maximum() == 61.44e6 and "A_BALANCED" in device.listAntennas(RX, 0)
        port = "ad9361-phy/in_voltage0/rf_port_select"
        device.writeSetting(port, "A_BALANCED")
        assert device.getAntenna(RX, 0) == "A_BALANCED" == device.readSetting(port)
        assert float(device.readSensor("temperature")) == int(at("in_temp0_input")) / 1000
        assert float(device.readSensor(RX, 0, "rssi")) == float(at("in_voltage0_rssi").split()[0])
        with pytest.raises(RuntimeError, match="Hz|range|argument"):
            device.setFrequency(RX, 0, 99e9)
        with Receiver(device, "CF32") as stream:
            device.setFrequency(RX, 0, 1.6e9)  # while it streams
            result, (values,) = stream.read(1000, timeout=20 * SECOND)
            assert result.ret == 1000 and abs(values).max() <= 1
        assert device.getFrequency(RX, 0) == 1.6e9


@pytest.mark.parametrize("arguments, after", [({}, ["1", "0"]), ({"tx": f"iio:{DAC}?powerdown=keep"}, ["0", "0"])],
                         ids=["restore", "keep"])
def test_deactivating_restores_the_oscillators_powerdown(arguments, after):
    load("pluto")
    path = "ad9361-phy/out_altvoltage1/powerdown"
    with radio(**arguments) as device:
        stream = device.setupStream(TX, "CS16", [0])
        for found, expected in zip(["1", "0"], after):
            device.writeSetting(path, found)
            assert device.activateStream(stream) == 0
            samples = np.zeros(2 * device.getStreamMTU(stream), np.int16)
            assert device.writeStream(stream, [samples], len(samples) // 2, timeoutUs=20 * SECOND).ret > 0
            device.writeSetting(path, "0")
            assert device.deactivateStream(stream) == 0
            assert at("out_altvoltage1_TX_LO_powerdown") == expected, found
        device.closeStream(stream)
