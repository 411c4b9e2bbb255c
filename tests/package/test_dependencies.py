# SPDX-License-Identifier: MIT
"""A missing dependency of a build gives one line with a fix, for CMake and for pip."""
import os
import re
import shutil
import subprocess

import pytest
from test_package import ROOT

PIP = "-DSKBUILD=2"  # scikit-build-core sets it
SYSTEM = ["-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=OFF"]


@pytest.fixture
def complaint(tmp_path):
    """Runs a configuration that fails. Returns its one line; CMake itself adds only the place of the call."""
    def configure(*options, **environment):
        result = subprocess.run(["/usr/bin/cmake", "-S", ROOT, "-B", tmp_path / "tree", "-G", "Ninja",
                                 f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}", *options],
                                capture_output=True, text=True, check=False, env={**os.environ, **environment})
        assert result.returncode == 1, result.stdout + result.stderr
        first, second, *rest = [line for line in result.stderr.splitlines() if line.strip()]
        assert first.startswith("iio-stream: ") and second.startswith("CMake Error at cmake/"), result.stderr
        assert all(re.match(r"Call Stack|  \S+:\d+ \(include\)$", line) for line in rest), result.stderr
        return first

    return configure


def packages(line):
    return set(line.split("sudo apt install ")[1].split())


@pytest.mark.parametrize("named", ["", "x86_64-linux-gnu-g++ -pthread"], ids=["CMake's", "pip's"])
def test_a_missing_compiler_is_reported_with_all_missing_packages(complaint, tmp_path, named):
    line = complaint(PIP, *SYSTEM, PATH=str(tmp_path), CC="", CXX=named)
    assert {"g++", "pkg-config", "python3-dev", "liburing-dev", "libusb-1.0-0-dev"} <= packages(line)


def test_the_error_of_a_missing_compiler_in_cxx_suggests_another_one(complaint):
    line = complaint(CXX="no-compiler -m32")
    other = re.fullmatch("iio-stream: CXX=no-compiler -m32 is not a program; CXX=(.*) is.", line)[1]
    assert os.access(other, os.X_OK)


@pytest.mark.parametrize("options,way_out", [
    pytest.param([PIP, "-DPython_EXECUTABLE=/usr/bin/python3"], "", id="pip"),
    pytest.param([], "-DIIO_STREAM_PYTHON_BINDINGS=OFF", id="cmake")])
def test_missing_python_headers_are_reported(complaint, tmp_path, options, way_out):
    line = complaint(f"-DPython_INCLUDE_DIR={tmp_path}", *options)
    assert packages(line) - {"pybind11-dev"} == {"python3-dev"}
    assert way_out in line and ("=OFF" in line) == bool(way_out)


def test_the_fix_has_the_syntax_of_cmake_or_pip(complaint):
    nothing = {"PKG_CONFIG_LIBDIR": "/nowhere", "PKG_CONFIG_PATH": ""}
    off = ["-DWITH_USB=OFF", "-DWITH_ZMQ=OFF", "-DWITH_CURL=OFF"]
    assert f"Leave parts out ({' '.join(off)})" in complaint("-DIIO_STREAM_PYTHON_BINDINGS=OFF", **nothing)
    words = [f"--config-settings cmake.define.{word[2:]}" for word in off]
    assert f"Leave parts out ({' '.join(words)})" in complaint(PIP, "-DIIO_STREAM_PYTHON_BINDINGS=OFF", **nothing)


def test_a_missing_installed_library_is_reported(complaint):
    line = complaint(PIP, "-DIIO_STREAM_INSTALLED=ON", "-DIIO_STREAM_PYTHON_BINDINGS=OFF",
                     "-DCMAKE_DISABLE_FIND_PACKAGE_iio-stream=ON")
    assert "no installed libiio-stream" in line and "CMAKE_PREFIX_PATH=" in line
