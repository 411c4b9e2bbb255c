# SPDX-License-Identifier: MIT
"""System calls that fail, or are interrupted, under strace: in the manner of SQLite the first, the second, ….

No crash, no hang, and whatever is in the file is the beginning of the samples.
"""
import re
import shutil
import struct
import subprocess

import pytest
from conftest import COMMAND, DEADLINE

SIZE = 256 << 10
RAMP = struct.pack(f"<{SIZE // 8}Q", *range(SIZE // 8))
ENGINES = ["buffered", "libaio", "io_uring"]
MOST = 40  # of one call; nearly all have been made by then
STATUSES = {0, 1, 2, 3, 5, 127}  # 127 is the dynamic linker's

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def allowed():
    return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def record(folder, engine, inject):
    """One recording; its status, what it said, how many calls were tampered with, and the file's bytes."""
    file, trace = folder / "a.ci16", folder / "trace"
    file.unlink(missing_ok=True)
    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={inject.partition(':')[0]}", "-e", f"inject={inject}",
         COMMAND, "stream", "sim:", "rate=0", f"{file}", f"engine={engine}", "--bytes", str(SIZE),
         "--block-size", "16Ki", "--timeout", "2s"],
        cwd=folder, capture_output=True, timeout=DEADLINE, check=False)
    tampered = len(re.findall(r"\(INJECTED\)", trace.read_text(errors="replace")))
    return done, tampered, file.read_bytes() if file.exists() else b""


def is_beginning(data):
    """Samples, and behind them at most what was allocated and not written yet."""
    same = next((n for n in range(0, min(len(data), SIZE), 8) if data[n:n + 8] != RAMP[n:n + 8]),
                min(len(data), SIZE))
    return not data[same:].strip(b"\0")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("call,error", [("openat", "EMFILE"), ("eventfd2", "EMFILE"), ("clone3", "EAGAIN"),
                                        ("poll", "ENOMEM"), ("ftruncate", "EIO")])
def test_each_call_may_fail(tmp_path, engine, call, error):
    if not allowed():
        pytest.skip("strace may not trace here")
    for k in range(1, MOST):
        done, tampered, data = record(tmp_path, engine, f"{call}:error={error}:when={k}")
        told = f"{call} {k}: {done.returncode}\n{done.stderr.decode(errors='replace')}"
        assert done.returncode in STATUSES, told
        assert is_beginning(data), told
        if done.returncode == 0:
            assert data == RAMP, told
        else:
            assert done.stderr, told
        if tampered == 0:
            assert done.returncode == 0, told
            return


@pytest.mark.parametrize("engine", ENGINES)
def test_interrupted_calls_change_nothing(tmp_path, engine):
    if not allowed():
        pytest.skip("strace may not trace here")
    calls = "poll,pwrite64,io_getevents,io_uring_enter,fsync,fallocate,ftruncate"
    done, tampered, data = record(tmp_path, engine, f"{calls}:error=EINTR:when=1+2")
    assert done.returncode == 0, done.stderr
    assert tampered > 2 and data == RAMP
