# SPDX-License-Identifier: MIT
"""A DAC under the kernel's own, unmodified drivers: ad9739a and adi-axi-dac.

    script/vm --disk 1Gi --sim converter=ad9467 -- /usr/bin/python3 -m pytest -q tests/vm/test_converter_dac.py

Linux 6.12 (or 7.3), 2048 MB.
"""
# guest: --disk 1Gi --sim converter=ad9467
import pathlib
import re

import counts
import pytest
from conftest import ADC, DISK, finish, interrupt, knob, run, start, stream
from converters import converter
from waiting import until

DAC = "ad9739a"
SIZE = "256Mi" if counts.FULL else "32Mi"
VERSION, XFLOW, DATA_SEL = 0x0, 0x88, 0x418
OWN_TONE, MEMORY = 0, 2  # values of DATA_SEL: the source of the core's samples


@pytest.fixture(autouse=True, scope="module")
def fresh():
    converter(DAC)
    run(f"record iio:{ADC} channels=voltage0_i {DISK / 'ramp'} overwrite=on --bytes {SIZE}", timeout=300)


def count(name):
    return int(knob(name, device=DAC))


def register(address):
    """Returns a register of the core, as regmap's debugfs shows it. IIO's debugfs does not show the backend's
    registers, because the driver of the AD9739A provides none of its own there."""
    text = pathlib.Path("/sys/kernel/debug/regmap/adi-axi-dac.3/registers").read_text()
    return {int(at, 16): int(value, 16) for at, value in re.findall(r"(\w+): (\w+)", text)}[address]


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_every_sample_of_a_file_is_played(path):
    result = run(f"play {DISK / 'ramp'} iio:{DAC} rate=2G path={path} --json", timeout=300)
    assert result.json["route"][-1]["mechanism"] == path and result.json["ended"] == "eof"
    assert result.json["sample_format"] == "ri16_le" and result.json["sinks"][0]["playback"]["sample_rate"] == 2e9
    padding = count("delivered") - result.json["samples"]  # zeros, which fill the last block of fileio
    assert padding % 4 == 0 and (path == "fileio" or padding == 0)
    assert count("check_gaps") == 0 and count("mismatches") == count("check_repeats") == padding // 4


def test_the_core_plays_from_memory_only_while_the_buffer_is_enabled():
    assert register(VERSION) >> 16 == 9 and register(DATA_SEL) == OWN_TONE
    playing = start(f"play {DISK / 'ramp'} loop=on iio:{DAC} rate=2G --quiet")
    try:
        until(lambda: register(DATA_SEL) == MEMORY, "the core plays from memory")
    finally:
        interrupt(playing)
        finish(playing)
    assert register(DATA_SEL) == OWN_TONE


def test_a_missing_clock_rate_is_reported_before_playback_starts():
    wrong = run(f"play {DISK / 'ramp'} iio:{DAC}", status=2)
    assert "2000000000" in wrong.err and "rate=2000000000" in wrong.err


def test_an_underflow_is_counted_and_sets_the_cores_register():
    converter(DAC, dac_rate=2_000_000_000, fifo=0)
    try:
        knob("stall_at", 1 << 20)
        knob("stall_ms", 500)
        result = stream(f"iio:{ADC} channels=voltage0_i iio:{DAC} --bytes 8Mi --block-size 256Ki --blocks 4")
        assert count("underflows") > 0 and register(XFLOW) == 1
        assert result.json["sinks"][0]["playback"]["underflows"] > 0
        assert count("mismatches") == 0
    finally:
        converter(DAC)


def test_samples_go_from_an_adc_to_the_dac_without_the_cpu():
    result = stream(f"iio:{ADC} channels=voltage0_i iio:{DAC} --bytes {SIZE}", timeout=300)
    assert result.json["copies"] == 0 and count("delivered") == result.json["samples"]
    assert count("mismatches") == 0
