# SPDX-License-Identifier: MIT
"""The steps of script/test, in the order in which the steps of one lane run.

Each lane runs one step at a time. The lab's guests lose samples if they have to wait for a processor, so the
steps that run beside the lab get only the processor time that the guests leave:

    front     the steps whose output is shown while they run; the lab is among the last of them
    second    tests that run beside the front lane; the tests of both lanes mostly wait
    guest     tests in a single guest
    compiler  builds and tests that compile, with the processor time that is left until the lab has ended
    beside    any number at once: steps that mostly wait or only use the processor time that others leave
"""
from __future__ import annotations

from typing import Any

from commands import (
    COMPILING,
    DEBIAN,
    VENV,
    build,
    build_asan,
    build_tsan,
    campaign,
    cross,
    ctest,
    environment,
    extensions,
    fetch,
    install,
    lab,
    numpy2,
    pytest,
    python_asan,
    pythons,
    run,
    tidy,
)
from schedule import BESIDE, Step

ALL = ("all", "full")
FULL = ("full",)
EVERY = ("all", "full", "host")
COMPILER: dict[str, Any] = {"lane": "compiler", "idle": True}
GUEST: dict[str, Any] = {"lane": "guest"}
SECOND: dict[str, Any] = {"lane": "second"}

# Most sanitized tests and the campaign run in real time, so they start when these steps have ended.
THE_LAB = ("lab", "power", "selftest", "archive")
THE_REST = (*THE_LAB, "asan", "tsan", "campaign", "compiling", "fuzz", "numpy2", "pythons", "python-asan")

STEPS = (
    Step("install", "install the Debian packages that are missing", install, asks=True, runs_in=EVERY),
    Step("build", "compile the library, the command, the bindings and the tests", build,
         needs=("install",), packages=("build", "gnuradio", "soapy"), runs_in=EVERY),
    Step("unit", "unit and host tests, by ctest", ctest("build"),
         needs=("build",), packages=("test",), runs_in=EVERY, results=("ctest-build.xml",)),
    # The kernels are fetched while the compiler is busy. A step that needs a missing kernel fetches it.
    Step("fetch", "fetch the lab's kernels and boot each once", fetch,
         lane=BESIDE, needs=("install",), packages=("lab",)),
    Step("environment", "install Python packages from PyPI into build/venv", environment,
         lane=BESIDE, needs=("install",), packages=("test",), runs_in=EVERY),
    # This step is the first of its lane, because the lab uses the environment that test_pip.py leaves behind.
    Step("compiling", "package tests that compile a lot", pytest(DEBIAN, "compiling", *COMPILING),
         **COMPILER, needs=("build", "environment"), after=("unit",), packages=("test",),
         results=("compiling.xml",)),
    Step("build-asan", "compile the tests and the fuzz targets with AddressSanitizer and UBSan",
         build_asan, **COMPILER, needs=("install",), after=("build", "unit"),
         packages=("build", "test", "fuzz")),
    Step("build-pythons", "compile the Python extension for other versions of Python", extensions,
         **COMPILER, needs=("build",), after=("unit",)),
    Step("build-tsan", "compile the tests with ThreadSanitizer",
         build_tsan, **COMPILER, needs=("install",), after=("build", "unit"),
         packages=("build", "test", "fuzz")),
    Step("build-cross", "cross-compile for arm64 and armhf", cross(),
         **COMPILER, needs=("install",), after=("build", "unit"), packages=("build", "cross"), runs_in=FULL),
    Step("tidy", "check the sources with clang-tidy", tidy,
         **COMPILER, needs=("install",), after=("build", "unit"), packages=("build", "test", "tidy"),
         runs_in=FULL),
    Step("fuzz", "fuzz each parser of untrusted input for 20 s (10 min with --full), at the lowest priority",
         run("script/fuzz", "--seconds", "20", full=("script/fuzz", "--seconds", "600")),
         lane=BESIDE, needs=("build-asan",), always_idle=True),
    Step("power", "power cuts while a guest records to a disk", pytest(DEBIAN, "power", "power"),
         **GUEST, needs=("build",), after=("fetch", "unit"), packages=("test", "lab"),
         results=("power.xml",)),
    Step("selftest", "tests of the lab and the simulator (on each kernel with --full)",
         run("tests/kernel/selftest/run", "lab", "sim",
             full=("tests/kernel/selftest/run", "lab", "sim", "new", "old", "legacy")),
         **GUEST, needs=("build",), after=("fetch", "unit"), packages=("lab",)),
    Step("libiio", "build libiio 1.x and test it", run("script/libiio"),
         needs=("build",), packages=("libiio",)),
    Step("docs", "build the documentation and check its links", run("script/docs"),
         needs=("build",), packages=("docs",)),
    Step("cli", "tests of the command", pytest(DEBIAN, "cli", "cli"),
         needs=("build", "environment"), packages=("test",), runs_in=EVERY, results=("cli.xml",)),
    Step("host", "tests of the packages, the style and the kernel's interfaces",
         pytest(DEBIAN, "host", "host", "style", "package", "uapi", ignored=COMPILING),
         needs=("build", "environment", "libiio"), packages=("test",), results=("host.xml",)),
    Step("python", "tests of the Python package", pytest(VENV, "python", "python"),
         **SECOND, needs=("build", "environment"), after=("unit",), packages=("test",), runs_in=EVERY,
         results=("python.xml",)),
    Step("gnuradio", "tests of the GNU Radio blocks and the SoapySDR module",
         pytest(DEBIAN, "gnuradio", "gr", "soapy"),
         **SECOND, needs=("build",), after=("unit",), packages=("test",), full_packages=("gqrx",),
         runs_in=EVERY, results=("gnuradio.xml",)),
    Step("archive", "tests of archives with a recorder and an S3 server",
         pytest(VENV, "archive", "archive"),
         **SECOND, needs=("build", "environment"), after=("unit",), packages=("test",),
         results=("archive.xml",)),
    Step("lab", "tests against real kernels, in three guests at the same time", lab,
         needs=("build", "environment", "libiio"),
         after=("docs", "cli", "host", "python", "gnuradio", "compiling", "power", "selftest"),
         packages=("test", "lab"), results=("lab-*.xml",)),
    Step("campaign", "random scenarios against an independent oracle", campaign,
         lane=BESIDE, needs=("build",), after=THE_LAB, packages=("test",), go_on=True),
    Step("numpy2", "tests of the Python package on NumPy 2", numpy2,
         lane=BESIDE, needs=("build", "environment"), after=THE_LAB, packages=("test",),
         results=("python-numpy2.xml",)),
    Step("pythons", "tests of the Python package on the oldest supported Python (all with --full)", pythons,
         lane=BESIDE, needs=("build-pythons",), after=THE_LAB, packages=("test",), go_on=True,
         results=("python-3.*.xml",)),
    Step("python-asan", "tests of the Python package with AddressSanitizer", python_asan,
         lane=BESIDE, needs=("build-asan", "environment"), after=THE_LAB, results=("python-asan.xml",)),
    Step("asan", "unit and host tests with AddressSanitizer and UBSan", ctest("build-asan"),
         needs=("build-asan",), after=THE_LAB, results=("ctest-build-asan.xml",)),
    Step("tsan", "unit and host tests with ThreadSanitizer", ctest("build-tsan"),
         needs=("build-tsan",), after=THE_LAB, results=("ctest-build-tsan.xml",)),
    Step("cross", "unit tests of the cross-compiled trees, in emulation", cross("--test"),
         needs=("build-cross",), after=THE_REST, packages=("cross",), runs_in=FULL),
    Step("zcu102", "selftest on an emulated ZCU102 with Debian's arm64 kernel",
         run("tests/kernel/selftest/run", "zcu102"),
         needs=("build-cross",), after=THE_REST, packages=("lab", "lab-arm64"), runs_in=FULL),
    Step("board", "images for boards, booted on emulated boards", pytest(DEBIAN, "board", "board"),
         needs=("build-cross",), after=THE_REST, packages=("test", "lab", "board"), runs_in=FULL,
         results=("board.xml",)),
    Step("trixie", "script/test --host of the last commit in Debian 13",
         run("script/in-suite", "trixie", "script/test", "--host"),
         needs=("install",), after=THE_REST, packages=("chroot",), runs_in=FULL),
    Step("abi", "compare the library's ABI with the last release", run("script/abi"),
         needs=("build",), after=THE_REST, packages=("abi",), runs_in=FULL),
)
