# SPDX-License-Identifier: MIT
"""The package: its version, its contents and its type annotations."""
import ast
import os
import re
import subprocess
import sys

import pytest
from conftest import BUILD, DEADLINE, PACKAGE, REPOSITORY

import iio_stream as ios

SOURCE = REPOSITORY / "bindings" / "python"


def version():
    text = (REPOSITORY / "src" / "include" / "iio_stream" / "api.hpp").read_text()
    return re.search(r'kVersion = "(.*)"', text)[1]


def test_the_version_is_that_of_the_library():
    assert ios.__version__ == version()


def test_schemes_lists_the_endpoints_of_the_build():
    known = ios.schemes()
    assert known["sim"] == ("source",) and known["file"] == ("source", "sink") and known["null"] == ("sink",)


def test_every_public_name_exists_and_is_documented():
    for name in ios.__all__:
        assert getattr(ios, name, None) is not None, name
        assert name.startswith("__") or getattr(ios, name).__doc__, name


def test_dir_lists_the_public_names_and_imports_nothing(python):
    out = python("""
import sys
import iio_stream as ios
before = set(sys.modules)
names = dir(ios)
assert set(sys.modules) == before, set(sys.modules) - before
assert not {"dask", "matplotlib", "iio_stream.archive", "iio_stream.view"} & before
assert set(ios.__all__) <= set(names) and "view" in names
assert [name for name in names if name.startswith("_")] == ["__version__"]
assert ios.view.look.__module__ == "iio_stream.view"
print(*names)
""")
    assert {"source", "sink", "record", "open_recording"} <= set(out.split())


@pytest.mark.parametrize("missing", ["dask", "fsspec"])
def test_dir_leaves_out_a_module_whose_packages_are_missing(python, missing):
    python(f"""
import importlib.util, inspect
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else real(name, *rest)
import iio_stream as ios
assert "archive" not in dir(ios) and "view" in dir(ios)
inspect.getmembers(ios)
""")


def test_the_stub_matches_the_extension():
    from iio_stream import _core
    stub = ast.parse((SOURCE / "iio_stream" / "_core.pyi").read_text())
    all_told = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    all_told |= {node.target.id: node for node in stub.body if isinstance(node, ast.AnnAssign)}
    told = {name: node for name, node in all_told.items() if not name.startswith("_")}
    assert set(told) == {name for name in dir(_core) if not name.startswith("_")}
    later = {"__buffer__"}  # added in Python 3.12
    for name, node in told.items():
        if isinstance(node, ast.ClassDef):
            parts = [*node.body, *(part for base in node.bases for part in all_told[base.id].body)]
            members = {part.name for part in parts if isinstance(part, ast.FunctionDef)}
            cls = getattr(_core, name)
            assert [m for m in members - later if not hasattr(cls, m)] == [], name
            public = {m for m in vars(cls) if not m.startswith("_")}
            assert public - members == set(), name


def test_the_package_is_complete():
    assert (PACKAGE / "iio_stream" / "py.typed").exists()
    for file in (SOURCE / "iio_stream").rglob("*.py"):  # the launcher in a wheel is outside of this folder
        assert (PACKAGE / file.relative_to(SOURCE)).exists(), file


@pytest.mark.parametrize("words", [
    ["ruff", "check", "--no-cache", "bindings/python", "examples", "tests/archive", "tests/python"],
    ["mypy", "--strict", "--cache-dir", os.devnull, "-p", "iio_stream", "--python-executable",
     sys.executable],
], ids=["ruff", "mypy"])
def test_ruff_and_mypy_find_no_problems(words):
    tool = BUILD / "venv" / "bin" / words[0]
    if not tool.exists():
        pytest.skip(f"{tool} is not installed: script/test installs it")
    done = subprocess.run([tool, *words[1:]], cwd=REPOSITORY, capture_output=True, text=True, check=False,
                          timeout=10 * DEADLINE)
    assert done.returncode == 0, done.stdout + done.stderr
