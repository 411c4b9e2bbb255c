# SPDX-License-Identifier: MIT
"""The Python class Device: attributes and tuning on the kernel's own sysfs.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_device.py
"""
import pytest
from conftest import ADC, DAC, iio_dir, sim

import iio_stream as ios

PHY = "iios-sim-phy"


@pytest.fixture(autouse=True)
def fresh():
    sim()


def phy(name):
    return (iio_dir(PHY) / name).read_text().strip()


def test_attributes_are_read_and_written():
    adc = ios.Device(ADC)
    assert adc.info == ios.device(ADC) and adc.info.label == "rx"
    assert adc[f"{PHY}/in_voltage0/hardwaregain"] == phy("in_voltage0_hardwaregain")
    adc[f"{PHY}/in_voltage0/hardwaregain"] = 17
    assert phy("in_voltage0_hardwaregain").startswith("17")
    # set() returns the value to which the hardware rounded it.
    assert ios.Device(PHY).set("in_voltage0/rf_bandwidth", 1000400) == "1000000"


def test_a_radio_can_be_tuned():
    now = ios.Device(ADC).tune(frequency=2.4e9, gain=40, bandwidth="2M")
    assert (now.frequency, now.gain, now.bandwidth) == (2.4e9, 40, 2e6)
    assert phy("out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert phy("in_voltage0_hardwaregain").startswith("40")
    assert ios.Device(ADC).tuning.frequency == 2.4e9
    ios.Device(DAC).tune(frequency=900e6, gain=-10.25)
    assert phy("out_altvoltage1_TX_LO_frequency") == "900000000"
    assert phy("out_voltage0_hardwaregain").startswith("-10.25")


def test_a_value_that_the_radio_refuses_is_an_error():
    with pytest.raises(ios.DeviceError, match="hardwaregain=99"):
        ios.Device(ADC).tune(gain=99)
