# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""PyPI's pyadi-iio and gr-iio's FMComms2 source, unmodified, on the devices of their boards: with `iio-stream
run`, and with --full also without it."""
import os
import pathlib
import subprocess

import counts
import numpy as np
import pytest
from board_scans import LANES, loaded
from conftest import sim

RUN = ["iio-stream", "run", "--"]
# The environment of script/test.
PYTHON = pathlib.Path(__file__).resolve().parents[2] / "build" / "venv" / "bin" / "python"

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

FMCOMMS2 = """
import sys
import numpy as np
from gnuradio import blocks, gr, iio
top = gr.top_block()
source = iio.fmcomms2_source_fc32("local:", [True] * 2 * PAIRS, 8192)
source.set_frequency(2_400_000_000)
source.set_gain_mode(0, "manual")
source.set_gain(0, 40)
sinks = [blocks.vector_sink_c() for _ in range(PAIRS)]
for port, sink in enumerate(sinks):
    top.connect((source, port), blocks.head(8, 100_000), sink)
top.run()
values = np.array([sink.data() for sink in sinks], "<c8").T
sys.stdout.buffer.write(np.ascontiguousarray(values).tobytes())
"""
# gr-iio 3.10.5 does not initialize a flag of this source. If the flag happens to be set, and a stream lasts
# less than a second, the destructor waits forever for a thread that polls the flag once a second. Therefore
# malloc() must return zeros.
ZEROS = "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0"


@pytest.mark.parametrize("by", counts.pick([RUN], [[], RUN]))
def test_pyadi_iio_receives_and_transmits(by):
    sim(board="pluto")
    # libiio 0.x itself only supports cyclic buffers in its high-speed mode, which mainline kernels do not
    # have.
    program = f"CYCLIC = {by != []}\n{PROGRAM}"
    done = subprocess.run([*by, PYTHON, "-B", "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(20 * 16384 // 2), str(by != [])]


@pytest.mark.parametrize("by", counts.pick([RUN], [[], RUN]))
@pytest.mark.parametrize("board,pairs", [("pluto", 1), ("fmcomms2-3", 2)])
def test_gr_iios_fmcomms2_source_delivers_every_sample(board, pairs, by):
    scan = loaded(board, "cf-ad9361-lpc", rate=250_000)
    scan.pattern(LANES)
    done = subprocess.run([*by, "/usr/bin/python3", "-B", "-c", f"PAIRS = {pairs}\n{FMCOMMS2}"], capture_output=True,
                          env={**os.environ, "GLIBC_TUNABLES": ZEROS}, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    values = np.frombuffer(done.stdout[-100_000 * pairs * 8:], "<f4").reshape(100_000, -1) * 2048  # 12 bits
    first = next(number for number in range(256) if scan.elements[0].lane(number) == values[0, 0])
    elements = scan.elements[:2 * pairs]
    period = np.array([[element.lane(first + number) for element in elements] for number in range(256)])
    assert (values == np.tile(period, (-(-len(values) // 256), 1))[:len(values)]).all()
