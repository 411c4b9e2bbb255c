# SPDX-License-Identifier: MIT
"""The commands of the steps. Each function yields the commands of one step, which run one after another."""
from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from schedule import Command, Commands, Context

DEBIAN = "/usr/bin/python3"       # Debian's interpreter, with the system's packages
VENV = "build/venv/bin/python"    # the same interpreter, with packages from PyPI as well

# A unity build compiles many files as one. Batches of 48 take two thirds of the time of batches of 16.
UNITY = ("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=48")
# With --full the tested tree is compiled file by file, which proves that each file includes what it uses.
FILE_BY_FILE = ("-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",)

# Tests that compile a lot and on which no other test depends. The lab uses the environment that test_pip.py
# leaves behind.
COMPILING = ("package/test_gnuradio.py", "package/test_parts.py", "package/test_pip.py",
             "package/test_wheels.py")

# Tests of the package that need neither a plotting library nor third-party tools.
PACKAGE = tuple(f"python/test_{name}.py" for name in (
    "block", "exchange", "format", "life", "mistakes", "reader", "recording", "samples", "shapes", "values",
    "worker", "writer"))

# Packages for build/venv: third-party readers of our recordings, programs that use libiio, checkers of our
# Python, the dependencies of iio_stream.view, .archive and .events, and an S3 server.
PYPI = ("sigmf", "mypy", "ruff", "matplotlib", "prometheus-client", "dask[array,distributed]",
        "fsspec", "s3fs", "moto[server]", "nats-py[nkeys]")

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")  # the versions of Python that the package supports


def run(*words: str | Path, full: Sequence[str | Path] | None = None) -> Commands:
    """Returns a step of one command. With --full, `full` replaces the command if it is given."""
    return lambda context: [Command(full if full is not None and context.full else words)]


def output_of(*words: str | Path) -> str:
    return subprocess.check_output(words, text=True).strip()


def install(context: Context) -> Iterator[Command]:
    yield Command(["script/install", *context.packages])


def build(context: Context) -> Iterator[Command]:
    """Configures the build tree, unless it is already configured, and builds it."""
    if not (context.root / "build" / "build.ninja").exists():
        how = FILE_BY_FILE if context.full else (*UNITY, "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG")
        yield Command(["cmake", "-S", ".", "-B", "build", "-G", "Ninja", *how])
    yield Command(["script/build"])


def ctest(tree: str) -> Commands:
    """Returns a step that runs the unit and host tests of a build tree. The tests wait for 75 % of their
    time, so two run on each processor."""
    return lambda context: [Command([
        "ctest", "--test-dir", tree, "--progress", "--output-on-failure", "--no-tests=error",
        "-j", str(2 * len(os.sched_getaffinity(0))),
        "--output-junit", context.results / f"ctest-{tree}.xml"])]


def pytest_command(context: Context, python: str | Path, name: str, tests: Sequence[str],
                   ignored: Sequence[str] = ()) -> Command:
    results = context.results / f"{name}.xml"
    results.touch()  # after a test hangs, pytest ends without writing the file
    return Command([python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "600",
                    "--timeout-method", "thread", "--junitxml", results,
                    *(f"--ignore=tests/{one}" for one in ignored), *(f"tests/{one}" for one in tests)])


def pytest(python: str, name: str, *tests: str, ignored: Sequence[str] = ()) -> Commands:
    """Returns a step that runs tests outside the lab: folders or files of tests/."""
    return lambda context: [pytest_command(context, python, name, tests, ignored)]


def build_asan(context: Context) -> Iterator[Command]:
    """Builds the fuzz targets and the tests in one tree."""
    yield Command(["script/fuzz", "--build"])
    yield Command(["cmake", "--build", "build-asan", "--target", "unit-tests", "host-tests", "python-core"])


def build_tsan(context: Context) -> Iterator[Command]:
    """Builds only the tests, with clang, which compiles instrumented code twice as fast as GCC."""
    yield Command(["cmake", "-S", ".", "-B", "build-tsan", "-G", "Ninja", "-DCMAKE_C_COMPILER=clang",
                   "-DCMAKE_CXX_COMPILER=clang++", *UNITY, "-DIIO_STREAM_SANITIZE=thread",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1"])
    yield Command(["cmake", "--build", "build-tsan", "--target", "unit-tests", "host-tests"])


def python_asan(context: Context) -> Iterator[Command]:
    """Preloads the sanitizer's libraries, because the interpreter itself is not sanitized. Leak detection is
    off, because the interpreter does not free everything when it exits."""
    libraries = [output_of(compiler, f"-print-file-name={name}") for compiler, name in (
        ("clang", "libclang_rt.asan-x86_64.so"), ("gcc", "libstdc++.so"))]
    tests = [f"python/test_{name}.py" for name in ("block", "exchange", "reader", "worker", "writer")]
    command = pytest_command(context, VENV, "python-asan", tests)
    yield Command(command.words, {
        "IIO_STREAM_BUILD": "build-asan", "LD_PRELOAD": ":".join(libraries), "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1"})


def pip_install(environment: str | Path, *packages: str) -> Command:
    return Command([f"{environment}/bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages])


def environment(context: Context) -> Iterator[Command]:
    """Installs packages from PyPI beside the system's, and the version of NumPy that Debian's GNU Radio was
    built for."""
    numpy = output_of(DEBIAN, "-c", "import numpy; print(numpy.__version__)")
    yield Command([DEBIAN, "-m", "venv", "--system-site-packages", "build/venv"])
    yield pip_install("build/venv", f"numpy=={numpy}", *PYPI)
    yield pip_install("build/venv", "--no-deps", "pyadi-iio")


def numpy2(context: Context) -> Iterator[Command]:
    """Tests the Python package on NumPy 2, and checks it against NumPy 2's types."""
    yield Command([DEBIAN, "-m", "venv", "--system-site-packages", "build/venv-numpy2"])
    yield pip_install("build/venv-numpy2", "numpy>=2")
    yield pytest_command(context, "build/venv-numpy2/bin/python", "python-numpy2",
                         (*PACKAGE, "python/test_package.py"))


def has_headers(python: Path) -> bool:
    test = ("import os, sys, sysconfig, venv\n"
            "sys.exit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))")
    return os.access(python, os.X_OK) and subprocess.run([python, "-c", test], check=False,
                                                         stderr=subprocess.DEVNULL).returncode == 0


def interpreters(context: Context) -> dict[str, Path]:
    """Returns one interpreter with headers for each supported version, from the system or pyenv: only the
    oldest one, or all with --full. Debian's own interpreter is excluded, because other steps test it."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for version in VERSIONS:
        places = [Path(f"/usr/bin/python{version}"), Path(f"/usr/local/bin/python{version}"),
                  *(folder / "bin" / "python3" for folder in sorted(pyenv.glob(f"{version}.*")))]
        python = next(filter(has_headers, places), None)
        if python is not None and version != sysconfig.get_python_version():
            found[version] = python
            if not context.full:
                break
    return found


def extensions(context: Context) -> Iterator[Command]:
    """Builds the extension for interpreters other than Debian's. All files are in one folder; their names
    differ. The extension is linked with the installed library and compiled as pip compiles it, but without
    optimization, which is faster."""
    root = context.root / "build" / "pythons"
    yield Command(["cmake", "--install", "build", "--prefix", root / "prefix"])
    for version, python in interpreters(context).items():
        folder = root / version
        yield Command([python, "-m", "venv", folder])
        yield pip_install(folder, "numpy", "pybind11", "pytest", "pytest-timeout")
        pybind11 = output_of(folder / "bin" / "python", "-m", "pybind11", "--cmakedir")
        yield Command([
            "cmake", "-S", ".", "-B", folder / "tree", "-G", "Ninja", *UNITY, "-DSKBUILD=ON",
            "-DIIO_STREAM_INSTALLED=ON", f"-DCMAKE_PREFIX_PATH={root / 'prefix'}",
            f"-DPython_EXECUTABLE={folder / 'bin' / 'python'}",
            f"-Dpybind11_DIR={pybind11}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"])
        yield Command(["cmake", "--build", folder / "tree"])
        yield Command(["cp", *(folder / "tree").glob("_core.*.so"), "build/python/iio_stream/"])


def pythons(context: Context) -> Iterator[Command]:
    for folder in sorted((context.root / "build" / "pythons").glob("3.*")):
        yield pytest_command(context, folder / "bin" / "python", f"python-{folder.name}", PACKAGE)


def campaign(context: Context) -> Iterator[Command]:
    """Runs every scenario that has ever failed, and new seeds for two minutes or two hours. If a new seed
    fails once and not again, the short run reports but does not count that, because a busy machine can cause
    it."""
    if context.full:
        yield Command(["script/campaign", "--corpus", "--seconds", "3600"])
        yield Command(["script/campaign", "--lab", "--corpus", "--seconds", "3600"])
    else:
        yield Command(["script/campaign", "--corpus", "--confirmed", "--seconds", "120"])


def fetch(context: Context) -> Iterator[Command]:
    for kernel in ((), ("--kernel", "6.1"), ("--kernel", "7.3")):
        yield Command(["script/vm", *kernel, "--", "true"])


def lab(context: Context) -> Iterator[Command]:
    yield Command(["tests/vm/run", context.results])


def cross(*words: str) -> Commands:
    """Returns a step for both machines: `char` is unsigned on arm64, and addresses have 32 bits on armhf."""
    return lambda context: [Command(["script/cross", *words, machine, *UNITY])
                            for machine in ("arm64", "armhf")]


def tidy(context: Context) -> Iterator[Command]:
    """Checks a separate tree, because clang cannot use GCC's precompiled header."""
    yield Command(["script/install", "tidy"])
    yield Command(["cmake", "-S", ".", "-B", "build-tidy", "-G", "Ninja", *UNITY, *FILE_BY_FILE])
    yield Command(["run-clang-tidy", "-quiet", "-p", "build-tidy", f"{context.root}/build-tidy/.*/Unity/.*"])
