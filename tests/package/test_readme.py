# SPDX-License-Identifier: MIT
"""The installation methods in the README run as printed, in a clean clone."""
import os
import re
import sys

import pytest
from environments import ENVIRONMENT
from test_package import ROOT, run

import counts

INSTALL = re.search(r"^## Install\n(.*?)^## ", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
PIP, DEBIAN, BUILD_HERE, CHECK = re.findall(r"^```\n(.*?)^```", INSTALL, re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(not counts.FULL, reason="compiles everything three times: runs with --full")


@pytest.fixture
def clone(tmp_path):
    run("git", "clone", "--quiet", ROOT, tmp_path / "iio-stream")
    return tmp_path / "iio-stream"


def shell(lines, clone, **environment):
    return run("bash", "-ec", lines, cwd=clone, env={**ENVIRONMENT, **environment})


def test_installation_with_pip(clone, tmp_path):
    apt, rest = PIP.split("\n", 1)
    assert apt.startswith("sudo apt install ")  # test_docs.py compares the names with CMake
    shell(rest, clone, HOME=str(tmp_path))
    path = f"{tmp_path}/iio-stream-env/bin:{os.environ['PATH']}"
    assert str(tmp_path) in shell("command -v iio-stream", tmp_path, PATH=path)
    shell(CHECK, tmp_path, PATH=path)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(os.geteuid() != 0, reason="apt needs root")
def test_installation_as_debian_packages(clone):
    """Only simulates apt. script/deb-check installs the packages in a fresh system."""
    build, install = DEBIAN.strip().split("\n")
    shell(build, clone)
    said = shell(install.replace("sudo apt install", "apt-get install --simulate"), clone)
    ours = {name for name in re.findall(r"^Inst (\S+)", said, re.M) if "iio-stream" in name}
    assert ours == {"libiio-stream0", "iio-stream", "python3-iio-stream"}


def test_installation_from_source(clone):
    shell(BUILD_HERE, clone)
    command_alone = CHECK[:CHECK.index("iio-stream view")]
    shell(command_alone, clone, PATH=f"{clone}/build:{os.environ['PATH']}")
    assert "iio_stream" in shell(f"PYTHONPATH=build/python {sys.executable} -c 'import iio_stream; print(iio_stream)'",
                                 clone)
