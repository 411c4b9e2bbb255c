# SPDX-License-Identifier: MIT
"""A seccomp filter, like that of a container, forbids the fastest file I/O."""
import errno
import json
import pathlib
import platform
import subprocess
import sys

import pytest

from conftest import COMMAND, DEADLINE, ramp

LAUNCHER = pathlib.Path(__file__).with_name("forbid.py")
BYTES = 4 << 20
EITHER = "io_uring_setup,io_setup"

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"),
                                reason="forbid.py has no system call numbers for this architecture")


@pytest.fixture
def forbidden(iio, tmp_path):
    """Runs the command while `calls` fail with `error`. Needs a file system with direct I/O."""
    hop = iio("record sim: rate=0 probe.ci16 --bytes 64Ki --json").json["route"][-1]
    if hop["mechanism"] != "io_uring-direct":
        pytest.skip(f"without a filter the mechanism is {hop['mechanism']}: {hop['reason']}")

    def run(error, calls, words, status=0):
        done = subprocess.run([sys.executable, LAUNCHER, error, calls, COMMAND, *words.split()],
                              cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=DEADLINE)
        assert done.returncode == status, done.stderr.decode()
        return json.loads(done.stdout)

    return run


def check_written(iio, tmp_path):
    assert (tmp_path / "a.ci16").read_bytes() == ramp(BYTES // 4)
    iio("verify --pattern ramp a.ci16")


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_libaio_is_used_if_io_uring_is_filtered(forbidden, iio, tmp_path, error):
    result = forbidden(error, "io_uring_setup", f"record sim: rate=0 a.ci16 --bytes {BYTES} --json")
    hop = result["route"][-1]
    assert (hop["mechanism"], hop["copies"]) == ("libaio-direct", 0)
    assert "io_uring_setup" in hop["reason"] and "seccomp" in hop["reason"], hop
    assert "io_uring_disabled" not in hop["reason"], "io_uring_disabled did not cause the error"
    check_written(iio, tmp_path)
    result = forbidden(error, "io_uring_setup", "stream a.ci16 verify:ramp --json")
    assert result["route"][0]["mechanism"] == "libaio-direct" and result["bytes"] == BYTES
    assert result["sinks"][0]["report"]["mismatches"] == 0


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS", "EAGAIN"])
def test_the_page_cache_is_used_if_libaio_is_filtered_too(forbidden, iio, tmp_path, error):
    result = forbidden(error, EITHER, f"record sim: rate=0 a.ci16 --bytes {BYTES} --json")
    hop = result["route"][-1]
    assert (hop["mechanism"], hop["copies"]) == ("buffered", 1)
    assert "io_uring_setup" in hop["reason"] and "io_setup" in hop["reason"].replace("io_uring_setup", "")
    assert ("seccomp" in hop["reason"]) == (error != "EAGAIN"), hop
    assert ("fs.aio-max-nr=" in hop["reason"]) == (error == "EAGAIN"), hop
    check_written(iio, tmp_path)
    result = forbidden(error, EITHER, "stream a.ci16 verify:ramp --json")
    assert result["route"][0]["mechanism"] == "buffered" and result["bytes"] == BYTES
    assert result["sinks"][0]["report"]["mismatches"] == 0


@pytest.mark.parametrize("option, error, names, way_out", [
    ("engine=io_uring", "EPERM", "io_uring_setup", "engine=auto falls back to libaio"),
    ("engine=io_uring", "ENOSYS", "seccomp", "seccomp profile"),
    ("engine=libaio", "EAGAIN", "fs.aio-max-nr=", "sysctl -w fs.aio-max-nr"),
    ("engine=libaio", "ENOSYS", "seccomp", "engine=auto takes io_uring or the page cache"),
    ("direct=on", "EAGAIN", "io_setup", "direct=auto"),
])
def test_a_forced_engine_that_is_refused_is_an_error(forbidden, tmp_path, option, error, names, way_out):
    result = forbidden(error, EITHER, f"record sim: rate=0 a.ci16 {option} --bytes 1Mi --json", status=5)
    said = result["error"]
    assert (said["name"], said["errno"]) == (error, getattr(errno, error))
    assert names in said["message"] and "a.ci16" in said["message"], said
    assert way_out in said["hint"], said
    assert not (tmp_path / "a.ci16").exists()


def test_doctor_does_not_advise_to_enable_io_uring_that_is_enabled(forbidden):
    checks = forbidden("ENOSYS", "io_uring_setup", "doctor --json")["checks"]
    [check] = [one for one in checks if one["name"] == "io_uring"]
    assert "seccomp" in check["detail"] and "sysctl" not in check["fix"], check
