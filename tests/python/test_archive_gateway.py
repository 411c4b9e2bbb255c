# SPDX-License-Identifier: MIT
"""`iio-stream archive push` into a store that checks signatures and checksums: versitygw."""
import filecmp
import signal
import subprocess
import time

import counts
import pytest
from conftest import BUILD, DEADLINE
from gateway import HAS_GO, serving

import iio_stream as ios

pytestmark = [pytest.mark.skipif(not counts.FULL or not HAS_GO, reason="builds a store by Go: with --full"),
              pytest.mark.timeout(1800)]
COMMAND = BUILD / "iio-stream"


@pytest.fixture
def store(tmp_path, monkeypatch):
    with serving(tmp_path / "objects", monkeypatch) as folder:
        yield folder


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
