# SPDX-License-Identifier: MIT
"""The command `iio-stream` of a wheel: which program it becomes, wherever pip put that."""
import os
import shutil
import subprocess
import sys

import pytest
from test_package import BUILD, ROOT

MODULE = ROOT / "bindings" / "python" / "iio_stream_command"
CALL = "import sys; from iio_stream_command import main; sys.argv = ['iio-stream', '/proc/self/exe']; main()"


@pytest.fixture
def site(tmp_path):
    """An environment's packages as pip leaves them, but for the program."""
    metadata = tmp_path / "site" / "iio_stream-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: iio-stream\nVersion: 0\n")
    (metadata / "RECORD").write_text("../bin/iio-stream,,\niio_stream/iio-stream,,\n")
    shutil.copytree(MODULE, tmp_path / "site" / "iio_stream_command")
    return tmp_path / "site"


def program(folder):
    """One that says which file it is."""
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.copy("/usr/bin/readlink", folder / "iio-stream")


def launched(*paths, path="/nowhere"):
    return subprocess.run([sys.executable, "-S", "-c", CALL], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "PATH": str(path)})


def test_it_becomes_the_wheels_program(site, tmp_path):
    inside = program(site / "iio_stream")
    assert launched(site, path=program(tmp_path / "bin").parent).stdout == f"{inside}\n"
    assert launched(BUILD / "python", site).stdout == f"{inside}\n"  # which has the package, and no program


def test_an_editable_installations_program_is_not_beside_the_sources(site):
    shutil.rmtree(site / "iio_stream_command")
    inside = program(site / "iio_stream")
    assert launched(MODULE.parent, site).stdout == f"{inside}\n"


def test_an_installed_librarys_program_is_the_first_in_the_path(site, tmp_path):
    launcher = tmp_path / "venv" / "iio-stream"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\nexit 9\n")
    launcher.chmod(0o755)
    first, second = program(tmp_path / "first"), program(tmp_path / "second")
    path = os.pathsep.join(str(file.parent) for file in (launcher, first, second))
    assert launched(site, path=path).stdout == f"{first}\n"
    alone = launched(site, path=launcher.parent)
    assert alone.returncode == 1 and "the PATH has no other" in alone.stderr and alone.stderr.count("\n") == 1


def test_it_starts_without_numpy(site):
    """Which the package imports, and which takes ten times as long as the program itself."""
    (site / "numpy.py").write_text("raise SystemExit('imported')")
    (site / "iio_stream" / "__init__.py").parent.mkdir()
    (site / "iio_stream" / "__init__.py").write_text("import numpy")
    assert launched(site, path=program(site.parent / "bin").parent).returncode == 0
