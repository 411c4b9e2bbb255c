# SPDX-License-Identifier: MIT
"""Each option is parsed once. Valgrind counts the calls of the parsers."""
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND

PARSERS = re.compile(r"iio_stream::parse_(size|rate|duration|switch|number|utc)\(")


def parses(tmp_path, words):
    out = tmp_path / "calls"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
                    "--compress-pos=no", COMMAND, *words.split()], check=True, capture_output=True, timeout=300,
                   cwd=tmp_path)
    calls, callee = 0, ""
    for line in out.read_text().splitlines():
        if line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls=") and PARSERS.match(callee):
            calls += int(line[6:].split()[0])
    return calls


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed: script/install test")
@pytest.mark.parametrize("before,after,options", [
    ("stream sim:", "null: --samples 1000", "drop_at=1G stall_at=1G unplug_at=1G frequency=1k"),
    ("stream sim:", "x.sigmf-meta --samples 1000", "drop_at=1G stall_at=1G"),
    ("stream a.ci16", "null:", "skip=4 frequency=1M rate=1M datetime=2026-12-01T00:00:00Z"),
])
def test_an_option_is_parsed_once(tmp_path, before, after, options):
    (tmp_path / "a.ci16").write_bytes(bytes(4000))
    without = parses(tmp_path, f"{before} {after}")
    for file in tmp_path.glob("x.*"):
        file.unlink()
    assert parses(tmp_path, f"{before} {options} {after}") == without + len(options.split())


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed: script/install test")
def test_an_option_of_a_sink_is_parsed_once(tmp_path):
    options = "depth=4 sync=1Mi preallocate=1Mi rotate_bytes=64Mi rotate_time=1h keep=last:1Gi hold=4"
    command = "stream sim: rate=0 x.sigmf-meta {} --samples 100000"
    without = parses(tmp_path, command.format("overwrite=on"))
    assert parses(tmp_path, command.format("overwrite=on " + options)) == without + len(options.split())
