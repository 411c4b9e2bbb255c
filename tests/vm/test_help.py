# SPDX-License-Identifier: MIT
"""The examples of --help that need a device run as printed."""
import re
import subprocess

import pytest

from conftest import run, sim


@pytest.fixture(autouse=True, scope="module")
def fresh():
    sim()


@pytest.mark.parametrize("name", ["attr", "info", "doctor", "run"])
def test_an_example_runs_as_printed(name):
    line = re.search(r"\nExample:\n  (iio-stream .*)\n", run(name, "--help").out).group(1)
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert "iios-sim-adc" in done.stdout or name != "info"
