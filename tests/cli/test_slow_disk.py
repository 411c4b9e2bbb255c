# SPDX-License-Identifier: MIT
"""Disks that store data slowly, or fail to store them. strace simulates them."""
import json
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND, DEADLINE

SAMPLES = 200_000  # of two channels, 16 bits each

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None or
    subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode != 0,
    reason="strace is not installed, or cannot trace here")


def under_strace(trace, inject, *words):
    calls = inject.partition(":")[0]
    return ["strace", "-f", "-y", "-qq", "-e", "signal=none", "-o", trace, "-e", f"trace={calls},rename,renameat2",
            "-e", f"inject={inject}", COMMAND, "record", "sim:", "rate=1M", "pattern=ramp",
            *" ".join(words).split(), "--samples", str(SAMPLES), "--json"]


def recorded(tmp_path, inject, *words):
    return subprocess.run(under_strace(tmp_path / "trace", inject, *words), cwd=tmp_path, capture_output=True,
                          timeout=DEADLINE, check=False)


WAYS = ("", "sync=64Ki", "rotate_time=100ms", "hash=end", "convert=cf32_le", "direct=off", "engine=buffered",
        "engine=libaio")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Starts a recording with each set of options. All run at the same time and wait for 5 to 15 s each."""
    running = {}
    for options in WAYS:
        folder = tmp_path_factory.mktemp("slow")
        words = under_strace(folder / "trace", "fdatasync,fsync:delay_enter=2500000:when=2+4", "a.sigmf-meta", options)
        running[options] = folder, subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    yield running
    for _, process in running.values():
        process.kill()
        process.communicate()


@pytest.mark.parametrize("options", WAYS)
def test_an_fsync_that_takes_longer_than_the_timeout_does_not_end_a_recording(recordings, options):
    """The timeout of this stream is one second plus the time of two blocks."""
    folder, process = recordings[options]
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err.decode()
    assert (folder / "trace").read_text().count("DELAYED") > 0
    report = json.loads(out)
    assert report["sinks"][0]["delivered_samples"] == SAMPLES
    for meta in folder.glob("a*.sigmf-meta"):
        assert json.loads(meta.read_text())["global"]["iio_stream:state"] == "complete"
    stored = b"".join(data.read_bytes() for data in sorted(folder.glob("a*.sigmf-data")))
    assert len(stored) == SAMPLES * (8 if "convert" in options else 4)


def test_data_are_synced_before_the_metadata_say_complete(tmp_path):
    done = recorded(tmp_path, "fdatasync:delay_enter=1", "a.sigmf-meta")
    assert done.returncode == 0, done.stderr.decode()
    calls = (tmp_path / "trace").read_text().splitlines()
    synced = max(i for i, line in enumerate(calls) if re.search(r"fdatasync\(\d+<.*a\.sigmf-data>\)", line))
    renamed = max(i for i, line in enumerate(calls) if "a.sigmf-meta" in line and "rename" in line)
    assert synced < renamed


def test_sync_none_does_not_wait_for_the_disk(tmp_path):
    done = recorded(tmp_path, "fdatasync:delay_enter=1", "a.ci16", "sync=none")
    assert done.returncode == 0, done.stderr.decode()
    assert not re.search(r"fdatasync\(\d+<.*a\.ci16>\)", (tmp_path / "trace").read_text())


def test_a_recording_whose_sync_fails_is_an_error_and_not_complete(tmp_path):
    done = recorded(tmp_path, "fdatasync:error=EIO", "a.sigmf-meta")
    assert done.returncode == 5, done.stderr.decode()
    error = json.loads(done.stdout)["error"]
    assert error["name"] == "EIO" and "a.sigmf-data" in error["message"], error
    state = json.loads((tmp_path / "a.sigmf-meta").read_text())["global"]["iio_stream:state"]
    assert state != "complete"
