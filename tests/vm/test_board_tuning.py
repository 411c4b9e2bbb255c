# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""The portable options tune the radios of real boards.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_tuning.py
"""
import json
import re

import pytest
from board_scans import load
from conftest import iio_dir, run, sim, stream


def at(device, file):
    return (iio_dir(device) / file).read_text().strip()


def tuned(words):
    return stream(f"{words} null: --samples 4096").json


def test_the_portable_options_tune_an_ad9361():
    load("pluto")
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "slow_attack"
    summary = tuned("iio:cf-ad9361-lpc frequency=2.4G rate=30.72M gain=40 bandwidth=20M antenna=B_BALANCED")
    assert summary["sample_rate"] == 30_720_000
    assert at("ad9361-phy", "out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "manual"
    assert at("ad9361-phy", "in_voltage0_hardwaregain").startswith("40.0")
    assert at("ad9361-phy", "in_voltage_rf_bandwidth") == "20000000"
    assert at("ad9361-phy", "in_voltage0_rf_port_select") == "B_BALANCED"
    # The frequencies of the DAC's tones are not the radio's frequency.
    tone = at("cf-ad9361-dds-core-lpc", "out_altvoltage1_TX1_I_F2_frequency")
    stream("sim: rate=0 pattern=ramp iio:cf-ad9361-dds-core-lpc frequency=900M gain=-20 --samples 4096")
    assert at("ad9361-phy", "out_altvoltage1_TX_LO_frequency") == "900000000"
    assert at("ad9361-phy", "out_voltage0_hardwaregain").startswith("-20.0")
    assert at("cf-ad9361-dds-core-lpc", "out_altvoltage1_TX1_I_F2_frequency") == tone
    tuned("iio:cf-ad9361-lpc agc=fast_attack")
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "fast_attack"
    # The rate is below the chip's minimum, so the core takes one sample of eight.
    assert tuned("iio:cf-ad9361-lpc rate=1M")["sample_rate"] == 1_000_000
    assert at("ad9361-phy", "in_voltage_sampling_frequency") == "8000000"
    assert tuned("iio:cf-ad9361-lpc rate=30.72M")["sample_rate"] == 30_720_000
    assert "agc=hybrid and gain=4" in run("stream iio:cf-ad9361-lpc agc=hybrid gain=4 null:", status=2).err


def test_a_value_outside_of_the_range_is_refused_with_the_range_in_the_users_unit():
    load("pluto")
    for word, text in (("frequency=2400", "2.4 kHz is out of range: 325 MHz to 3.8 GHz"),
                       ("gain=99", "99 dB is out of range: -3 dB to 71 dB"),
                       ("bandwidth=1", "1 Hz is out of range: 200 kHz to 56 MHz"),
                       ("rate=100k", "100 kS/s is out of range: 260.417 kS/s to 61.44 MS/s")):
        assert text in run(f"stream iio:cf-ad9361-lpc {word} null: --samples 9", status=3).err
    assert "agc=slow_attack" in run("stream iio:cf-ad9361-lpc gain=auto null:", status=2).err


def read_back(summary, endpoint="source"):
    end = summary[endpoint] if endpoint == "source" else summary["sinks"][0]
    return end["tuning"]


def test_the_summary_shows_values_that_the_driver_has_rounded():
    load("pluto")
    command = "sim: rate=0 pattern=ramp iio:cf-ad9361-dds-core-lpc gain=-10.2 --samples 4096"
    summary = stream(command).json
    chosen = float(at("ad9361-phy", "out_voltage0_hardwaregain").split()[0])
    assert chosen != -10.2 and read_back(summary, "sink")["gain_db"] == chosen
    assert read_back(summary, "sink")["remarks"] == [f"gain=-10.2: ad9361-phy/out_voltage0/hardwaregain set {chosen:g}"]
    text = run("stream", command).out
    assert f"  tuned    gain=-10.2: ad9361-phy/out_voltage0/hardwaregain set {chosen:g}\n" in text
    assert text.count("  tuned ") == 1


def test_the_summary_shows_all_settings_only_if_verbose():
    load("pluto")
    command = "stream iio:cf-ad9361-lpc frequency=2400000001 rate=30.72M gain=40 bandwidth=20M null: --samples 4096"
    assert "  tuned " not in run(command).out
    tuned, = [line for line in run(command, "-v").out.splitlines() if line.startswith("  tuned ")]
    for file, form in (("out_altvoltage0_RX_LO_frequency", "{:.12g} GHz"), ("in_voltage_sampling_frequency", "{:.12g} MS/s"),
                       ("in_voltage_rf_bandwidth", "bandwidth {:.12g} MHz")):
        value = float(at("ad9361-phy", file)) / (1e9 if "LO" in file else 1e6)
        assert form.format(value) in tuned, tuned
    assert f"gain {float(at('ad9361-phy', 'in_voltage0_hardwaregain').split()[0]):g} dB" in tuned
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") in tuned


@pytest.mark.parametrize("rate", ["4M", "30.72M", "61.44M"])
def test_the_bandwidth_follows_the_rate_by_the_rule_of_adis_library(rate):
    """ad9361.h of libad9361-iio: Fpass = rate / 3, Fstop = 1.25 Fpass, wnomRX = 1.4 Fstop, wnomTX = 1.6 Fstop."""
    load("pluto")
    hertz = float(rate[:-1]) * 1e6
    stop = 1.25 * hertz / 3
    summary = tuned(f"iio:cf-ad9361-lpc rate={rate} bandwidth=auto")
    set_to = int(at("ad9361-phy", "in_voltage_rf_bandwidth"))
    assert set_to == pytest.approx(1.4 * stop, abs=1) and read_back(summary)["bandwidth_hz"] == set_to
    assert read_back(summary)["remarks"] == [f"bandwidth=auto: ad9361-phy/in_voltage0/rf_bandwidth set {set_to}"]
    stream(f"sim: rate={rate} pattern=ramp iio:cf-ad9361-dds-core-lpc rate=auto bandwidth=auto --samples 4096")
    most = int(at("ad9361-phy", "out_voltage_rf_bandwidth_available").strip("[]").split()[2])
    assert int(at("ad9361-phy", "out_voltage_rf_bandwidth")) == pytest.approx(min(1.6 * stop, most), abs=1)


def test_an_automatic_bandwidth_stays_in_the_drivers_range():
    load("pluto")
    least = int(at("ad9361-phy", "in_voltage_rf_bandwidth_available").strip("[]").split()[0])
    tuned("iio:cf-ad9361-lpc rate=260.5k bandwidth=auto")  # 7/12 of it is less
    assert int(at("ad9361-phy", "in_voltage_rf_bandwidth")) == least
    tuned("iio:cf-ad9361-lpc rate=4M")  # by itself, a rate leaves the bandwidth alone
    assert int(at("ad9361-phy", "in_voltage_rf_bandwidth")) == least


def test_info_shows_each_setting_with_its_range():
    load("pluto")
    text = run("info cf-ad9361-lpc").out
    for option, value in (("frequency", "2.40 GHz +325.00 MHz to 3.80 GHz"), ("gain", "71 dB +-3 dB to 71 dB"),
                          ("bandwidth", "18.00 MHz +200.00 kHz to 56.00 MHz")):
        assert re.search(f"^ +{option}= +{value} +ad9361-phy/", text, re.MULTILINE), text


def test_a_board_with_the_labs_clock_accepts_every_rate_that_it_lists():
    """The board's description has a different clock."""
    sim(board="pluto", rate=3_840_000)
    for name, rates in (("cf-ad9361-lpc", "in_voltage_sampling_frequency"),
                        ("cf-ad9361-dds-core-lpc", "out_voltage_sampling_frequency")):
        file = iio_dir(name) / rates
        listed = (iio_dir(name) / f"{rates}_available").read_text().split()
        assert listed == ["3840000", "480000"]
        for rate in reversed(listed):
            file.write_text(rate)
            assert file.read_text().strip() == rate


def test_the_channels_select_which_of_two_chips_is_tuned():
    load("fmcomms5")
    before = at("ad9361-phy", "out_altvoltage0_RX_LO_frequency"), at("ad9361-phy-B", "in_voltage0_hardwaregain")
    tuned("iio:cf-ad9361-A channels=voltage6,voltage7 frequency=1G gain=31")
    assert at("ad9361-phy-B", "out_altvoltage0_RX_LO_frequency") == "1000000000"
    assert at("ad9361-phy-B", "in_voltage1_hardwaregain").startswith("31.0")
    assert (at("ad9361-phy", "out_altvoltage0_RX_LO_frequency"), at("ad9361-phy-B", "in_voltage0_hardwaregain")) == before
    tuned("iio:cf-ad9361-A frequency=1.5G")
    assert {at(phy, "out_altvoltage0_RX_LO_frequency") for phy in ("ad9361-phy", "ad9361-phy-B")} == {"1500000000"}


def test_the_portable_options_tune_other_transceivers():
    load("adrv9002_splitdma")
    tuned("iio:axi-adrv9002-rx2-lpc frequency=3G gain=20")
    assert at("adrv9002-phy", "out_altvoltage1_RX2_LO_frequency") == "3000000000"
    assert at("adrv9002-phy", "in_voltage1_gain_control_mode") == "spi"
    assert at("adrv9002-phy", "in_voltage1_hardwaregain").startswith("20.0")
    tuned("iio:axi-adrv9002-rx-lpc agc=automatic")
    assert at("adrv9002-phy", "in_voltage0_gain_control_mode") == "automatic"
    rate = int(at("adrv9002-phy", "in_voltage0_sampling_frequency"))
    assert tuned(f"iio:axi-adrv9002-rx-lpc rate={rate}")["sample_rate"] == rate  # unchanged
    run(f"stream iio:axi-adrv9002-rx-lpc rate={rate + 1000} null:", status=3)  # its profile sets the rate
    load("ad9371")
    tuned("iio:axi-ad9371-rx-obs-hpc frequency=2.5G gain=40")
    assert at("ad9371-phy", "out_altvoltage2_RX_SN_LO_frequency") == "2500000000"
    assert at("ad9371-phy", "in_voltage2_hardwaregain").startswith("40.0")
    assert at("ad9371-phy", "in_voltage2_gain_control_mode") == "manual"


def test_a_converter_with_oscillators_can_be_tuned_to_both_signs(tmp_path):
    load("ad9081")
    # The device has four pairs at four frequencies, so a recording of all of them has no frequency.
    run("record iio:axi-ad9081-rx-hpc", tmp_path / "all.sigmf-meta", "--samples 4096 --json")
    assert "core:frequency" not in json.loads((tmp_path / "all.sigmf-meta").read_text())["captures"][0]
    run("record iio:axi-ad9081-rx-hpc channels=voltage1_i,voltage1_q frequency=-123456789", tmp_path / "one.sigmf-meta",
        "--samples 4096 --json")
    assert at("axi-ad9081-rx-hpc", "in_voltage1_i_main_nco_frequency") == "-123456789"
    assert json.loads((tmp_path / "one.sigmf-meta").read_text())["captures"][0]["core:frequency"] == -123456789
    stream("sim: rate=0 pattern=ramp iio:axi-ad9081-tx-hpc channels=voltage2_i,voltage2_q frequency=-1G --samples 4096")
    assert at("axi-ad9081-rx-hpc", "out_voltage2_i_main_nco_frequency") == "-1000000000"
