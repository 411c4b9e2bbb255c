# SPDX-License-Identifier: MIT
"""script/wheels: tests each wheel in its own environment with the available versions of NumPy."""
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import environments
import pytest
from environments import ENVIRONMENT
from test_package import BUILD, ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

SAMPLES = ("import iio_stream as ios; "
           "print(next(iter(ios.source('sim:', samples=1000))).array.shape, __import__('numpy').__version__)")


@pytest.fixture(scope="module")
def wheels():
    """Builds all wheels with --full, otherwise repairs the one that pip has built for the system's Python."""
    run(ROOT / "script" / "wheels", *([] if counts.FULL else [environments.wheel()]))
    return sorted((BUILD / "wheels").glob("*.whl"))


def interpreter(wheel):
    """Returns the interpreter for a wheel. cp311 means python3.11."""
    minor = re.search(r"-cp3(\d+)-", wheel.name)[1]
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    found = [pathlib.Path(f"/usr/bin/python3.{minor}"), pathlib.Path(f"/usr/local/bin/python3.{minor}"),
             *sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python3"))]
    return next(path for path in found if path.exists())


def numpys(minor):
    """NumPy 1 is available for Python 3.9 to 3.12, and NumPy 2 for all versions."""
    return ["numpy<2", "numpy>=2"] if minor <= 12 else ["numpy>=2"]


def test_each_wheel_records_in_its_own_environment(wheels, tmp_path):
    assert wheels
    for wheel in wheels:
        python = interpreter(wheel)
        minor = int(re.search(r"-cp3(\d+)-", wheel.name)[1])
        for numpy in numpys(minor):
            folder = tmp_path / f"{minor}-{numpy[5:]}"
            run(python, "-m", "venv", folder)
            run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel, numpy,
                env=ENVIRONMENT)
            shape, version = run(folder / "bin" / "python", "-c", SAMPLES, cwd=folder, env=ENVIRONMENT).rsplit(" ", 1)
            assert shape == "(1000, 2)" and version.startswith("1." if numpy == "numpy<2" else "2."), numpy
            run(folder / "bin" / "iio-stream", "record", "sim:", "pattern=ramp", "a.sigmf-meta", "hash=end", "--samples", "100k",
                "--quiet", cwd=folder, env=ENVIRONMENT)
            run(folder / "bin" / "iio-stream", "verify", "--pattern", "ramp", "a.sigmf-meta", cwd=folder, env=ENVIRONMENT)
            assert (folder / "a.sigmf-data").stat().st_size == 400_000
            share = folder / "share"
            assert "Fl -duration" in (share / "man" / "man1" / "iio-stream.1").read_text()
            for completion in ("bash-completion/completions/iio-stream", "zsh/site-functions/_iio-stream",
                               "fish/vendor_completions.d/iio-stream.fish"):
                assert (share / completion).stat().st_size > 0


def test_a_wheel_needs_nothing_but_the_c_and_cpp_libraries(wheels, tmp_path):
    """All other libraries are in the wheel, each with its license."""
    for wheel in wheels:
        folder = tmp_path / wheel.stem
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        ours = {path.name for path in folder.rglob("*.so*")}
        bundled = {path.name for path in (folder / "iio_stream.libs").iterdir()}
        assert len(bundled) <= 8 and (not counts.FULL or wheel.stat().st_size <= 5_000_000)
        for file in [*folder.rglob("*.so*"), folder / "iio_stream" / "iio-stream"]:
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", file))) - ours
            assert {name.split(".so")[0] for name in needed} <= {
                "libc", "libm", "libstdc++", "libgcc_s", "libpthread", "ld-linux-x86-64"}, file
        terms = {path.name for path in folder.glob("*.dist-info/licenses/third-party/*")}
        assert {"nlohmann-json3-dev", "libcli11-dev", "pybind11"} < terms
        assert len(terms) == 3 + len(bundled)
        licences = {path.name for path in folder.glob("*.dist-info/licenses/**/*")}
        assert {"LICENSE", "MIT.txt"} <= licences
        metadata, = folder.glob("*.dist-info/METADATA")
        assert "Programming Language :: Python :: 3.9" in metadata.read_text()


def test_the_error_of_an_omitted_part_says_so(wheels, tmp_path):
    python = interpreter(wheels[0])
    run(python, "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheels[0],
        env=ENVIRONMENT)
    said = subprocess.run([tmp_path / "venv" / "bin" / "iio-stream", "stream", "sim:", "zmq:tcp://127.0.0.1:5555"],
                          capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert said.returncode == 2 and "built without ZeroMQ" in said.stderr
