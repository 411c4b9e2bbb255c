# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""pyadi-iio of PyPI on an ADALM-Pluto's devices, unchanged, by `iio-stream run`, and with
--full alone, too."""
import pathlib
import subprocess

import counts
import pytest
from conftest import sim

RUN = ["iio-stream", "run", "--"]
PYTHON = pathlib.Path(__file__).resolve().parents[2] / "build" / "venv" / "bin" / "python"  # script/test makes it

PROGRAM = """
import time
import adi
import numpy as np
sdr = adi.Pluto("local:")
sdr.rx_lo = 2_400_000_000
sdr.gain_control_mode_chan0 = "manual"
sdr.rx_hardwaregain_chan0 = 40
sdr.rx_buffer_size = 16384
blocks = [sdr.rx() for _ in range(20)]
values = np.stack([np.concatenate([f(block) for block in blocks]) for f in (np.real, np.imag)], 1).astype("<i2")
words = values.reshape(-1).view("<u8")
assert (np.diff(words.astype(np.int64)) == 1).all(), words
sdr.rx_destroy_buffer()
sdr.tx_lo = 2_400_000_000
wave = np.exp(2j * np.pi * np.arange(16384) / 64) * 2**14
for _ in range(10):
    sdr.tx(wave)
time.sleep(0.5)
sdr.tx_destroy_buffer()
if CYCLIC:
    sdr.tx_cyclic_buffer = True
    sdr.tx(wave)
    time.sleep(0.5)
    sdr.tx_destroy_buffer()
print(len(words), "compat/libiio.so.0" in open("/proc/self/maps").read())
"""


@pytest.mark.parametrize("by", counts.pick([RUN], [[], RUN]))
def test_pyadi_iio_receives_and_transmits(by):
    sim(board="pluto")
    # libiio 0.x itself has cyclic buffers in its high-speed mode alone, which mainline's kernels do not have.
    program = f"CYCLIC = {by != []}\n{PROGRAM}"
    done = subprocess.run([*by, PYTHON, "-B", "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(20 * 16384 // 2), str(by != [])]
