# SPDX-License-Identifier: MIT
"""`iio-stream archive push` into a store that checks signatures and checksums: versitygw, which keeps objects
as plain files. The Go module proxy has it; it is built here."""
import filecmp
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import counts
import pytest
from conftest import BUILD, DEADLINE

import iio_stream as ios

GO = shutil.which("go") or "/usr/local/go/bin/go"
pytestmark = [pytest.mark.skipif(not counts.FULL or not pathlib.Path(GO).exists(),
                                 reason="builds a store by Go: with --full"), pytest.mark.timeout(1800)]
COMMAND = BUILD / "iio-stream"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The folder of a bucket named roof."""
    binary = BUILD / "versitygw"
    if not binary.exists():
        subprocess.run([GO, "install", "github.com/versity/versitygw/cmd/versitygw@latest"], check=True,
                       env={**os.environ, "GOBIN": str(BUILD)})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "objects" / "roof").mkdir(parents=True)
    for name, value in {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "testing",
                        "AWS_SECRET_ACCESS_KEY": "secretsecret", "AWS_DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    with subprocess.Popen([binary, "--port", f"127.0.0.1:{port}", "posix", tmp_path / "objects"],
                          env={**os.environ, "ROOT_ACCESS_KEY": "testing", "ROOT_SECRET_KEY": "secretsecret"},
                          stdout=subprocess.DEVNULL) as server:
        deadline = time.monotonic() + DEADLINE
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert time.monotonic() < deadline and server.poll() is None
            time.sleep(0.05)
        yield tmp_path / "objects" / "roof"
        server.terminate()


def test_a_push_that_is_killed_goes_on(store, tmp_path, monkeypatch):
    folder = tmp_path / "rec"
    folder.mkdir()
    ios.record("sim:", folder / "a.sigmf-meta", rate=0, pattern="noise", bytes="100Mi",
               file_options={"rotate_bytes": "40Mi", "hash": "end"})
    words = [COMMAND, "archive", "push", folder, "s3://roof/on top"]
    with subprocess.Popen([*words, "--bandwidth", "20Mi"]) as pushing:
        time.sleep(2)
        pushing.send_signal(signal.SIGKILL)
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=DEADLINE).stdout
    assert "3 of 3 parts stored" in said and "already there" in said and "resumed after" in said
    names = sorted(path.name for path in folder.iterdir())
    assert sorted(path.name for path in (store / "on top").iterdir()) == names
    assert filecmp.cmpfiles(folder, store / "on top", names, shallow=False)[0] == names
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    refused = subprocess.run(words, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert refused.returncode == 5 and "check the credentials" in refused.stderr
