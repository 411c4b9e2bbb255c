# SPDX-License-Identifier: MIT
"""Installs the Python package with pip in separate environments: from the sdist, with the library and the
command, and against an installed library."""
import pathlib
import re
import subprocess
import tarfile

import environments
import pytest
from environments import ENVIRONMENT, asks, pip, venv
from test_package import BUILD, ROOT, run, version


@pytest.fixture(scope="module")
def root():
    return environments.folder()


@pytest.fixture(scope="module")
def sdist():
    return environments.sdist()


@pytest.fixture(scope="module")
def whole(root):
    """The interpreter of an environment with the wheel. No other iio-stream is installed on the machine."""
    python = venv("venv")
    pip(python, "install", environments.wheel(), cwd=root)
    return python


@pytest.fixture(scope="module")
def python(whole):
    return asks(whole)


def test_the_sdist_has_the_sources_and_no_tests(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"LICENSE", "LICENSES", "pyproject.toml", "src", "bindings", "cmake"} <= names
    assert not names & {"tests", "build", ".git", "gr-blocks"}


def test_the_wheel_contains_the_library_and_the_command(python, whole):
    said = python("import iio_stream, pathlib; print(pathlib.Path('/proc/self/maps').read_text())")
    libraries = set(re.findall(r"\S*/libiio-stream\S*", said))
    assert len(libraries) == 1 and libraries.pop().startswith(f"{whole.parents[1]}/")
    command = whole.parent / "iio-stream"
    assert run(command, "--version", env=ENVIRONMENT) == f"iio-stream {version()}\n"
    refused = subprocess.run([command, "record", "sim:"], capture_output=True, text=True, check=False,
                             env=ENVIRONMENT)
    assert refused.returncode == 2 and "iio-stream" in refused.stderr


def test_the_wheel_uses_its_own_library_and_not_another_one(python, whole):
    environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(BUILD)}
    assert (BUILD / "libiio-stream.so").exists()
    folder = python("import iio_stream; print(iio_stream.__path__[0])").strip()
    for file in (f"{folder}/iio-stream", *map(str, pathlib.Path(folder).glob("_core*.so"))):
        assert re.findall(r"libiio-stream\S* => (\S+)", run("ldd", file, env=environment)) == [f"{folder}/libiio-stream.so"]


def test_a_missing_header_is_one_line_that_says_what_to_install(whole, sdist, root):
    """A pkg-config that finds nothing simulates a machine without the headers."""
    result = subprocess.run(
        [whole, "-m", "pip", "wheel", "--no-deps", "-w", root / "none", sdist], cwd=root,
        capture_output=True, text=True, check=False,
        env={**ENVIRONMENT, "PKG_CONFIG_LIBDIR": str(root), "PKG_CONFIG_PATH": ""})
    line = re.search(r"iio-stream: headers or tools are missing. .*nstall them with: sudo apt install (.*)",
                     result.stdout + result.stderr)
    assert result.returncode != 0 and line, result.stdout + result.stderr
    assert set(line[1].split()) == {"libcurl4-openssl-dev", "libexpat1-dev", "liburing-dev", "libusb-1.0-0-dev",
                                   "libzmq3-dev"}
    assert not (root / "none").exists() or not list((root / "none").iterdir())


@pytest.fixture(scope="module")
def linked(root):
    run("cmake", "--install", BUILD, "--prefix", root / "prefix")
    python = venv("linked")
    pip(python, "install", "--config-settings=cmake.define.IIO_STREAM_INSTALLED=ON", ".",
        CMAKE_PREFIX_PATH=str(root / "prefix"))
    return asks(python)


def test_the_readmes_snippet_runs_as_printed(python):
    snippet = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    lines = re.findall(r"^sample (\d+): \((\d+), 2\) of int16, complex64, 0 gaps$", python(snippet), re.M)
    assert len(lines) > 1 and sum(int(count) for _, count in lines) == 1_000_000


def test_an_installed_library_is_used_on_request(linked, root):
    said = linked("import iio_stream, pathlib; print(iio_stream.__version__, iio_stream.__file__)\n"
                  "print(pathlib.Path('/proc/self/maps').read_text())")
    assert said.startswith(f"{version()} {root / 'linked'}/")
    libraries = set(re.findall(r"\S*/libiio-stream\S*", said))
    assert len(libraries) == 1 and libraries.pop().startswith(f"{root / 'prefix'}/")
    path = f"{root / 'linked' / 'bin'}:{root / 'prefix' / 'bin'}:{ENVIRONMENT['PATH']}"
    assert run("iio-stream", "--version", env={**ENVIRONMENT, "PATH": path}) == f"iio-stream {version()}\n"


def test_the_package_has_types_and_an_extra_for_pictures(python):
    assert python("import iio_stream, pathlib\n"
                  "here = pathlib.Path(iio_stream.__file__).parent\n"
                  "print((here / 'py.typed').exists(), (here / '_core.pyi').exists())") == "True True\n"
    needed = python("import importlib.metadata; print(importlib.metadata.requires('iio-stream'))")
    assert re.search(r"matplotlib\S*; extra == .view.", needed), needed
    said = python("from iio_stream import view; raise SystemExit(view.main(['sim:', '-o', 'a.png']) != 1)")
    assert said == ""
