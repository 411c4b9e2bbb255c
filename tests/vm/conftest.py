# SPDX-License-Identifier: MIT
"""Shared by the lab's tests, which run in the guest, as root, with the simulator loaded:

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_capture.py
"""
import contextlib
import gc
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import traceback

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

ADC, DAC = "iios-sim-adc", "iios-sim-dac"
DISK = pathlib.Path("/mnt/disk")
DEBUG = pathlib.Path("/sys/kernel/debug/iios-sim")
# A background job of a shell ignores SIGINT. Without this, the command would ignore it as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
DIRTY = re.compile(r"\bBUG\b|WARNING|Oops|KFENCE|general protection|stack-protector")


class Result:
    """A finished `iio-stream` command: its exit status, output, and JSON."""

    def __init__(self, process, out, err):
        self.status = process.returncode
        self.out = out
        self.err = err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def mechanism(self):
        return self.json["route"][0]["mechanism"]

    @property
    def gaps(self):
        return self.json["gaps"]


def start(*arguments, command="iio-stream", **options):
    """Starts a command. A string argument is split at its spaces."""
    words = [command]
    for argument in arguments:
        words += argument.split() if isinstance(argument, str) else [str(argument)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def finish(process, timeout=60):
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"{process.args} did not end within {timeout} s\n{out}\n{err}")
    return Result(process, out, err)


def run(*arguments, status=0, timeout=60, **options):
    """Runs a command until it ends. It must exit with the given status, unless that is None."""
    result = finish(start(*arguments, **options), timeout)
    if status is not None:
        assert result.status == status, f"{arguments}\n{result.out}\n{result.err}"
    return result


def stream(*arguments, **options):
    return run("stream", *arguments, "--json", **options)


def sim(**parameters):
    """Reloads the simulator with these parameters."""
    words = [f"{key}={value}" for key, value in parameters.items()]
    subprocess.run(["sim-load", *words], check=True)


def knob(name, value=None, device=ADC):
    """Reads or writes one of the simulator's debugfs files."""
    path = DEBUG / device / name
    if value is None:
        return path.read_text().strip()
    path.write_text(str(value))


def truth(device=ADC):
    """Returns the losses that the simulator counted: [(samples delivered before the loss, samples lost)], and
    their total."""
    jumps = [tuple(int(word) for word in line.split()[:2])
             for line in (DEBUG / device / "gaps").read_text().splitlines()]
    return jumps, int(knob("lost", device=device))


def iio_dir(name):
    """Returns the sysfs folder of the device with that name."""
    for path in pathlib.Path("/sys/bus/iio/devices").glob("iio:device*"):
        if (path / "name").read_text().strip() == name:
            return path
    return None


def all_dmabufs():
    path = pathlib.Path("/sys/kernel/debug/dma_buf/bufinfo")
    return int(re.search(r"Total (\d+) objects", path.read_text())[1]) if path.exists() else 0


LEAKED = [0]  # number of DMABUFs that the kernel leaked in tests that have ended


def attached_dmabufs():
    """Returns the number of DMABUFs that the kernel still holds, without those that it leaked earlier.
    Returns 0 if debugfs does not show them."""
    held = all_dmabufs()
    LEAKED[0] = min(LEAKED[0], held)  # the kernel might release them late
    return held - LEAKED[0]


@contextlib.contextmanager
def small_udmabufs():
    """Limits each udmabuf to 64 MiB, which is the kernel's default before 7.2."""
    limit = pathlib.Path("/sys/module/udmabuf/parameters/size_limit_mb")
    before = limit.read_text()
    limit.write_text("64")
    yield
    limit.write_text(before)


class KernelLog:
    """The messages of the kernel log from here on. Reading them starts no process."""

    def __init__(self):
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.file, 0, os.SEEK_END)

    def news(self):
        lines = []
        while True:
            try:
                record = os.read(self.file, 8192).decode(errors="replace")
            except BlockingIOError:
                return lines
            except BrokenPipeError:  # the kernel has overwritten some records
                continue
            lines.append(record.partition(";")[2].partition("\n")[0])


def processes(name):
    """Returns the PIDs of the processes that run a program of that name, without zombies."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if re.match(rf"\d+ \({name}\) [^Z]", stat.read_text()):
                found.append(int(stat.parent.name))
    return found


@pytest.fixture(scope="session")
def kernel_log():
    return KernelLog()


def let_go_of(error):
    """Frees the objects that the frames of a failed test hold. pytest keeps the frames until another test's
    body begins. A flowgraph or a stream in them would keep its device busy in tests that reload the simulator
    first."""
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            with contextlib.suppress(RuntimeError):  # the frame is still running
                frame.clear()
                _ = frame.f_locals  # pytest may have made a copy of the variables: this empties it as well
        error = error.__context__
    gc.collect()


@pytest.fixture(autouse=True)
def clean_guest(request, kernel_log):
    """Checks that every test leaves behind a clean kernel log, no DMABUF and no process."""
    dmabufs = attached_dmabufs()
    yield
    let_go_of(getattr(sys, "last_value", None))
    left = processes("iio-stream")
    for process in left:  # frees the device for the next test
        os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + 3  # a work queue of the kernel drops the blocks
    while attached_dmabufs() > dmabufs and time.monotonic() < deadline:
        time.sleep(0.05)
    kept = attached_dmabufs() - dmabufs
    LEAKED[0] += max(kept, 0)  # the next test must not count them
    assert kept <= 0 or request.node.get_closest_marker("leaves_dmabufs") is not None, "DMABUFs are left behind"
    assert not left, f"processes are left behind: {left}"
    dirty = [line for line in kernel_log.news() if DIRTY.search(line)]
    assert not dirty, "\n".join(dirty)


def pytest_configure(config):
    # JUnit files of every family contain the properties that the boards' tests record (script/boards).
    config.addinivalue_line("filterwarnings", "ignore:record_property is incompatible")
    config.addinivalue_line("markers", "leaves_dmabufs: the kernel itself leaks here (docs/lab-findings.md)")


def interrupt(process, number=signal.SIGINT):
    os.kill(process.pid, number)
