# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""A board with a hand-written context, with oddities that none of our drivers has: everything else still
works.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_odd.py
"""
import subprocess

import pytest
from conftest import run, stream

CONTEXT = """<?xml version="1.0" encoding="utf-8"?>
<context name="local" description="Linux analog 5.15.0 #1 SMP PREEMPT armv7l">
<device id="iio:device0">
 <channel id="voltage0" type="input"><attribute name="raw" filename="in_voltage0_raw" value="12" /></channel>
</device>
<device id="iio:device1" name="cf-ad9361-lpc">
 <channel id="voltage0" type="input"><scan-element index="0" format="le:S12/16&gt;&gt;0" /></channel>
 <channel id="voltage1" type="input"><scan-element index="1" format="le:S12/16&gt;&gt;0" /></channel>
 <channel id="wibble3" type="input"><scan-element index="2" format="le:U16/16&gt;&gt;0" /></channel>
 <channel id="voltage4" type="input"><scan-element index="3" format="le:s17/12&gt;&gt;3" /></channel>
 <channel id="voltage5" type="input"><scan-element index="4" format="le:Z16/16&gt;&gt;0" /></channel>
 <channel id="wobble" type="input"><attribute name="raw" filename="in_wobble_raw" value="ERROR" /></channel>
 <buffer-attribute name="length_align_bytes" value="8" />
</device>
<device id="iio:device2" name="twin"><channel id="voltage0" type="input">
 <scan-element index="0" format="be:s24/32&gt;&gt;8" /></channel>
 <buffer-attribute name="length_align_bytes" value="16" />
</device>
<device id="iio:device3" name="twin" label="left &lt;one&gt;"><channel id="voltage0" type="input">
 <scan-element index="0" format="le:u10/16&gt;&gt;2" /></channel>
 <buffer-attribute name="length_align_bytes" value="4" />
</device>
<device id="iio:device4"><channel id="voltage0" type="output">
 <scan-element index="0" format="le:S16/16&gt;&gt;0" /></channel>
 <buffer-attribute name="length_align_bytes" value="4" />
</device>
</context>
"""


@pytest.fixture(autouse=True)
def odd_board(tmp_path):
    file = tmp_path / "odd.xml"
    file.write_text(CONTEXT)
    loaded = subprocess.run(["sim-load", f"board={file}"], check=True, capture_output=True, text=True)
    # The simulator reports each oddity that no kernel has, and leaves it out.
    assert "wibble3" in loaded.stderr and "s17/12" in loaded.stderr


def test_oddities_appear_as_remarks_and_everything_else_is_listed():
    found = {d["id"]: d for d in run("info --json").json["devices"]}
    assert found["iio:device0"]["name"] in (None, "") and not found["iio:device0"]["buffers"]
    buffer, = found["iio:device1"]["buffers"]
    assert [c["id"] for c in buffer["channels"]] == ["voltage0", "voltage1"]
    remark, = buffer["remarks"]
    assert "voltage5" in remark and "Z16/16" in remark
    assert [len(found[f"iio:device{n}"]["buffers"]) for n in (2, 3, 4)] == [1, 1, 1]
    doctor = run("doctor").out
    assert "Z16/16" in doctor and "twin (input, DMABUF" in doctor and "iio:device4 (output, DMABUF" in doctor


def test_a_channel_with_an_unknown_format_must_be_left_out():
    refused = run("stream iio:cf-ad9361-lpc null: --samples 9", status=3).err
    assert "voltage5" in refused and "channels=voltage0,voltage1" in refused
    result = stream("iio:cf-ad9361-lpc channels=voltage0,voltage1 verify:ramp --samples 50000")
    assert result.json["sinks"][0]["report"]["mismatches"] == 0 and result.json["samples"] == 50000


def test_a_device_without_a_unique_name_can_be_named_by_id_or_label(tmp_path):
    refused = run("stream iio:twin null: --samples 9", status=2).err
    assert "iio:device2, iio:device3 (left <one>)" in refused
    for address in ("iio:device2", "left <one>"):
        file = tmp_path / "twin.bin"
        process = subprocess.run(["iio-stream", "record", f"iio:{address}", file, "overwrite=on", "--samples", "4096"],
                                 capture_output=True, text=True, timeout=60)
        assert process.returncode == 0, process.stderr
    process = subprocess.run(["iio-stream", "play", "sim:", "pattern=ramp", "format=ri16_le", "rate=0",
                              "iio:iio:device4", "--samples", "4096"], capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
