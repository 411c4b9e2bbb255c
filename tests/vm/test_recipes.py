# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""The recipes for a board in the cookbook and in the first steps, and the commands for users of other tools, run as printed.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_recipes.py
"""
import os
import subprocess
import sys

import numpy as np
import pytest
from board_scans import load
from conftest import iio_dir
from support.documents import place, recipes, right_columns

RECIPES = {**recipes("cookbook.md", "board"), **recipes("getting-started.md", "board")}
COLUMNS = right_columns("coming-from.md")
COMMANDS = {heading: [code for code in codes if place(code) == "board" and "iio-stream" in code]
            for heading, codes in COLUMNS.items()}
MILLION = 4_000_000  # size in bytes of a million I/Q samples


@pytest.fixture(autouse=True)
def pluto():
    load("pluto")


def attribute(name, device="ad9361-phy"):
    return (iio_dir(device) / name).read_text().strip()


def run(language, code, folder):
    words = {"sh": ["bash", "-euo", "pipefail", "-c", code], "python": [sys.executable, "-c", code]}[language]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("heading", RECIPES)
def test_a_recipe_runs_as_printed(heading, tmp_path):
    said = "".join(run(language, code, tmp_path) for language, code in RECIPES[heading])
    if "gain control" in heading:
        assert said.startswith("manual fast_attack slow_attack hybrid\n")
        assert [line.split(":")[0] for line in said.splitlines()[-3:]] == ["slow_attack", "fast_attack", "manual"]
        assert attribute("in_voltage0_gain_control_mode") == "manual"
        assert (tmp_path / "agc.ci16").stat().st_size == (tmp_path / "fixed.ci16").stat().st_size == MILLION


@pytest.mark.parametrize("heading", [heading for heading, codes in COMMANDS.items() if codes])
def test_the_commands_for_users_of_another_tool_run_as_printed(heading, tmp_path):
    np.tile(np.int16([16000, 0, 0, 16000, -16000, 0, 0, -16000]), 2048).tofile(tmp_path / "tone.ci16")
    said = {code: run("sh", code, tmp_path) for code in COMMANDS[heading]}
    for name in ("a.ci16", "b.ci16", "c.ci16", "usrp.ci16"):
        if (tmp_path / name).exists():
            assert (tmp_path / name).stat().st_size == MILLION
    if heading == "libiio":
        [counted] = [out for code, out in said.items() if code.endswith("wc -c")]
        assert int(counted) == MILLION
        assert attribute("out_altvoltage0_RX_LO_frequency") == "2400000000"
    if heading == "UHD":
        assert attribute("in_voltage0_hardwaregain").startswith("40.000000")
        assert attribute("in_voltage_sampling_frequency") == "4000000"


def test_the_statements_for_pyadi_iio_users_run_in_order():
    names = {"np": np}
    for code in COLUMNS["pyadi-iio"]:
        exec(code, names)
    assert names["x"].dtype == np.complex64 and len(names["x"]) == 16384
    assert attribute("out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert attribute("in_voltage_rf_bandwidth") == "4000000"
    assert attribute("in_voltage0_gain_control_mode") == "manual"
    assert attribute("in_voltage0_hardwaregain").startswith("40.000000")


def test_the_statements_for_gr_uhd_users_run_on_a_board():
    sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", "build") + "/gr")
    pytest.importorskip("gnuradio.gr")
    from gnuradio import iio_stream
    names = {"iio_stream": iio_stream}
    for code in COLUMNS["gr-uhd"]:
        if code.startswith("src ="):
            names.pop("src", None)  # this frees its device
        exec(code.replace("sim:?rate=1M", "iio:cf-ad9361-lpc?rate=4M"), names)
    names.clear()
    assert attribute("out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert attribute("in_voltage0_hardwaregain").startswith("40.000000")
