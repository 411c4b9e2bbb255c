# SPDX-License-Identifier: MIT
"""The launcher `iio-stream` of a wheel executes the right program, wherever pip has installed it."""
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
    """A site-packages folder as pip makes it, but without the program."""
    metadata = tmp_path / "site" / "iio_stream-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: iio-stream\nVersion: 0\n")
    (metadata / "RECORD").write_text("../bin/iio-stream,,\niio_stream/iio-stream,,\n")
    shutil.copytree(MODULE, tmp_path / "site" / "iio_stream_command")
    return tmp_path / "site"


def program(folder):
    """Installs a program that prints the path of its own file."""
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.copy("/usr/bin/readlink", folder / "iio-stream")


def launched(*paths, path="/nowhere"):
    return subprocess.run([sys.executable, "-S", "-c", CALL], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "PATH": str(path)})


def test_the_launcher_executes_the_program_of_the_wheel(site, tmp_path):
    inside = program(site / "iio_stream")
    assert launched(site, path=program(tmp_path / "bin").parent).stdout == f"{inside}\n"
    assert launched(BUILD / "python", site).stdout == f"{inside}\n"  # the package without a program


def test_the_launcher_finds_the_program_of_an_editable_installation(site):
    shutil.rmtree(site / "iio_stream_command")
    inside = program(site / "iio_stream")
    assert launched(MODULE.parent, site).stdout == f"{inside}\n"


def test_without_a_program_in_the_wheel_the_first_one_in_the_path_is_executed(site, tmp_path):
    launcher = tmp_path / "venv" / "iio-stream"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\nexit 9\n")
    launcher.chmod(0o755)
    first, second = program(tmp_path / "first"), program(tmp_path / "second")
    path = os.pathsep.join(str(file.parent) for file in (launcher, first, second))
    assert launched(site, path=path).stdout == f"{first}\n"
    alone = launched(site, path=launcher.parent)
    assert alone.returncode == 1 and "there is none in the PATH" in alone.stderr and alone.stderr.count("\n") == 1


def test_the_launcher_does_not_import_numpy(site):
    """The package imports NumPy, which takes ten times as long as the program itself."""
    (site / "numpy.py").write_text("raise SystemExit('imported')")
    (site / "iio_stream" / "__init__.py").parent.mkdir()
    (site / "iio_stream" / "__init__.py").write_text("import numpy")
    assert launched(site, path=program(site.parent / "bin").parent).returncode == 0
