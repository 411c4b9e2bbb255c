# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""The examples of README.md run as printed, on real boards.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_readme.py
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from board_scans import is_ramp, load
from conftest import iio_dir, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BOARDS = ["pluto", "fmcomms2-3"]
RADIO = "iio:cf-ad9361-lpc?frequency=2.4G"


def at(device, file):
    return (iio_dir(device) / file).read_text().strip()


def code(language):
    """Returns the only code block of that language in README.md."""
    block, = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return block


@pytest.mark.parametrize("board", BOARDS)
def test_the_recording_runs_as_printed(board, tmp_path):
    load(board)
    line, = re.findall(r"^iio-stream (record iio:cf-ad9361-lpc .*)$", README, re.MULTILINE)
    run(*line.replace("256Mi", "4Mi").split(), "--json", cwd=tmp_path)
    data = (tmp_path / "capture.sigmf-data").read_bytes()
    assert len(data) == 4 << 20 and is_ramp(data)
    assert at("ad9361-phy", "out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert at("ad9361-phy", "in_voltage_sampling_frequency") == "30720000"
    assert at("ad9361-phy", "in_voltage0_hardwaregain").split()[0] in ("40", "40.000000")
    run("verify --pattern ramp capture.sigmf-meta", cwd=tmp_path)
    line, = re.findall(r"^iio-stream (play .*)$", README, re.MULTILINE)
    played = run(*line.split(), "--json", cwd=tmp_path).json
    assert played["bytes"] == 4 << 20 and played["samples"] == (4 << 20) // 4
    hop, = [hop for hop in played["route"] if hop["mechanism"].startswith("convert")]
    assert hop["mechanism"] == "convert:ci16_le" and hop["reason"] == "cf-ad9361-dds-core-lpc plays ci16_le"


def lines_of(process):
    found = [re.match(r"sample (\d+): (.*), (\d+) gaps$", line)
             for line in process.stdout.splitlines() if line.startswith("sample ")]
    assert found and all(found), process.stdout
    assert found[0][1] == "0" and {match[3] for match in found} == {"0"}
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_the_python_example_runs_as_printed(board, tmp_path):
    load(board)
    (tmp_path / "example.py").write_text(code("python"))
    done = subprocess.run([sys.executable, tmp_path / "example.py", RADIO], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "complex64" in lines_of(done)[0][2]


@pytest.mark.parametrize("board", BOARDS)
def test_the_cpp_example_runs_as_printed(board):
    build = pathlib.Path(os.environ.get("IIO_STREAM_BUILD", ROOT / "build"))
    program = build / "examples" / "capture"
    if not program.exists():
        pytest.skip("build/examples/capture is not built")
    load(board)
    done = subprocess.run([program, RADIO], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # The sum is the number of samples, regardless of the number of pairs.
    assert sum(int(match[2].split()[0]) for match in lines_of(done)) == 1_000_000
