# SPDX-License-Identifier: MIT
"""The progress line shows the remaining time."""
import re
import resource
import signal
import subprocess

import pytest

from conftest import DEADLINE

TIME = re.compile(r"  (?:(\d+) h )?(?:(\d+) min )?(?:([\d.]+) s )?(left|until full)")


def told(err, kind):
    """Returns the remaining seconds that the progress lines show, in order."""
    found = [m for m in TIME.finditer(err) if m[4] == kind]
    return [3600 * int(h or 0) + 60 * int(m or 0) + float(s or 0) for h, m, s, _ in (f.groups() for f in found)]


@pytest.mark.parametrize("limit", ["--duration 2s", "--samples 2M", "--bytes 8M"])
def test_progress_shows_the_time_until_the_requested_end(iio, limit):
    err = iio(f"stream sim: pattern=ramp rate=1M null: {limit} --progress").err
    times = told(err, "left")
    assert times and times[-1] < 1.9, err
    assert told(err, "until full") == []


def test_without_an_end_no_remaining_time_is_shown(start):
    process = start("stream sim: pattern=ramp rate=1M null: --progress")
    seen = b""
    while seen.count(b"gaps") < 3:
        seen += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert not TIME.search((seen + err).decode())


@pytest.mark.parametrize("words", ["x.ci16", "x", "x.ci16 engine=buffered"])
def test_progress_shows_the_time_until_the_file_size_limit(iio, tmp_path, words):
    limit = 12_000_000
    err = iio(f"record sim: pattern=ramp rate=1M {words} --duration 1h --progress", status=5,
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))).err
    times = told(err, "until full")
    assert times and times[-1] < 2.9, err
    assert "too large" in err
    assert max(p.stat().st_size for p in tmp_path.iterdir()) <= limit


def test_progress_shows_the_time_until_the_disk_is_full(iio, tmp_path):
    """Tests a recording in one file and one in parts. Both end with the samples that fit on the disk."""
    for words in ("small/x", "small/x rotate_bytes=3Mi"):
        small = tmp_path / "small"
        small.mkdir(exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", small],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            pytest.skip("a small file system cannot be mounted: " + mounted.stderr.decode())
        try:
            err = iio(f"record sim: pattern=ramp rate=1M {words} --progress", status=5).err
            times = told(err, "until full")
            assert times and times[-1] < 2.9, err
            assert "No space" in err
            samples = 0
            for part in sorted(small.glob("*.sigmf-meta")):
                verdict = iio("verify --pattern ramp --json", part).json
                assert verdict["ok"]
                samples += verdict["samples"]
            assert samples * 4 > 11_000_000
            assert all(p.suffix.startswith(".sigmf-") for p in small.iterdir())
        finally:
            subprocess.run(["umount", small], check=True)
