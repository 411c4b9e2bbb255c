# SPDX-License-Identifier: MIT
"""libiio.so.0 of `iio-stream run` replaces the buffer functions of libiio and passes all other calls on."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from test_package import BUILD, run

LIBRARY = BUILD / "compat" / "libiio.so.0"
# Debian 12's libiio, 0.24, and Debian 13's, 0.26 (script/libiio).
HEADERS = [pathlib.Path("/usr/include/iio.h"), BUILD / "libiio" / "source" / "iio.h"]
# Functions that set values without a getter in libiio, and the end of a context, which discards these values.
SEEN = {"iio_context_set_timeout", "iio_context_destroy", "iio_device_set_kernel_buffers_count"}

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the library is built only if libiio 0.x is installed")


def exported(library, kind="TW"):
    return {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()
            if line.split()[-2] in kind and line.split()[-1].startswith("iio_")}


def of_buffers(header):
    """Returns the functions of iio.h that return a buffer or have one as an argument."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    functions = re.findall(r"^__api\s+([^;{]*?\b(iio_\w+)\(([^;]*)\));", re.sub(r"__(check_ret|pure|notused)\b", "", text),
                           re.M)
    return {name for whole, name, _ in functions if "struct iio_buffer *" in whole}


@pytest.mark.parametrize("header", HEADERS, ids=["machine", "trixie"])
def test_exactly_the_functions_with_a_buffer_are_replaced(header):
    wanted = of_buffers(header)
    assert len(wanted) > 15 and "iio_device_create_buffer" in wanted
    assert exported(LIBRARY) == wanted | SEEN


def test_all_other_functions_come_from_libiio():
    """Tests a linked program, and ctypes, which looks functions up in the handle of this library."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARY.parent)}
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", LIBRARY))
    real, = [name for name in needed if name.startswith("/")]
    program = ("import ctypes, sys; library = ctypes.CDLL('libiio.so.0'); "
               "print(all(hasattr(library, name) for name in sys.argv[1:])); print(open('/proc/self/maps').read())")
    said = subprocess.run(["/usr/bin/python3", "-c", program, *sorted(exported(real))], env=environment, text=True,
                          capture_output=True, check=True).stdout
    assert said.startswith("True\n") and str(LIBRARY) in said and os.path.realpath(real) in said
    linked = subprocess.run(["ldd", "/usr/bin/iio_info"], env=environment, text=True, capture_output=True, check=True)
    assert f"libiio.so.0 => {LIBRARY}" in linked.stdout
    assert ctypes.CDLL(real)


def test_run_passes_the_arguments_of_a_program_unchanged():
    said = run(BUILD / "iio-stream", "run", "--", "sh", "-c", 'echo "$0 $LD_LIBRARY_PATH"', "--help")
    assert said == f"--help {LIBRARY.parent}" + (f":{os.environ['LD_LIBRARY_PATH']}" if "LD_LIBRARY_PATH" in os.environ
                                                else "") + "\n"
    done = subprocess.run([BUILD / "iio-stream", "run", "--", "/no/such/program"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 2
    assert done.stderr == "iio-stream: run: start /no/such/program: No such file or directory\n"


@pytest.fixture
def elsewhere(tmp_path):
    """Copies the command to a folder whose name has special characters for shells and systemd."""
    folder = tmp_path / "it's 100%h of \"it\" $HOME"
    (folder / "compat").mkdir(parents=True)
    for name in ("iio-stream", "libiio-stream.so.0", "compat/libiio.so.0"):
        shutil.copy(BUILD / name, folder / name)
    return folder


def test_the_lines_of_install_work_with_any_folder_name(elsewhere, tmp_path):
    metrics = f"{elsewhere}/m.prom"
    lines = run(elsewhere / "iio-stream", "run", "--install", "--metrics-file", metrics)
    program = "import os; print([os.environ[name] for name in ('LD_LIBRARY_PATH', 'IIO_STREAM_METRICS_FILE')])"
    profile = "\n".join(re.findall("^export .*$", lines, re.M))
    for shell in ("dash", "bash"):
        said = run(shell, "-c", f'{profile}\nexec {sys.executable} -c "$0"', program,
                   env={**os.environ, "LD_LIBRARY_PATH": "/one folder:/another"})
        assert said == f"{[f'{elsewhere}/compat:/one folder:/another', metrics]}\n"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_lines_of_install(elsewhere, tmp_path):
    lines = run(elsewhere / "iio-stream", "run", "--install", "--metrics-file", f"{elsewhere}/m.prom")
    unit = tmp_path / "program.service"
    unit.write_text("[Service]\nExecStart=/bin/true\n" + "\n".join(re.findall("^Environment=.*$", lines, re.M)) + "\n")
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert str(unit) not in result.stderr, result.stderr
