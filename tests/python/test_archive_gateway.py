# SPDX-License-Identifier: MIT
"""`iio-stream archive push` into a store that checks signatures and checksums: versitygw."""
import filecmp
import signal
import subprocess
import time

import counts
import pytest
from archives import command, record
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


def test_push_resumes_after_a_kill(store, tmp_path, monkeypatch):
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


def test_list_verify_pull_and_prune_work_with_versitygw(store, tmp_path):
    """Names with spaces, plus signs and umlauts need encoding in signatures and lists. The list of 600
    recordings has two pages."""
    folder, url = tmp_path / "rec", "s3://roof/on top/ü+1 %41&"
    folder.mkdir()
    record(folder / "a.sigmf-meta")
    for part in sorted(folder.glob("*.sigmf-meta")):
        subprocess.run([COMMAND, "verify", "--add-hash", part], check=True, capture_output=True)
    subprocess.run([COMMAND, "archive", "push", folder, url], check=True, capture_output=True,
                   timeout=DEADLINE)
    assert command("list", url)[0]["recordings"] == command("list", folder)[0]["recordings"]
    assert command("verify", url)[0]["good"] == 7
    assert command("pull", url, tmp_path / "here")[0]["pulled"] == 7
    names = sorted(path.name for path in folder.iterdir())
    assert filecmp.cmpfiles(folder, tmp_path / "here", names, shallow=False)[0] == names
    with open(next((store / "on top").rglob("a.0003.sigmf-data")), "r+b") as data:
        data.write(b"x")
    said, _ = command("verify", url, status=5)
    assert [one["name"] for one in said["problems"]] == ["a.0003.sigmf-data"]
    assert len(command("prune", url, "--keep-size", "0")[0]["removed"]) == 7
    assert "no objects below this prefix" in command("list", url, status=5)[1]
    for number in range(600):
        for kind in ("meta", "data"):
            (store / f"n{number:03}.sigmf-{kind}").write_bytes((folder / f"a.0000.sigmf-{kind}").read_bytes())
    assert len(command("list", "s3://roof")[0]["recordings"]) == 600
