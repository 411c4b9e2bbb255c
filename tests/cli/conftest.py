# SPDX-License-Identifier: MIT
"""Shared parts of the tests of the command. These tests run on any host, without hardware:

    python3 -m pytest -q tests/cli
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("IIO_STREAM_BUILD", REPOSITORY / "build")).resolve()
COMMAND = BUILD / "iio-stream"
SIGMF_READER = pathlib.Path(__file__).with_name("sigmf_reader.py")
SCHEMAS = REPOSITORY / "docs" / "schema"
sys.path.insert(0, str(REPOSITORY / "tests"))
DEADLINE = 60  # time limit of each command in seconds, sufficient for a busy machine

# nohup ignores SIGHUP, and a shell script ignores SIGINT in background jobs. The command would inherit the
# ignored signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Result:
    """One finished command: exit status and output."""

    def __init__(self, process):
        self.status = process.returncode
        self.stdout = process.stdout or b""
        self.out = self.stdout.decode(errors="replace")
        self.err = (process.stderr or b"").decode(errors="replace")

    @property
    def json(self):
        """The JSON object on stdout. Any other output on stdout fails the test."""
        assert self.out.count("\n") == 1 and self.out.endswith("\n"), self.out
        return json.loads(self.out)


@pytest.fixture(scope="session", autouse=True)
def built():
    assert COMMAND.exists(), f"{COMMAND} is missing: build first, or set IIO_STREAM_BUILD"


@pytest.fixture
def iio(tmp_path):
    """Runs the command in tmp_path. String arguments are split into words."""

    def run(*arguments, status=0, **options):
        words = [str(COMMAND)]
        for argument in arguments:
            words += argument.split() if isinstance(argument, str) else [str(argument)]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "cwd": tmp_path,
                   "stderr": subprocess.PIPE, "timeout": DEADLINE, **options}
        result = Result(subprocess.run(words, check=False, **options))
        if status is not None:
            assert result.status == status, f"{words}\n{result.out}\n{result.err}"
        return result

    return run


@pytest.fixture
def start(tmp_path):
    """Starts the command. Processes that still run at the end of the test are killed."""
    started = []

    def run(*arguments, **options):
        words = [str(COMMAND)]
        for argument in arguments:
            words += argument.split() if isinstance(argument, str) else [str(argument)]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "cwd": tmp_path, **options}
        started.append(subprocess.Popen(words, **options))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def package():
    """Reads recordings with SigMF's own package and returns one result per recording.

    The fixture looks for the package in the Python that IIO_STREAM_SIGMF_PYTHON names, in BUILD/venv, and in the
    Python that runs the tests.
    """
    candidates = [os.environ.get("IIO_STREAM_SIGMF_PYTHON"), BUILD / "venv/bin/python", sys.executable]
    for python in filter(None, candidates):
        found = subprocess.run([python, "-c", "import sigmf"], capture_output=True, check=False) \
            if pathlib.Path(python).exists() else None
        if found is None or found.returncode != 0:
            continue

        def read(*recordings, python=python):
            done = subprocess.run([python, SIGMF_READER, *recordings], capture_output=True, text=True,
                                  timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            return [json.loads(line) for line in done.stdout.splitlines()[1:]]

        return read
    pytest.skip("no Python with the package sigmf: python3 -m venv build/venv && "
                "build/venv/bin/pip install sigmf")


def ramp(samples, first=0, sample_bytes=4):
    """The bytes of the ramp pattern, which consists of consecutive 64-bit little-endian numbers."""
    begin, end = first * sample_bytes, (first + samples) * sample_bytes
    words = range(begin // 8, (end + 7) // 8)
    data = b"".join(word.to_bytes(8, "little") for word in words)
    return data[begin - words.start * 8:][:end - begin]


@pytest.fixture
def port():
    """A free TCP port, chosen by the kernel."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]
