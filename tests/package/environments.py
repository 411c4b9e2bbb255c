# SPDX-License-Identifier: MIT
"""Builds the sdist and the wheel with pip once for all tests, and makes virtual environments without the
build tree."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys

from test_package import BUILD, ROOT, only, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

# Options that only shorten the compilation. The other options are those that a user types.
QUICK = "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_UNITY_BUILD_BATCH_SIZE=0"
# The wheel leaves out the same parts as script/wheels, which repairs it. With --full, script/wheels builds
# its own wheels, and this one has all parts.
PARTS = counts.pick("-DWITH_ZMQ=OFF -DWITH_OPENSSL=OFF -DWITH_CURL=OFF", "")
ENVIRONMENT = {key: value for key, value in os.environ.items()
               if key not in ("PYTHONPATH", "LD_LIBRARY_PATH")}


def files():
    """Returns the changed and the ignored files in the tree. A build must not add any."""
    return run("git", "-C", ROOT, "status", "--porcelain", "--ignored", "--", ".", ":!build*")


@functools.cache
def folder():
    """Makes the folder of the environments. It is kept because tests/vm/test_python_streams.py uses one of
    the environments in the lab."""
    root = BUILD / "pip"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    return root


def venv(name):
    run(sys.executable, "-m", "venv", folder() / name)
    return folder() / name / "bin" / "python"


def pip(python, *words, cwd=ROOT, **environment):
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *words, cwd=cwd,
        env={**ENVIRONMENT, "CMAKE_ARGS": QUICK, **environment})


def asks(python):
    """Returns a function that runs a program in an environment without the build tree."""
    def ask(program):
        return run(python, "-c", program, cwd=python.parents[2], env=ENVIRONMENT)

    return ask


@functools.cache
def sdist():
    before = files()
    python = venv("build")
    pip(python, "install", "build")
    result = subprocess.run([python, "-m", "build", "--sdist", "--outdir", folder(), ROOT], cwd=folder(), text=True,
                            env=ENVIRONMENT, check=False, capture_output=True)
    said = result.stdout + result.stderr
    assert result.returncode == 0 and "WARNING" not in said, said
    assert files() == before, "the build left something in the tree"
    return only(folder(), "iio_stream-*.tar.gz")


@functools.cache
def wheel():
    """Builds the wheel from the sdist, as `pip install` does."""
    python = sdist().parent / "build" / "bin" / "python"
    pip(python, "wheel", "--no-deps", "-w", folder(), sdist(), cwd=folder(), CMAKE_ARGS=f"{QUICK} {PARTS}")
    return only(folder(), "iio_stream-*.whl")
