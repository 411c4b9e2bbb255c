# SPDX-License-Identifier: MIT
"""docs/boards.md contains what the command prints for the boards of the lab."""
import re
import subprocess
import sys

import pytest

from conftest import BUILD, REPOSITORY

PAGE = (REPOSITORY / "docs" / "boards.md").read_text()


def test_the_table_matches_the_output_of_the_command():
    if BUILD != REPOSITORY / "build":
        pytest.skip("script/boards runs the command in build/")
    done = subprocess.run([sys.executable, REPOSITORY / "script" / "boards", "--check"], capture_output=True, text=True,
                          check=False, timeout=300)
    if "fetch" in done.stderr and done.returncode:
        pytest.skip(f"the boards' contexts cannot be downloaded: {done.stderr}")
    assert done.returncode == 0, done.stderr


def row(board, device):
    return next(line for line in PAGE.splitlines() if line.startswith(f"| {board} | `{device}` |"))


# Facts from the drivers, written by hand, that the table must contain.
@pytest.mark.parametrize("board, device, words", [
    ("pluto", "cf-ad9361-lpc", ["le:s12/16>>0", "1 I/Q", "ad9361-phy/out_altvoltage0/frequency"]),
    ("fmcomms5", "cf-ad9361-A", ["4 I/Q", "ad9361-phy-B/in_voltage1/hardwaregain"]),
    ("ad9371", "axi-ad9371-rx-obs-hpc", ["1 I/Q", "ad9371-phy/out_altvoltage2/RX_SN_LO_frequency"]),
    ("adrv9002_splitdma", "axi-adrv9002-tx2-lpc", ["1 I/Q", "adrv9002-phy/out_altvoltage3/TX2_LO_frequency"]),
    ("ad9081", "axi-ad9081-tx-hpc", ["4 I/Q", "axi-ad9081-rx-hpc/out_voltage3_i/main_nco_frequency"]),
    ("daq2", "axi-ad9680-hpc", ["le:s14/16>>0", "real"]),
    ("adxl355", "adxl355", ["be:s20/32>>4", "le:s64/64>>0", "real"]),
])
def test_the_table_contains_facts_from_the_drivers(board, device, words):
    for word in words:
        assert word in row(board, device)


def test_no_dds_tone_is_listed_as_an_oscillator():
    assert not re.search(r"(dds-core-lpc|tx\d?-[hl]pc)/out_altvoltage", PAGE)
