# SPDX-License-Identifier: MIT
"""What docs/gnuradio.md says of names is so, and its program that needs no device runs."""
import re

import numpy as np
import yaml
from conftest import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "gnuradio.md").read_text()


def test_the_first_program_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippet, *_ = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(compile(snippet, "docs/gnuradio.md", "exec"), {})
    assert "ci16_le 1000000.0" in capsys.readouterr().out
    tone = np.fromfile(tmp_path / "tone.cf32", np.complex64)
    spectrum = np.abs(np.fft.fft(tone[:10_000]))
    assert len(tone) == 100_000 and spectrum.argmax() == 1000  # a tenth of the rate


def test_parameters_are_those_of_the_companions_blocks():
    for name in ("source", "sink"):
        block = yaml.safe_load((REPOSITORY / "gr-blocks" / "grc" / f"iio_stream_{name}.block.yml").read_text())
        [documented] = re.findall(rf"^`{name}\((.*)\)`$", DOCUMENT, re.MULTILINE)
        known = {parameter["id"] for parameter in block["parameters"]}
        assert set(documented.split(", ")) <= known
