# SPDX-License-Identifier: MIT
"""`keep=` without `archive=`: a recorder removes its own oldest parts and reports it."""
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import COMMAND, DEADLINE, REPOSITORY, ramp
from waiting import until

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

PART = 16384  # samples in 64 KiB
SUFFIXES = {"x.ci16": ".ci16", "x": ".sigmf-data"}
STRACE = ["strace", "-f", "-qq", "-e", "signal=none", "-o", "/dev/null"]
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


def data_of(folder, suffix):
    return sorted(folder.glob(f"x.*{suffix}"))


def check_schema(name, document):
    pytest.importorskip("jsonschema")
    import schemas
    schemas.check(name, document)


def events_in(file, kind):
    events = [json.loads(line) for line in file.read_text().splitlines()]
    for event in events:
        check_schema("event", event)
    return [event for event in events if event["event"] == kind]


def check_report(summary, folder, suffix):
    """Removed and remaining parts together are the whole recording. `files` lists the remaining parts."""
    report = summary["sinks"][0]["report"]
    there = data_of(folder, suffix)
    known_as = [path.with_suffix(".sigmf-meta") if suffix == ".sigmf-data" else path for path in there]
    assert report["files"] == [path.name for path in known_as] and all(path.exists() for path in known_as)
    assert not list(folder.glob("*.journal")) and not list(folder.glob("*.new"))
    kept = sum(path.stat().st_size for path in there)
    assert report["keep"]["removed_bytes"] + kept == summary["sinks"][0]["bytes"]
    assert report["keep"]["removed_samples"] + kept // 4 == summary["sinks"][0]["delivered_samples"]
    return report["keep"]


@pytest.mark.parametrize("name", SUFFIXES)
def test_keep_by_size_keeps_the_newest_parts(iio, tmp_path, name):
    summary = iio(f"record sim: rate=0 {name} rotate_bytes=64Ki keep=last:256Ki --block-size 4096 --samples 500k "
                  "--events events --json").json
    check_schema("summary", summary)
    kept = data_of(tmp_path, SUFFIXES[name])
    assert [path.name.split(".")[1] for path in kept] == ["0027", "0028", "0029", "0030"]
    assert b"".join(path.read_bytes() for path in kept) == ramp(500_000 - 27 * PART, 27 * PART)
    said = check_report(summary, tmp_path, SUFFIXES[name])
    assert said == {"removed": 27, "removed_bytes": 27 * 65536, "removed_samples": 27 * PART, "last_error": None}
    removed = events_in(tmp_path / "events", "removed")
    assert [event["file"].split(".")[1] for event in removed] == [f"{number:04}" for number in range(27)]
    assert [event["bytes"] for event in removed] == [65536] * 27
    listed = iio("archive list . --json").json["recordings"]
    assert [(one["first_index"], one["parts"], one["samples"]) for one in listed] == (
        [(27 * PART, 4, 500_000 - 27 * PART)] if name == "x" else [])
    for meta in tmp_path.glob("x.*.sigmf-meta"):
        verdict = iio("verify --pattern ramp --json", meta.name).json
        first = json.loads(meta.read_text())["captures"][0]
        assert verdict["ok"] and first["core:global_index"] == int(meta.name.split(".")[1]) * PART


def test_the_text_summary_counts_removed_parts(iio):
    out = iio("record sim: rate=0 x.ci16 rotate_bytes=64Ki keep=last:256Ki --block-size 4096 --samples 500k").out
    assert "4 files: x.0027.ci16 … x.0030.ci16; 27 older parts removed (1.69 MiB)" in out


@pytest.mark.parametrize("name", SUFFIXES)
def test_keep_by_time_counts_the_time_of_the_samples(iio, tmp_path, name):
    (tmp_path / "ten-seconds.ci16").write_bytes(ramp(500_000))
    summary = iio(f"record ten-seconds.ci16 rate=50k {name} rotate_time=200ms keep=last:1s --block-size 4096 "
                  "--json").json
    said = check_report(summary, tmp_path, SUFFIXES[name])
    kept = b"".join(path.read_bytes() for path in data_of(tmp_path, SUFFIXES[name]))
    assert kept == ramp(500_000)[-len(kept):]
    assert said["removed"] > 40 and 50_000 <= len(kept) // 4 <= 50_000 + 2 * 10_000


def test_keep_by_time_includes_lost_samples(iio, tmp_path):
    iio("record sim: rate=100k drop_at=100k drop=40k x rotate_time=100ms keep=last:500ms --block-size 4096 "
        "--samples 120k")
    first = min(json.loads(meta.read_text())["captures"][0].get("core:global_index", 0)
                for meta in tmp_path.glob("x.*.sigmf-meta"))
    assert 160_000 - 50_000 - 2 * 10_000 <= first <= 160_000 - 50_000


@pytest.mark.parametrize("name", SUFFIXES)
def test_the_newest_parts_can_be_recovered_after_a_kill(iio, start, tmp_path, name):
    suffix = SUFFIXES[name]
    recorder = start(f"record sim: rate=0 {name} rotate_bytes=64Ki keep=last:256Ki --block-size 4096 --quiet")
    until(lambda: any(int(path.name.split(".")[1]) > 20 for path in data_of(tmp_path, suffix)), "part 21")
    recorder.send_signal(signal.SIGKILL)
    recorder.wait(DEADLINE)
    end = None
    sizes = {data: data.stat().st_size for data in data_of(tmp_path, suffix)}
    for data, size in sizes.items():
        known_as = data.with_suffix(".sigmf-meta") if suffix == ".sigmf-data" else data
        if not data.exists():  # recover removes the next part if it was only prepared
            assert size == 0 and data == [*sizes][-1]
            continue
        if not known_as.exists():
            # This is either the oldest part, whose metadata were removed first, or the newest part, which has
            # no metadata yet.
            assert end is None or data == [*sizes][-1] and size == 0
            continue
        assert iio("recover", known_as.name, status=None).status in (0, 4)
        samples = data.read_bytes()
        if not samples:
            continue
        place = 2 * int.from_bytes(samples[:8], "little")
        assert samples == ramp(len(samples) // 4, place) and (end is None or place >= end)
        end = place + len(samples) // 4
        assert iio("verify --json --pattern ramp" if suffix == ".sigmf-data" else "verify --json",
                   known_as.name).json["ok"]
        if suffix == ".sigmf-data":
            assert json.loads(known_as.read_text())["captures"][0]["core:global_index"] == place
    assert end is not None and not list(tmp_path.glob("*.journal"))
    assert len(data_of(tmp_path, suffix)) <= 4 + 8  # kept parts, and up to 8 that were in progress


@needs_strace
@pytest.mark.parametrize("calls", range(40, 52))
def test_a_kill_never_leaves_metadata_without_samples(tmp_path, calls):
    """strace kills the recorder at one of the calls that remove a journal, metadata or data."""
    inject = ["-e", "trace=?unlink,unlinkat", "-e", f"inject=?unlink,unlinkat:signal=KILL:when={calls}"]
    done = subprocess.run([*STRACE, *inject, COMMAND, "record", "sim:", "rate=0", "x", "rotate_bytes=64Ki",
                           "keep=last:128Ki", "--block-size", "4096", "--samples", "500k"],
                          cwd=tmp_path, capture_output=True, timeout=DEADLINE, check=False)
    assert done.returncode != 0
    there = {meta.with_suffix("").name for meta in tmp_path.glob("x.*.sigmf-meta")}
    samples = {data.with_suffix("").name for data in tmp_path.glob("x.*.sigmf-data")}
    newest = max(samples)  # this part may have no metadata yet
    assert there <= samples and samples - there <= {min(samples), newest}
    assert newest in there or (tmp_path / (newest + ".sigmf-data")).stat().st_size == 0


def test_keep_removes_only_files_of_the_recording(start, tmp_path):
    """Files with similar names, a hard link to a part, a part that was moved, and a part that was replaced
    are kept."""
    others = ["x.0000.ci16.bak", "x.000.ci16", "xx.0000.ci16", "x.0000.cf32", "w.0000.ci16"]
    for name in others:
        (tmp_path / name).write_text(name)
    recorder = start("record - format=ci16_le x.ci16 rotate_bytes=64Ki keep=last:1Mi --block-size 4096 "
                     "--json --events events", stdin=subprocess.PIPE)
    recorder.stdin.write(ramp(7 * PART))
    recorder.stdin.flush()
    until(lambda: (tmp_path / "events").exists() and "x.0003.ci16" in (tmp_path / "events").read_text(), "part 3")
    (saved := tmp_path / "saved").mkdir()
    os.link(tmp_path / "x.0001.ci16", saved / "1")
    (tmp_path / "x.0002.ci16").rename(saved / "2")
    (tmp_path / "x.0003.ci16").unlink()
    (tmp_path / "x.0003.ci16").write_text("mine")
    out, err = recorder.communicate(ramp(600_000 - 7 * PART, 7 * PART), timeout=DEADLINE)
    assert recorder.returncode == 5 and b"it was replaced or modified" in err, err
    assert all((tmp_path / name).read_text() == name for name in others)
    assert (tmp_path / "x.0003.ci16").read_text() == "mine"
    assert [(saved / n).read_bytes() for n in "12"] == [ramp(PART, int(n) * PART) for n in "12"]
    summary = json.loads(out)
    check_schema("summary", summary)
    report = summary["sinks"][0]["report"]
    assert report["files"] == ["x.0003.ci16", *(f"x.{number:04}.ci16" for number in range(21, 37))]
    assert report["files"] == sorted(path.name for path in tmp_path.glob("x.????.ci16"))
    assert report["keep"]["removed"] == 21 - 2 and "x.0003.ci16" in report["keep"]["last_error"]
    assert [event["file"] for event in events_in(tmp_path / "events", "not-removed")] == ["x.0003.ci16"]


@needs_strace
@pytest.mark.parametrize("when, left", [("1+", ["0002"]), ("1", [])])
@pytest.mark.parametrize("name", SUFFIXES)
def test_removing_a_part_that_fails_is_reported_and_retried(tmp_path, name, when, left):
    suffix = SUFFIXES[name]
    stuck = "x.0002.ci16" if name == "x.ci16" else "x.0002.sigmf-meta"
    inject = ["-e", "trace=?unlink,unlinkat", "-P", stuck, "-e", f"inject=?unlink,unlinkat:error=EACCES:when={when}"]
    done = subprocess.run([*STRACE, *inject, COMMAND, "record", "sim:", "rate=0", name, "rotate_bytes=64Ki",
                           "keep=last:256Ki", "--block-size", "4096", "--samples", "500k", "--json", "--events",
                           "events"],
                          cwd=tmp_path, capture_output=True, timeout=DEADLINE, check=False)
    summary = json.loads(done.stdout)
    assert [path.name.split(".")[1] for path in data_of(tmp_path, suffix)] == [*left, "0027", "0028", "0029", "0030"]
    assert f"unlink {stuck}: Permission denied" in check_report(summary, tmp_path, suffix)["last_error"]
    assert [event["file"] for event in events_in(tmp_path / "events", "not-removed")] == [stuck]
    assert done.returncode == (5 if left else 0), done.stderr
    if left:
        assert summary["error"]["name"] == "EACCES" and stuck in summary["error"]["message"]
        assert b"1 part that is older than keep=last:256Ki could not be removed" in done.stderr
    assert summary["samples"] == 500_000 and summary["ended"] in ("samples", "error")


@pytest.mark.parametrize("words, say", [
    ("x.ci16 keep=last:1Mi", "keep=last:1Mi: the recording is one file"),
    ("x keep=last:1h", "rotate_bytes=SIZE or rotate_time=TIME"),
    ("x rotate_bytes=64Ki keep=none", "keep=none: without archive=, no part of the recording would stay"),
    ("x rotate_bytes=64Ki keep=last:", "keep=last: is not a valid rule"),
    ("x rotate_bytes=64Ki keep=last:some", "keep=last:some is not a valid rule"),
    ("x rotate_bytes=64Ki keep=last:64kib", "keep=last:64kib is not a valid rule (did you mean 64KiB?)"),
    ("x rotate_bytes=64Ki keep=last:-1s", "keep=last:-1s is not a valid rule"),
    ("x rotate_bytes=64Ki keep=last:0", "keep=last:0: must be more than 0"),
    ("x rotate_time=1s keep=last:0s", "keep=last:0s: must be more than 0"),
    ("x.ci16 rotate_bytes=64Ki keep=last:32Ki", "keep=last:32Ki is less than a part of 64Ki"),
    ("- keep=last:1Mi", "keep=last:1Mi"), ("x rotate_bytes=64Ki archive_wait=1s", "there is no archive=")])
def test_an_invalid_keep_rule_is_refused_with_a_hint(iio, tmp_path, words, say):
    err = iio(f"record sim: rate=0 {words} --block-size 4096 --samples 1k", status=2).err
    assert say in err and ("(" in err or "more than 0" in err), err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", ["x rotate_bytes=64Ki keep=all", "x.ci16 keep=all"])
def test_keep_all_is_the_default(iio, tmp_path, words):
    report = iio(f"record sim: rate=0 {words} --block-size 4096 --samples 100k --json").json["sinks"][0].get("report")
    assert report is None or ("keep" not in report and len(report["files"]) == 7)


def test_overwrite_removes_all_remaining_parts_of_the_old_recording(iio, tmp_path):
    words = "record sim: rate=0 x rotate_bytes=64Ki keep=last:256Ki --block-size 4096 --json overwrite=on --samples"
    iio(words, "500k")
    (tmp_path / "x.0027.sigmf-meta").unlink()  # a kill can cause this
    (tmp_path / "x.0040.ci16").write_text("mine")
    summary = iio(words, "20k").json
    removed = summary["sinks"][0]["report"]["removed"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "x.0000.sigmf-data", "x.0000.sigmf-meta", "x.0001.sigmf-data", "x.0001.sigmf-meta", "x.0040.ci16"]
    assert sorted(removed) == ["x.0027.sigmf-data", *(f"x.00{number}.sigmf-{kind}" for number in (28, 29, 30)
                                                      for kind in ("data", "meta"))]


def test_raw_parts_are_not_overwritten_if_the_first_one_is_missing(iio, tmp_path):
    words = "record sim: rate=0 x.ci16 rotate_bytes=64Ki keep=last:256Ki --block-size 4096 overwrite=on --samples 500k"
    iio(words)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    err = iio(words, status=5).err
    assert "x.0027.ci16" in err and "delete all parts of x.ci16" in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept


def test_a_recording_with_keep_can_be_larger_than_the_disk(iio, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", place], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted: " + mounted.stderr.decode())
    try:
        words = "record sim: rate=2M small/x rotate_bytes=256Ki --block-size 64Ki --bytes 8Mi"
        assert "needed" in iio(words, status=5).err
        summary = iio(f"{words} keep=last:1Mi --json").json
        assert len(data_of(place, ".sigmf-data")) == 4 and summary["bytes"] == 8 << 20
        assert "needed" in iio(f"{words} overwrite=on keep=last:6Mi", status=5).err
    finally:
        subprocess.run(["umount", "-l", place], check=True)
