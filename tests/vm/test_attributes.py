# SPDX-License-Identifier: MIT
"""Attributes are listed, read, written and read back, by their own names and by the portable ones.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_attributes.py

Linux 6.12 (or 6.1), 2048 MB.
"""
import pathlib
import re
import shutil

import pytest
from conftest import ADC, DAC, iio_dir, run, sim, stream
from errors import failing, usage

PHY = "iios-sim-phy"


@pytest.fixture(autouse=True)
def fresh():
    sim()


def phy(name, value=None):
    path = iio_dir(PHY) / name
    if value is not None:
        path.write_text(str(value))
    return path.read_text().strip()


def test_info_lists_devices_channels_formats_and_buffers():
    info = run("info --json").json
    devices = {device["name"]: device for device in info["devices"]}
    assert info["command"] == "info" and {ADC, DAC, PHY} <= set(devices)
    adc = devices[ADC]
    assert adc["label"] == "rx" and adc["id"] == iio_dir(ADC).name and adc["sample_rate"] == 30720000
    buffer, = adc["buffers"]
    assert buffer["direction"] == "in" and buffer["alignment_bytes"] == 8
    assert [(c["id"], c["scan_index"], c["scan_type"]) for c in buffer["channels"]] == [
        (name, i, "le:s16/16>>0") for i, name in enumerate(["voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q"])]
    assert devices[PHY]["buffers"] == []
    names = {(a["channel"], a["name"]) for a in devices[PHY]["attributes"]}
    assert ("in_voltage0", "hardwaregain") in names and ("out_altvoltage0", "frequency") in names
    assert all((a["value"] is None) != (a["error"] is None) for d in info["devices"] for a in d["attributes"])


@pytest.mark.parametrize("name", [ADC, "rx", f"iio:{ADC}", "ID"])
def test_a_device_can_be_named_by_name_label_and_id(name):
    name = iio_dir(ADC).name if name == "ID" else name
    assert [d["name"] for d in run(f"info {name} --json").json["devices"]] == [ADC]
    stream(f"iio:{name.removeprefix('iio:') if name == f'iio:{ADC}' else name} null: --samples 1000")


def test_info_lists_each_device_in_a_line():
    adc, = re.findall(rf"^iio:device\d+ +{ADC} .*$", run("info").out, re.MULTILINE)
    assert "ADC, 4 channels (2 I/Q pairs)" in adc and adc.endswith("DMABUFs")
    dac, = re.findall(rf"^iio:device\d+ +{DAC} .*$", run("info").out, re.MULTILINE)
    assert "DAC, " in dac


def test_info_of_a_device_shows_settings_with_range_and_unit():
    run(f"attr set {PHY}/RX_LO/frequency 2.4G")
    text = run(f"info {ADC}").out
    line, = re.findall(r"^ +frequency= .*$", text, re.MULTILINE)
    assert "2.40 GHz" in line and f"{PHY}/" in line
    assert " dB " in re.findall(r"^ +gain= .*$", text, re.MULTILINE)[0]
    assert "hardwaregain =" not in text and "hardwaregain =" in run(f"info {ADC} --all").out + run(f"info {PHY}").out


def test_info_with_all_contains_the_same_facts_as_the_json():
    text = run("info --all").out
    for word in (ADC, DAC, PHY, "voltage0_i", "le:s16/16>>0", "hardwaregain", "multiples of 8 bytes"):
        assert word in text


def test_attributes_are_listed_read_and_written():
    assert f"in_voltage0/hardwaregain = {phy('in_voltage0_hardwaregain')}" in run(f"attr list {PHY}").out
    assert "out_voltage0" not in run(f"attr list {PHY}/in_voltage0").out
    assert run(f"attr get {PHY}/in_voltage0/hardwaregain").out.strip() == phy("in_voltage0_hardwaregain")
    run(f"attr set {PHY}/in_voltage0/hardwaregain 17")
    assert phy("in_voltage0_hardwaregain").startswith("17")
    # The channel's name works as well as its id.
    run(f"attr set {PHY}/RX_LO/frequency 1000000000")
    assert phy("out_altvoltage0_RX_LO_frequency") == "1000000000"


def test_the_parts_of_an_attributes_path_can_be_separate_words():
    run(f"attr set {PHY} in_voltage0 hardwaregain 21")
    assert run(f"attr get {PHY} in_voltage0 hardwaregain").out.startswith("21")
    assert "in_voltage0/hardwaregain = 21" in run(f"attr list {PHY} in_voltage0").out


def test_a_number_can_have_a_suffix():
    run(f"attr set {PHY}/RX_LO/frequency 2.4G")
    assert phy("out_altvoltage0_RX_LO_frequency") == "2400000000"
    run(f"attr set {PHY} in_voltage0 rf_bandwidth 5M")
    assert phy("in_voltage_rf_bandwidth") == "5000000"


def test_a_value_can_be_the_content_of_a_file(tmp_path):
    (tmp_path / "gain").write_text("23\n")
    run(f"attr set {PHY}/in_voltage0/hardwaregain @{tmp_path}/gain")
    assert phy("in_voltage0_hardwaregain").startswith("23")
    (tmp_path / "empty").touch()
    assert "it is empty" in run(f"attr set {PHY}/in_voltage0/hardwaregain @{tmp_path}/empty", status=5).err
    assert "no-such-file" in run(f"attr set {PHY}/in_voltage0/hardwaregain @no-such-file", status=5).err


def test_the_value_that_the_hardware_chose_is_printed():
    assert run(f"attr set {PHY}/in_voltage0/rf_bandwidth 1000400").out.strip() == "1000000"
    assert run(f"attr set {PHY}/in_voltage0/hardwaregain 20.4").out.split()[0].startswith("20")


@pytest.mark.parametrize("value", ["99", "-50"])
def test_a_value_out_of_range_is_reported_as_the_devices_error(value):
    before = phy("in_voltage0_hardwaregain")
    # "--" ends the options, for negative numbers.
    result = run(f"attr set -- {PHY}/in_voltage0/hardwaregain {value}" if value[0] == "-" else
                 f"attr set {PHY}/in_voltage0/hardwaregain {value}", status=3)
    assert f"{PHY}/in_voltage0/hardwaregain={value}" in result.err and "Invalid argument" in result.err
    assert phy("in_voltage0_hardwaregain") == before


def test_wrong_names_are_usage_errors():
    usage(f"attr get {PHY}/in_voltage0/hardwregain", words=["hardwregain", "hardwaregain"])
    usage(f"attr get {PHY}/in_voltage9/hardwaregain", words=["in_voltage9", "in_voltage0"])
    assert PHY in run("attr get iios-sim-fhy/in_voltage0/hardwaregain", status=3).err
    usage(f"attr set {PHY}/in_voltage0/hardwaregain", words=["value is missing"])


def test_the_portable_options_tune_the_front_end_of_the_receiver():
    stream(f"iio:{ADC} frequency=2.4G gain=33 bandwidth=5M rate=4M antenna=B_BALANCED null: --samples 1000")
    assert phy("out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert phy("in_voltage0_hardwaregain").startswith("33")
    assert phy("in_voltage_rf_bandwidth") == "5000000"
    assert phy("in_voltage0_rf_port_select") == "B_BALANCED"


def test_the_portable_options_tune_the_front_end_of_the_transmitter():
    stream(f"sim: pattern=ramp channels=4 rate=0 iio:{DAC} frequency=900M gain=-10.25 bandwidth=2M --samples 1000")
    assert phy("out_altvoltage1_TX_LO_frequency") == "900000000"
    assert phy("out_voltage0_hardwaregain").startswith("-10.25")
    assert phy("out_voltage_rf_bandwidth") == "2000000"


def test_a_rate_is_read_back_into_the_summary():
    sim(rate=100_000)
    result = stream(f"iio:{ADC} rate=200k null: --duration 200ms")
    assert result.json["sample_rate"] == 200_000


def test_gain_leaves_the_automatic_mode():
    phy("in_voltage0_gain_control_mode", "slow_attack")
    stream(f"iio:{ADC} gain=12 null: --samples 1000")
    assert phy("in_voltage0_gain_control_mode") == "manual"
    assert phy("in_voltage0_hardwaregain").startswith("12")


@pytest.mark.parametrize("option,name,value", [
    (f"attr.{PHY}/in_voltage0/hardwaregain=21", "in_voltage0_hardwaregain", "21"),
    (f"attr.{PHY}/RX_LO/frequency=700000000", "out_altvoltage0_RX_LO_frequency", "700000000"),
    (f"attr.{PHY}/in_voltage0/gain_control_mode=hybrid", "in_voltage0_gain_control_mode", "hybrid")])
def test_any_attribute_of_any_device_is_an_option(option, name, value):
    stream(f"iio:{ADC} {option} null: --samples 1000")
    assert phy(name).startswith(value)


def test_an_attribute_of_the_converter_itself_is_an_option():
    sim(rate=1_000_000)
    result = stream(f"iio:{ADC} attr.sampling_frequency=500000 null: --samples 1000")
    assert result.json["sample_rate"] == 500_000


def test_wrong_options_and_values_are_refused_with_their_names():
    failing(f"iio:{ADC} gain=99 null: --samples 9", status=3, name="EINVAL", words=["hardwaregain=99", PHY])
    failing(f"iio:{ADC} gain=high null: --samples 9", status=2, name="EINVAL", words=["gain", "high"])
    failing(f"iio:{ADC} antenna=Z null: --samples 9", status=3, name="EINVAL", words=["rf_port_select=Z"])
    failing(f"iio:{ADC} phy=iios-sim-phi gain=9 null: --samples 9", status=3, name="ENODEV",
            words=["iios-sim-phi"])
    failing(f"iio:{ADC} attr.{PHY}/in_voltage0/hardwargain=9 null: --samples 9", status=2, name="EINVAL",
            words=["hardwargain", "hardwaregain"])
    failing(f"iio:{ADC} frequency=9k null: --samples 9", status=3, name="EINVAL", words=["frequency=9000"])


def test_doctor_finds_no_faults_in_the_lab():
    shutil.rmtree("/var/lib/iio-stream", ignore_errors=True)
    doctor = run("doctor --json").json
    checks = {check["name"]: check for check in doctor["checks"]}
    for name in ("kernel", "heap:system", "udmabuf", "debugfs", "IIO devices"):
        assert checks[name]["ok"], checks[name]
    assert ADC in checks["IIO devices"]["detail"] and doctor["probe"] is None
    assert all(check["fix"] for check in doctor["checks"] if not check["ok"])
    assert not pathlib.Path("/var/lib/iio-stream").exists()  # doctor changes nothing
    assert "ok      kernel" in run("doctor").out


def test_a_mistyped_option_is_found_before_the_radio_is_touched():
    run(f"attr set {PHY}/RX_LO/frequency 1000000000")
    run(f"stream iio:{ADC} frequency=2.4G chanels=voltage0 null: --samples 100", status=2)
    assert run(f"attr get {PHY}/RX_LO/frequency").out.strip() == "1000000000"
