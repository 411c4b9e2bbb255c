# SPDX-License-Identifier: MIT
"""Shared by the tests of a DAC that plays files."""

from conftest import DAC, DISK, knob, run

RAW = "format=ci16_le channel_names=4"
SAMPLE = 8  # four channels of 16 bits
RAMP = DISK / "ramp.bin"
PATHS = ["dmabuf", "fileio"]


def count(name):
    return int(knob(name, device=DAC))


def ramp_file(path, **size):
    """Records bytes= or samples= of the ramp, in the DAC's format, to a file."""
    (key, value), = size.items()
    run(f"record sim: pattern=ramp channels=4 rate=0 {path} overwrite=on --{key} {value}", timeout=300)


def play(*words, **options):
    return run("play", *words, "--json", **options)


def playback(result):
    return result.json["sinks"][0]["playback"]


def no_gap():
    assert count("check_gaps") == count("check_repeats") == count("mismatches") == 0, knob("summary", device=DAC)
