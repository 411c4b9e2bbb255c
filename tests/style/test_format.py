# SPDX-License-Identifier: MIT
"""Checks that C++ sources are formatted as .clang-format specifies. `clang-format -i FILE...` formats
them."""
import re
import shutil
import subprocess

import pytest
from test_style import ROOT, tracked

MAJOR = "14"  # the version of Debian 12; other versions break lines in other places


def test_all_sources_are_formatted():
    if not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    if re.search(r"version (\d+)", version)[1] != MAJOR:
        pytest.skip(f"the check needs clang-format {MAJOR}, and this is {version.strip()}")
    result = subprocess.run(["clang-format", "--dry-run", "--Werror", *tracked("*.cpp", "*.hpp")], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "clang-format-violations" in line})
    assert (result.returncode, wrong) == (0, [])
