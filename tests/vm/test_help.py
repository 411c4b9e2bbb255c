# SPDX-License-Identifier: MIT
"""The examples of --help that need a device run as printed, with the lab's devices instead of an AD9361's."""
import re
import subprocess

import pytest

from conftest import ADC, run, sim

PHY = "iios-sim-phy"


@pytest.fixture(autouse=True, scope="module")
def fresh():
    sim()


@pytest.mark.parametrize("name", ["attr", "info", "doctor", "run"])
def test_an_example_runs_as_printed(name):
    line = re.search(r"\nExample:\n  (iio-stream .*)\n", run(name, "--help").out).group(1)
    line = line.replace("ad9361-phy", PHY).replace("cf-ad9361-lpc", ADC)
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert ADC in done.stdout or name != "info"
