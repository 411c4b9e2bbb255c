# SPDX-License-Identifier: MIT
"""The output of `info` for the devices of a context that libiio reads from a file (xml:PATH)."""
import os
import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
pytest.importorskip("jsonschema")
import schemas  # noqa: E402


def device(number, name, *channels, label=None):
    said = f' label="{label}"' if label else ""
    return f'<device id="iio:device{number}" name="{name}"{said}>' + "".join(channels) + "</device>"


def channel(name, index, scan_type, way="input", inside=""):
    return (f'<channel id="{name}" type="{way}"><scan-element index="{index}" format="{scan_type}" />'
            f"{inside}</channel>")


def context(folder, *devices):
    path = folder / "context.xml"
    path.write_text('<?xml version="1.0"?><context name="local" description="-">' + "".join(devices) + "</context>")
    return path


@pytest.fixture
def info(iio, tmp_path):
    def run(*devices):
        path = context(tmp_path, *devices)
        found = iio(f"info --json --uri xml:{path}").json
        schemas.check("info", found)
        return {one["name"]: one for one in found["devices"]}

    return run


def types(device):
    return [c["scan_type"] for buffer in device["buffers"] for c in buffer["channels"]]


def test_scan_types_with_a_capital_letter_are_understood(info):
    found = info(device(0, "adc", channel("voltage0", 0, "le:S12/16>>0"), channel("voltage1", 1, "le:s24/32>>8")),
                 device(1, "dac", channel("voltage0", 0, "le:U16/16>>0", "output")),
                 device(2, "sensor", channel("accel_x", 0, "be:s20/32>>4"), channel("timestamp", 3, "le:S64/64>>0")))
    assert types(found["adc"]) == ["le:s12/16>>0", "le:s24/32>>8"]
    assert types(found["dac"]) == ["le:u16/16>>0"] and found["dac"]["buffers"][0]["direction"] == "out"
    assert types(found["sensor"]) == ["be:s20/32>>4", "le:s64/64>>0"]
    assert not any(b["remarks"] for one in found.values() for b in one["buffers"])


def test_an_invalid_scan_type_is_a_remark_and_not_an_error(info):
    found = info(device(0, "odd", channel("voltage0", 0, "le:s12/13>>0"), channel("voltage1", 1, "le:s16/16>>0")),
                 device(1, "good", channel("voltage0", 0, "le:S16/16>>0")))
    buffer, = found["odd"]["buffers"]
    assert [c["id"] for c in buffer["channels"]] == ["voltage1"]
    remark, = buffer["remarks"]
    assert "voltage0" in remark and "s12/13" in remark
    assert types(found["good"]) == ["le:s16/16>>0"]


def lo(number, name):
    return (f'<channel id="altvoltage{number}" type="output" name="{name}"><attribute name="frequency" '
            f'filename="out_altvoltage{number}_{name}_frequency" /></channel>')


def phy(number, name):
    gain = '<attribute name="hardwaregain" filename="in_voltage0_hardwaregain" />'
    return device(number, name, lo(0, "RX_LO"), lo(1, "TX_LO"),
                  f'<channel id="voltage0" type="input">{gain}</channel>')


def test_an_unrelated_front_end_is_not_paired(info):
    found = info(phy(0, "ad9361-phy"), device(1, "ad9467", channel("voltage0", 0, "le:s16/16>>0")),
                 device(2, "cf-ad9361-lpc", channel("voltage0", 0, "le:S12/16>>0"), channel("voltage1", 1, "le:S12/16>>0")))
    assert found["ad9467"]["buffers"][0]["tuning"] == {}
    assert found["cf-ad9361-lpc"]["buffers"][0]["tuning"] == {
        "frequency": ["ad9361-phy/out_altvoltage0/frequency"], "gain": ["ad9361-phy/in_voltage0/hardwaregain"]}


def test_a_dacs_tones_are_not_oscillators(info):
    tone = lo(0, "TX1_I_F1")
    found = info(device(0, "cf-ad9361-dds-core-lpc", channel("voltage0", 0, "le:S16/16>>0", "output"), tone),
                 device(1, "axi-ad9144-hpc", channel("voltage0", 0, "le:S16/16>>0", "output"), tone))
    assert all(one["buffers"][0]["tuning"] == {} for one in found.values())


def test_i_and_q_channels_form_a_pair_only_with_the_same_number(info):
    def kinds(found):
        return [c["component"] for c in found["x"]["buffers"][0]["channels"]]

    pair = info(device(0, "x", channel("voltage1_i", 0, "le:s16/16>>0"), channel("voltage1_q", 1, "le:s16/16>>0")))
    strangers = info(device(0, "x", channel("voltage0_i", 0, "le:s16/16>>0"), channel("voltage1_q", 1, "le:s16/16>>0")))
    assert kinds(pair) == ["in_phase", "quadrature"] and kinds(strangers) == ["real", "real"]


def test_two_devices_of_one_name_are_distinguished(iio, tmp_path):
    path = context(tmp_path, device(0, "ad7124", label="left"), device(1, "ad7124", label="right"), device(2, "left"),
                   device(3, "twin"), device(4, "twin"))
    for name, number in (("right", 1), ("iio:device0", 0), ("device1", 1), ("left", 0), ("iio:right", 1)):
        found, = iio("info", name, f"--json --uri xml:{path}").json["devices"]
        assert found["id"] == f"iio:device{number}", name
    err = iio("info ad7124", f"--uri xml:{path}", status=2).err
    assert "'ad7124' matches 2 devices" in err and "iio:device0 (left), iio:device1 (right)" in err
    err = iio(f"stream iio:twin uri=xml:{path} null:", status=2).err
    assert "iio:device3, iio:device4" in err
    iio("attr get twin/x", f"--uri xml:{path}", status=2)


def test_names_cannot_control_the_terminal(iio, tmp_path):
    """U+009B starts a control sequence. It is the only such character that XML allows."""
    path = context(tmp_path, device(0, "adc&#x9b;31m", channel("voltage0", 0, "le:s12/16&gt;&gt;0"), label="a&#x202e;b"))
    for words in (f"info --uri xml:{path}", f"info --json --uri xml:{path}"):
        out = iio(words).out
        assert "\u009b" not in out and "\u202e" not in out
        assert "xc2" in out and "x9b31m" in out


def test_the_error_says_why_libiio_cannot_be_loaded(iio, tmp_path):
    """The message contains the reason why the loader rejects libiio, not why it rejects another library."""
    for version in (0, 1):
        (tmp_path / f"libiio.so.{version}").touch()
    result = iio("info --uri ip:192.0.2.1", status=3, env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert "libiio.so.0: file too short" in result.err and "sudo apt install libiio0" in result.err
