# SPDX-License-Identifier: MIT
"""The names in docs/gnuradio.md are correct. Its program that needs no device, the flowgraph of the cookbook
and the statements for users of gr-uhd run. tests/vm/test_recipes.py tests the settings of these examples on a
radio."""
import os
import re
import subprocess
import sys

import numpy as np
import yaml
from conftest import BUILD, DEADLINE, REPOSITORY
from gnuradio import iio_stream
from support.documents import recipes, right_columns

DOCUMENT = (REPOSITORY / "docs" / "gnuradio.md").read_text()


def test_the_first_program_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippet, *_ = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(compile(snippet, "docs/gnuradio.md", "exec"), {})
    assert "ci16_le 1000000.0" in capsys.readouterr().out
    tone = np.fromfile(tmp_path / "tone.cf32", np.complex64)
    spectrum = np.abs(np.fft.fft(tone[:10_000]))
    assert len(tone) == 100_000 and spectrum.argmax() == 1000  # a tenth of the rate


def test_documented_parameters_are_those_of_the_companions_blocks():
    for name in ("source", "sink"):
        block = yaml.safe_load((REPOSITORY / "gr-blocks" / "grc" / f"iio_stream_{name}.block.yml").read_text())
        [documented] = re.findall(rf"^`{name}\((.*)\)`$", DOCUMENT, re.MULTILINE)
        known = {parameter["id"] for parameter in block["parameters"]}
        assert set(documented.split(", ")) <= known


def test_the_cookbooks_flowgraph_records(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "gr"),
                   "PATH": f"{BUILD}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
                   "GRC_BLOCKS_PATH": str(BUILD / "gr" / "grc"), "EXAMPLES": str(REPOSITORY / "examples")}
    [[(_, code)]] = recipes("cookbook.md", "gnuradio").values()
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=3 * DEADLINE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    samples = np.fromfile(tmp_path / "radio.sigmf-data", np.complex64)
    assert len(samples) == 100_000 and np.abs(np.fft.fft(samples[:10_000])).argmax() == 1000


def test_the_statements_for_gr_uhd_users_run():
    names = {"iio_stream": iio_stream}
    ran = [exec(code, names) for code in right_columns("coming-from.md")["gr-uhd"] if "tune" not in code]
    assert len(ran) == 4 and names["src"].sample_rate() == 1e6
