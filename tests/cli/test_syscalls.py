# SPDX-License-Identifier: MIT
"""System calls that fail or are interrupted. strace makes the first call fail, then the second, and so on,
as in the tests of SQLite.

The command must not crash or hang, and the file must contain the first samples.
"""
import re
import shutil
import signal
import struct
import subprocess

import pytest
from conftest import COMMAND, DEADLINE
from waiting import until

SIZE = 256 << 10
RAMP = struct.pack(f"<{SIZE // 8}Q", *range(SIZE // 8))
ENGINES = ["buffered", "libaio", "io_uring"]
MOST = 40  # limit on the injected failures per call, which covers nearly all uses of a call
STATUSES = {0, 1, 2, 3, 5, 127}  # 127: the dynamic linker failed

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def allowed():
    return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def record(folder, engine, inject):
    """Makes a recording. Returns the finished process, the number of injected failures, and the bytes of the
    file."""
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
    """Returns whether the data are the first samples, followed at most by allocated space that was not
    written yet."""
    same = next((n for n in range(0, min(len(data), SIZE), 8) if data[n:n + 8] != RAMP[n:n + 8]),
                min(len(data), SIZE))
    return not data[same:].strip(b"\0")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("call,error", [("openat", "EMFILE"), ("eventfd2", "EMFILE"), ("clone3", "EAGAIN"),
                                        ("poll", "ENOMEM"), ("ftruncate", "EIO")])
def test_a_failure_of_any_call_leaves_a_valid_beginning(tmp_path, engine, call, error):
    if not allowed():
        pytest.skip("strace cannot trace here")
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
def test_interrupted_calls_are_retried(tmp_path, engine):
    if not allowed():
        pytest.skip("strace cannot trace here")
    calls = "poll,pwrite64,io_getevents,io_uring_enter,fsync,fallocate,ftruncate"
    done, tampered, data = record(tmp_path, engine, f"{calls}:error=EINTR:when=1+2")
    assert done.returncode == 0, done.stderr
    assert tampered > 2 and data == RAMP


def parts(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("a."))


def test_a_recording_whose_journal_cannot_be_removed_is_not_a_success(tmp_path, iio, start):
    """Every reader treats a recording with a journal as interrupted."""
    if not allowed():
        pytest.skip("strace cannot trace here")
    journal = tmp_path / "a.sigmf-data.journal"
    recording = start("record sim: pattern=ramp rate=1M a.sigmf-meta")
    until(journal.exists, "the journal")
    with subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-e", "trace=unlink", "-e", "inject=unlink:error=EIO",
                           "-p", str(recording.pid)], stderr=subprocess.PIPE) as tracer:
        assert b"attached" in tracer.stderr.readline()
        recording.send_signal(signal.SIGINT)
        _, err = recording.communicate(timeout=DEADLINE)
    assert recording.returncode == 5, err
    assert f"unlink {journal.name}: Input/output error (delete it".encode() in err
    iio("recover a.sigmf-meta")
    assert not journal.exists()
    iio("verify --pattern ramp a.sigmf-meta")


def test_a_failure_to_remove_an_old_part_is_an_error(tmp_path, iio):
    """A stale part after the new ones would make the recording look longer."""
    if not allowed():
        pytest.skip("strace cannot trace here")
    words = "stream sim: rate=0 a overwrite=on rotate_bytes=64Ki --block-size 16Ki --timeout 2s --bytes"
    trace = tmp_path / "trace"
    for k in range(1, MOST):
        iio(words, 256 << 10)
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", trace, "-e", "trace=unlink", "-e", f"inject=unlink:error=EIO:when={k}",
             COMMAND, *words.split(), str(128 << 10)],
            cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False)
        told = f"unlink {k}: {done.returncode}\n{done.stderr}\n{parts(tmp_path)}"
        if done.returncode == 0:
            assert parts(tmp_path) == [f"a.000{n}.sigmf-{kind}" for n in (0, 1) for kind in ("data", "meta")], told
            iio("verify a.0000.sigmf-meta")
        else:
            assert done.returncode == 5 and "unlink" in done.stderr, told
        if "(INJECTED)" not in trace.read_text(errors="replace"):
            assert done.returncode == 0, told
            return
        for name in parts(tmp_path):
            if name.endswith("meta"):
                iio("recover", name)
        assert not list(tmp_path.glob("*.journal")), told
        for kept in tmp_path.glob("*.bak"):
            kept.unlink()
    raise AssertionError(f"more than {MOST} calls of unlink")
