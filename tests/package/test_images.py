# SPDX-License-Identifier: MIT
"""The Buildroot package and the Yocto recipe agree with this tree. The tests do not build them."""
import hashlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILDROOT = ROOT / "packaging" / "buildroot" / "package" / "iio-stream" / "iio-stream.mk"
YOCTO = ROOT / "packaging" / "yocto" / "recipes-support" / "iio-stream" / "iio-stream.bb"


def options_of_cmake():
    text = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "cmake" / "parts.cmake").read_text()
    return set(re.findall(r"^option\((\w+)", text, re.M))


@pytest.mark.parametrize("recipe", [BUILDROOT, YOCTO], ids=["buildroot", "yocto"])
def test_a_recipe_has_only_options_of_cmake_and_sets_all_parts(recipe):
    given = set(re.findall(r"-D(\w+)=(?:ON|OFF)", recipe.read_text()))
    assert given <= options_of_cmake(), given - options_of_cmake()
    assert {name for name in options_of_cmake() if name.startswith("WITH_")} <= given
    assert {"IIO_STREAM_TESTS", "IIO_STREAM_PYTHON_BINDINGS", "IIO_STREAM_GNURADIO", "IIO_STREAM_SOAPY"} <= given


def test_recipes_find_the_files_and_the_version():
    version = re.search(r'kVersion = "(.*)"', (ROOT / "src/include/iio_stream/api.hpp").read_text())[1]
    text = YOCTO.read_text()
    digest = hashlib.md5((ROOT / "LICENSE").read_bytes()).hexdigest()
    assert f"file://LICENSE;md5={digest}" in text and (YOCTO.parent / "../../../..").resolve() == ROOT
    stated = re.search(r'^PV = "\$\{@(.*)\}"$', text, re.M)[1].replace('\\"', '"')
    tree = str(ROOT)
    data = type("Data", (), {"expand": lambda _, path: path.replace("${EXTERNALSRC}", tree)})()
    assert eval(stated, {"d": data}) == version
    for file in re.search(r"^IIO_STREAM_LICENSE_FILES = (.*)$", BUILDROOT.read_text(), re.M)[1].split():
        assert (ROOT / file).is_file()
    assert (BUILDROOT.parents[2] / "../..").resolve() == ROOT
    sed = re.search(r"sed -n '(.*?)' ", BUILDROOT.read_text())[1]
    assert sed == r's/.*kVersion = "\(.*\)".*/\1/p'
