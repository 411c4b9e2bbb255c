# SPDX-License-Identifier: MIT
"""`pip install ./bindings/python`, against an installed library, in an environment of its own."""
import os
import re
import shutil
import sys

import pytest
from test_package import BUILD, ROOT, run, version

# What costs compile time only; everything else is as the user types it.
QUICK = "-DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS_RELEASE=-O0"


def files():
    return {path for path in (ROOT / "bindings" / "python").rglob("*") if path.name != "__pycache__"
            and path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def root():
    """Kept, for the lab: tests/vm/test_python_streams.py runs the environment there, too."""
    folder = BUILD / "pip"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def python(root):
    """The environment's interpreter, with nothing of the build tree in its way."""
    before = files()
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    run("cmake", "--install", BUILD, "--prefix", root / "prefix")
    run(sys.executable, "-m", "venv", root / "venv")
    run(root / "venv" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check",
        "./bindings/python", cwd=ROOT,
        env={**environment, "CMAKE_PREFIX_PATH": str(root / "prefix"), "CMAKE_ARGS": QUICK})
    assert files() == before, "pip left something in the tree"

    def ask(program):
        return run(root / "venv" / "bin" / "python", "-c", program, cwd=root, env=environment)

    return ask


def test_the_readmes_snippet_runs_as_printed(python):
    snippet = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    lines = re.findall(r"^sample (\d+): \((\d+), 2\) of int16, complex64, 0 gaps$", python(snippet), re.M)
    assert len(lines) > 1 and sum(int(count) for _, count in lines) == 1_000_000


def test_it_is_the_installed_one_with_the_installed_library(python, root):
    said = python("import iio_stream, pathlib; print(iio_stream.__version__, iio_stream.__file__)\n"
                  "print(pathlib.Path('/proc/self/maps').read_text())")
    assert said.startswith(f"{version()} {root / 'venv'}/")
    libraries = set(re.findall(r"\S*/libiio-stream\S*", said))
    assert len(libraries) == 1 and libraries.pop().startswith(f"{root / 'prefix'}/")


def test_it_is_typed_and_names_what_pictures_need(python):
    assert python("import iio_stream, pathlib\n"
                  "here = pathlib.Path(iio_stream.__file__).parent\n"
                  "print((here / 'py.typed').exists(), (here / '_core.pyi').exists())") == "True True\n"
    needed = python("import importlib.metadata; print(importlib.metadata.requires('iio-stream'))")
    assert re.search(r"matplotlib\S*; extra == .view.", needed), needed
    said = python("from iio_stream import view; raise SystemExit(view.main(['sim:', '-o', 'a.png']) != 1)")
    assert said == ""
