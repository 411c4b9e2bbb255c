# SPDX-License-Identifier: MIT
"""Shared parts of the tests of the Python package. These tests run on any host, without hardware, and use the
package in build/:

    /usr/bin/python3 -m pytest -q tests/python
"""
import os
import pathlib
import signal
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("IIO_STREAM_BUILD", REPOSITORY / "build")).resolve()
PACKAGE = BUILD / "python"
DEADLINE = 60  # time limit of each program in seconds, sufficient for a busy machine

# A shell script ignores SIGINT in background jobs, and the programs of the tests would inherit that signal
# as ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(PACKAGE))
sys.path.insert(0, str(REPOSITORY / "tests"))

import numpy as np  # noqa: E402

import iio_stream as ios  # noqa: E402

assert pathlib.Path(ios.__file__).is_relative_to(PACKAGE), f"{ios.__file__} is not the package in build/"


def ramp(first_byte, count):
    """Returns bytes of the ramp pattern, which consists of consecutive 64-bit little-endian numbers."""
    words = np.arange(first_byte // 8, (first_byte + count + 7) // 8, dtype="<u8")
    return words.tobytes()[first_byte % 8:][:count]


@pytest.fixture
def python(tmp_path):
    """Runs a program in a separate interpreter, checks its exit status and returns its output."""

    def run(program, status=0, interpreter=sys.executable, timeout=DEADLINE, **options):
        done = subprocess.run([interpreter, "-B", "-X", "faulthandler", "-c", program], text=True,
                              capture_output=True, timeout=timeout, cwd=tmp_path, check=False,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)}, **options)
        assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def one_server():
    from s3_server import Server
    made = Server()
    yield made
    made.stop()


@pytest.fixture
def server(one_server, monkeypatch, tmp_path):
    """moto's server with a new bucket, and the environment variables with its address and credentials."""
    import s3fs
    one_server.faults, one_server.damage = [], lambda environ, body: body
    one_server.badly_signed = []
    one_server.be_found(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(one_server, "bucket", f"b{abs(hash(str(tmp_path)))}", raising=False)
    s3fs.S3FileSystem().mkdir(one_server.bucket)
    one_server.bodies.clear()
    yield one_server
    assert not one_server.badly_signed
