# SPDX-License-Identifier: MIT
"""The command writes recordings in several files (rotate_bytes=, rotate_time=)."""
import array
import fcntl
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import COMMAND, ramp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import counts  # noqa: E402


def test_the_parts_concatenated_are_the_stream(iio, tmp_path):
    summary = iio("record sim: rate=0 x.ci16 rotate_bytes=1Mi --samples 1M --json").json
    files = summary["sinks"][0]["report"]["files"]
    assert files == [f"x.{i:04}.ci16" for i in range(len(files))] and len(files) >= 4
    assert sorted(p.name for p in tmp_path.iterdir()) == files
    assert all((tmp_path / name).stat().st_size <= 1 << 20 for name in files)
    assert b"".join((tmp_path / name).read_bytes() for name in files) == ramp(1_000_000)
    out = iio("record sim: rate=0 y.ci16 rotate_bytes=1Mi --samples 1M").out
    assert f"{len(files)} files: y.0000.ci16 … y.{len(files) - 1:04}.ci16" in out


def test_each_part_verifies(iio, tmp_path):
    iio("record sim: pattern=ramp rate=1M drop_at=150k drop=64 x rotate_time=100ms --samples 500k")
    parts = sorted(tmp_path.glob("x.*.sigmf-meta"))
    assert len(parts) >= 5
    samples, gaps = 0, 0
    for part in parts:
        verdict = iio("verify --pattern ramp --json", part.name).json
        assert verdict["ok"] and verdict["samples"] <= 100_000
        samples += verdict["samples"]
        gaps += verdict["recording"]["gaps"]["certain"]
    assert (samples, gaps) == (500_000, 1)


def test_existing_parts_and_targets_that_are_not_files_are_refused(iio, tmp_path):
    (tmp_path / "x.0042.ci16").write_text("old")
    assert "overwrite=on" in iio("record sim: rate=0 x.ci16 rotate_bytes=1Mi --samples 1k", status=5).err
    assert (tmp_path / "x.0042.ci16").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
    for words in ("/dev/null rotate_bytes=1Mi", "- rotate_time=1s"):
        assert "not a regular file" in iio(f"record sim: rate=0 {words} --samples 1k", status=2).err


def first_index(part):
    """Returns the sample index of a part's first sample from the part's metadata, and whether they mark it
    as exact."""
    first = json.loads(part.read_text())["captures"][0]
    return first.get("core:global_index", 0), first.get("iio_stream:index_exact", True)


@pytest.mark.parametrize("seed", range(counts.KILLS))
def test_after_a_kill_each_part_is_valid_or_recovers(iio, start, tmp_path, package, seed):
    process = start("record sim: rate=0 k rotate_bytes=8Mi --bytes 1Gi")
    deadline = time.monotonic() + 30
    while not (tmp_path / "k.0001.sigmf-meta").exists():
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.001)
    time.sleep(0.2 * random.Random(seed).random())
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    end, unfinished = 0, []
    for number, part in enumerate(sorted(tmp_path.glob("k.*.sigmf-meta"))):
        assert part.name == f"k.{number:04}.sigmf-meta"
        finished = iio("verify", part.name, status=None).status == 0
        recovered = iio("recover --json", part.name, status=None)
        recovery = recovered.json
        assert recovered.status == (0 if recovery["missing_samples"] == 0 else 4)
        assert recovery["needed"] != finished
        assert iio("verify --pattern ramp --json", part.name).json["samples"] == recovery["samples"]
        data = part.with_suffix(".sigmf-data").read_bytes()
        if data:  # the metadata have the same position as the ramp
            place = 2 * int.from_bytes(data[:8], "little")
            assert first_index(part) == (place, True)
            assert place == end or (place > end and unfinished)
            end = place + recovery["samples"]
        if not finished:
            unfinished.append(number)
    assert all(one["same"] for one in package(*(part for part in sorted(tmp_path.glob("k.*.sigmf-meta"))
                                                if part.with_suffix(".sigmf-data").stat().st_size)))
    # The unfinished parts are the part being written, the part being prepared, and parts being closed.
    assert len(unfinished) <= 6 and (not unfinished or unfinished[-1] == number)


SLOW = ["strace", "-f", "-qq", "-e", "signal=none", "-o", "/dev/null", "-e", "trace=write,fsync,fdatasync", "-e",
        "inject=write,fsync,fdatasync:delay_enter=100000"]  # each call takes a tenth of a second


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("words, part, journal", [
    ("k rotate_bytes=512Ki", 2, "there"), ("k rotate_time=50ms", 1, "there"), ("k rotate_bytes=512Ki", 2, "lost"),
    ("drop_at=120k drop=78 k rotate_bytes=512Ki", 1, "there"),
    ("drop_at=131072 drop=78 k rotate_bytes=512Ki", 1, "there"),  # the loss is exactly between two parts
    ("drop_at=131072 drop=78 k rotate_bytes=512Ki", 1, "lost"), ("drop_at=0 drop=78 k rotate_bytes=512Ki", 0, "there")])
def test_no_sample_of_a_part_is_written_before_its_first_index_is_on_disk(iio, tmp_path, words, part, journal):
    recorder = subprocess.Popen([*SLOW, COMMAND, "record", "sim:", "rate=0", *words.split(), "--block-size", "64Ki",
                                 "--bytes", "1Gi", "--quiet"], cwd=tmp_path, stdin=subprocess.DEVNULL)
    data = tmp_path / f"k.{part:04}.sigmf-data"
    try:
        deadline = time.monotonic() + 60
        while not (data.exists() and data.read_bytes()[:4096].strip(b"\0")):
            assert recorder.poll() is None and time.monotonic() < deadline
            time.sleep(0.001)
        child, = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        recorder.wait(30)
    finally:
        recorder.kill()
    for meta in sorted(tmp_path.glob("k.*.sigmf-meta")):
        if journal == "lost":
            meta.with_suffix(".sigmf-data.journal").unlink(missing_ok=True)
        assert iio("recover", meta.name, status=None).status in (0, 4)  # 4: samples at its end are missing
        written = meta.with_suffix(".sigmf-data").read_bytes()
        if not written:
            continue
        said, exact = first_index(meta)
        assert said == 2 * int.from_bytes(written[:8], "little") or (journal == "lost" and not exact), meta
        assert exact or journal == "lost", meta
    assert data.stat().st_size


def unlocked(data):
    """Returns whether no recorder holds the lock of the file."""
    try:
        fcntl.flock(data, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


SLOW_CUT = ["strace", "-f", "-qq", "-e", "signal=none", "-o", "/dev/null", "-e", "trace=ftruncate", "-e",
            "inject=ftruncate:delay_enter=60000000"]  # closing a part takes a minute


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("next_journal", ["there", "lost"])
@pytest.mark.parametrize("name", ["k.ci16", "k"])
def test_recover_counts_samples_that_are_missing_before_a_later_part(iio, tmp_path, name, next_journal):
    recorder = subprocess.Popen([*SLOW_CUT, COMMAND, "record", "sim:", "pattern=ramp", "rate=200k", name, "rotate_bytes=512Ki",
                                 "--block-size", "64Ki", "--bytes", "1Gi", "--quiet"], cwd=tmp_path,
                                stdin=subprocess.DEVNULL)
    suffix = ".ci16" if "." in name else ".sigmf-data"
    first, second = tmp_path / f"k.0000{suffix}", tmp_path / f"k.0001{suffix}"
    try:
        deadline = time.monotonic() + 60
        while not (second.exists() and second.read_bytes()[:4096].strip(b"\0")):
            assert recorder.poll() is None and time.monotonic() < deadline
            time.sleep(0.001)
        child, = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
    finally:
        recorder.kill()  # otherwise strace waits for the end of the delay
        recorder.wait(30)
    with first.open("rb") as data:
        while not unlocked(data):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    journals = [path.with_name(path.name + ".journal") for path in (first, second)]
    if not journals[0].exists():
        pytest.skip("it was written through the page cache")
    assert first.stat().st_size >= 512 << 10
    # A hole in place of the last two blocks simulates a disk that has not stored them.
    hole = subprocess.run(["fallocate", "-p", "-o", str(384 << 10), "-l", "1MiB", first], capture_output=True,
                          check=False)
    if hole.returncode != 0:
        pytest.skip("no hole can be made: " + hole.stderr.decode())
    if next_journal == "lost":
        journals[1].unlink()
    done = iio(f"recover k.0000{suffix} --json", status=4)
    missing = 32768 if next_journal == "there" else None
    assert (done.json["samples"], done.json["missing_samples"]) == (98304, missing)
    assert done.json["next_part"] == f"k.0001{suffix}"
    assert "warning: k.0000" in done.err and "later parts of the recording follow: k.0001" in done.err
    assert (f"{missing} samples are missing" if missing else "unknown number of samples") in done.err
    last = not tmp_path.joinpath(f"k.0002{suffix}").exists() or \
        not tmp_path.joinpath(f"k.0002{suffix}").read_bytes().strip(b"\0")
    if next_journal == "there" and last:  # no samples follow: the next part was only prepared
        assert iio(f"recover k.0001{suffix} --json").json["missing_samples"] == 0


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_recover_counts_samples_that_are_missing_at_the_end_of_a_recording(iio, tmp_path):
    """The journal contains the length of the file before the last write, which is padded to whole pages."""
    words = "record sim: rate=0 pattern=ramp k --block-size 64Ki --samples 131073 --quiet".split()
    recorder = subprocess.Popen([*SLOW_CUT, COMMAND, *words], cwd=tmp_path, stdin=subprocess.DEVNULL)
    file = tmp_path / "k.sigmf-data"
    try:
        deadline = time.monotonic() + 60
        while not (file.exists() and file.read_bytes()[512 << 10:][:4].strip(b"\0")):
            assert recorder.poll() is None and time.monotonic() < deadline
            time.sleep(0.001)
        child, = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
    finally:
        recorder.kill()
        recorder.wait(30)
    with file.open("rb") as data:
        while not unlocked(data):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    if not file.with_name("k.sigmf-data.journal").exists():
        pytest.skip("it was written through the page cache")
    hole = subprocess.run(["fallocate", "-p", "-o", str(384 << 10), "-l", "1MiB", file], capture_output=True,
                          check=False)
    if hole.returncode != 0:
        pytest.skip("no hole can be made: " + hole.stderr.decode())
    done = iio("recover k.sigmf-meta --json", status=4)
    assert (done.json["samples"], done.json["missing_samples"], done.json["next_part"]) == (98304, 32769, None)
    assert "32769 samples are missing" in done.err


@pytest.mark.parametrize("blocks", [2, 3])
@pytest.mark.parametrize("words", ["x", "x.ci16"])
def test_zero_fill_of_a_loss_that_is_longer_than_several_parts(iio, tmp_path, words, blocks):
    # With two blocks this stream once hung. The zeros occupied one block and the samples after the loss the
    # other. Both waited for the next part, which had not been requested.
    iio(f"record sim: pattern=ramp rate=200k stall_at=30k stall_for=600ms {words} rotate_time=50ms --blocks {blocks}"
        " --block-size 16Ki --samples 200k --on-gap zero-fill")
    parts = sorted(tmp_path.glob("x.*.ci16" if "." in words else "x.*.sigmf-data"))
    assert all(part.stat().st_size <= 4 * 10_000 for part in parts)
    data = array.array("Q", b"".join(part.read_bytes() for part in parts))
    # The data have more losses if the machine stalls.
    assert all(word in (0, place) for place, word in enumerate(data))
    longest = max(len(list(same)) for zero, same in itertools.groupby(data, lambda word: word == 0) if zero)
    assert longest > 5 * 10_000 // 2  # more than one part


@pytest.fixture(params=["tmpfs", "ext4"])
def small_disk(request, tmp_path):
    """A file system of 4 MiB."""
    image, place = tmp_path / "image", tmp_path / "small"
    place.mkdir()
    words = ["-t", "tmpfs", "-o", "size=4m", "none"]
    if request.param == "ext4":
        with open(image, "wb") as file:
            file.truncate(4 << 20)
        made = subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", image], capture_output=True, check=False) \
            if shutil.which("mkfs.ext4") else None
        if made is None or made.returncode != 0:
            pytest.skip("an ext4 file system cannot be created")
        words = ["-o", "loop", image]
    mounted = subprocess.run(["mount", *words, place], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted: " + mounted.stderr.decode())
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("words", ["small/x", "small/x.ci16", "small/x engine=buffered", "small/x hash=end"])
def test_parts_are_complete_and_counted_if_the_disk_becomes_full(iio, small_disk, words):
    summary = iio(f"record sim: rate=0 {words} rotate_bytes=512Ki --block-size 64Ki --json", status=5).json
    assert summary["error"]["errno"] in (28, 5), summary["error"]
    suffix = ".ci16" if ".ci16" in words else ".sigmf-data"
    parts = sorted(small_disk.glob(f"x.*{suffix}"))
    assert [part.name for part in parts] == [f"x.{i:04}{suffix}" for i in range(len(parts))]
    data = b"".join(part.read_bytes() for part in parts)
    assert data == ramp(len(data) // 4) and len(data) > 2 << 20
    sink = summary["sinks"][0]
    assert (sink["delivered_samples"], sink["bytes"]) == (len(data) // 4, len(data))
    assert sink["delivered_samples"] + sink["dropped_samples"] == summary["samples"]
    left = {path.name for path in small_disk.iterdir()} - {"lost+found"} - {part.name for part in parts}
    assert left == ({part.with_suffix(".sigmf-meta").name for part in parts} if suffix != ".ci16" else set())
    assert summary["sinks"][0]["report"]["files"] == [
        str(path.relative_to(small_disk.parent)) for path in
        (parts if suffix == ".ci16" else [part.with_suffix(".sigmf-meta") for part in parts])]
    for part in parts if suffix != ".ci16" else []:  # raw samples have no position
        assert iio("verify --pattern ramp --json", part).json["ok"]


def test_free_space_is_checked_before_a_recording_is_replaced(iio, small_disk):
    error = iio("record sim: rate=0 small/x rotate_bytes=512Ki overwrite=on --block-size 64Ki --bytes 8Mi --json",
                status=5).json["error"]
    assert error["name"] == "ENOSPC" and "8Mi needed" in error["message"]
