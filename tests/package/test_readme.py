# SPDX-License-Identifier: MIT
"""README's ways to install, each as printed there, on a clean clone."""
import os
import re
import sys
import venv

import pytest
from environments import ENVIRONMENT
from test_package import ROOT, run

import counts

BLOCK = re.search(r"^## Install\n+```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
PIP, DEBIAN, BUILD_HERE = [line.split(" #")[0].strip() for line in BLOCK.strip().splitlines()]
RECORD = "record sim: a.sigmf-meta --samples 1k --quiet"

pytestmark = pytest.mark.skipif(not counts.FULL, reason="compiles all of it three times: with --full")


@pytest.fixture
def clone(tmp_path):
    run("git", "clone", "--quiet", ROOT, tmp_path / "iio-stream")
    return tmp_path / "iio-stream"


def shell(line, clone, **environment):
    return run("sh", "-ec", line, cwd=clone, env={**ENVIRONMENT, **environment})


def test_by_pip(clone, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    path = f"{tmp_path}/env/bin:{os.environ['PATH']}"
    shell(PIP, clone, PATH=path)
    assert str(tmp_path) in shell("command -v iio-stream", clone, PATH=path)
    shell(f"cd / && iio-stream {RECORD.replace('a.sig', str(tmp_path / 'a.sig'))}", clone, PATH=path)
    assert shell("cd / && python -c 'import iio_stream as ios; "
                 "print(next(iter(ios.source(\"sim:\", samples=1000))).array.shape)'", clone, PATH=path) == "(1000, 2)\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="apt takes root")
def test_as_debian_packages(clone):
    """What apt would do here; script/deb-check lets it, in a fresh system."""
    build, install = DEBIAN.split(" && ")
    shell(build, clone)
    said = shell(install.replace("apt install", "apt-get install --simulate"), clone)
    assert {"libiio-stream0", "python3-iio-stream", "gr-iio-stream"} <= set(re.findall(r"^Inst (\S+)", said, re.M))


def test_from_the_source(clone):
    shell(BUILD_HERE, clone)
    shell(f"build/iio-stream {RECORD}", clone)
    assert "iio_stream" in shell(f"PYTHONPATH=build/python {sys.executable} -c 'import iio_stream; print(iio_stream)'",
                                 clone)
