# SPDX-License-Identifier: MIT
"""GNU Radio's own blocks for SoapySDR (gr-soapy) with the module of iio-stream."""
import subprocess
import sys

import numpy as np
import pytest
from soapy_radio import ramp

pytest.importorskip("gnuradio.soapy")

# The flowgraph runs in a separate process, because gr-soapy stays registered as the log handler of SoapySDR.
FLOWGRAPH = """
import sys
from gnuradio import blocks, gr, soapy
top = gr.top_block()
source = soapy.source("driver=iiostream,uri=sim:,pattern=ramp", sys.argv[1], 1, "", "bufflen=4096", [""], [""])
source.set_sample_rate(0, 2e6)
assert source.get_sample_rate(0) == 2e6
size = {"fc32": gr.sizeof_gr_complex, "sc16": 4}[sys.argv[1]]
head, sink = blocks.head(size, 200_000), blocks.file_sink(size, sys.argv[2])
top.connect(source, head, sink)
top.run()
"""


@pytest.mark.parametrize(("type", "dtype", "scale"), [("sc16", "<i2", 1), ("fc32", "<f4", 1 / 32768)])
def test_gr_soapy_receives_each_sample(type, dtype, scale, tmp_path):
    result = subprocess.run([sys.executable, "-c", FLOWGRAPH, type, str(tmp_path / "samples")], timeout=60,
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    values = np.fromfile(tmp_path / "samples", dtype)
    assert len(values) == 400_000 and np.allclose(values, ramp(0, 200_000) * scale, rtol=0, atol=1e-7)
    assert "sO" not in result.stdout + result.stderr  # gr-soapy prints this for an overflow
