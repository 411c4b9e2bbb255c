# SPDX-License-Identifier: MIT
"""Recordings in several files by the command."""
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import ramp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import counts  # noqa: E402


def test_the_parts_one_behind_the_other_are_the_stream(iio, tmp_path):
    summary = iio("record sim: rate=0 x.ci16 rotate_bytes=1Mi --samples 1M --json").json
    files = summary["sinks"][0]["report"]["files"]
    assert files == [f"x.{i:04}.ci16" for i in range(len(files))] and len(files) >= 4
    assert sorted(p.name for p in tmp_path.iterdir()) == files
    assert all((tmp_path / name).stat().st_size <= 1 << 20 for name in files)
    assert b"".join((tmp_path / name).read_bytes() for name in files) == ramp(1_000_000)
    out = iio("record sim: rate=0 y.ci16 rotate_bytes=1Mi --samples 1M").out
    assert f"{len(files)} files: y.0000.ci16 … y.{len(files) - 1:04}.ci16" in out


def test_each_part_verifies(iio, tmp_path):
    iio("record sim: rate=1M drop_at=150k drop=64 x rotate_time=100ms --samples 500k")
    parts = sorted(tmp_path.glob("x.*.sigmf-meta"))
    assert len(parts) >= 5
    samples, gaps = 0, 0
    for part in parts:
        verdict = iio("verify --pattern ramp --json", part.name).json
        assert verdict["ok"] and verdict["samples"] <= 100_000
        samples += verdict["samples"]
        gaps += verdict["recording"]["gaps"]["certain"]
    assert (samples, gaps) == (500_000, 1)


def test_existing_parts_are_refused_and_what_is_no_file_has_none(iio, tmp_path):
    (tmp_path / "x.0042.ci16").write_text("old")
    assert "overwrite=on" in iio("record sim: rate=0 x.ci16 rotate_bytes=1Mi --samples 1k", status=5).err
    assert (tmp_path / "x.0042.ci16").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
    for words in ("/dev/null rotate_bytes=1Mi", "- rotate_time=1s"):
        assert "not a regular file" in iio(f"record sim: rate=0 {words} --samples 1k", status=2).err


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
        recovery = iio("recover --json", part.name).json
        assert recovery["needed"] != finished
        assert iio("verify --pattern ramp --json", part.name).json["samples"] == recovery["samples"]
        data = part.with_suffix(".sigmf-data").read_bytes()
        if data:  # the ramp tells where it is from, and the metadata tell the same, if anything
            place = 2 * int.from_bytes(data[:8], "little")
            first = json.loads(part.read_text())["captures"][0]
            # Killed before the part's journal had its first line, it says that it does not know.
            inexact = first.get("iio_stream:index_exact") is False and not finished
            assert inexact or first.get("core:global_index", 0) == place
            assert place == end or (place > end and unfinished)
            end = place + recovery["samples"]
        if not finished:
            unfinished.append(number)
    assert all(one["same"] for one in package(*(part for part in sorted(tmp_path.glob("k.*.sigmf-meta"))
                                                if part.with_suffix(".sigmf-data").stat().st_size)))
    # The one that was being written, the one that was made ready, and those that were being closed.
    assert len(unfinished) <= 6 and (not unfinished or unfinished[-1] == number)


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
            pytest.skip("no ext4 can be made")
        words = ["-o", "loop", image]
    mounted = subprocess.run(["mount", *words, place], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted: " + mounted.stderr.decode())
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("words", ["small/x", "small/x.ci16", "small/x engine=buffered", "small/x hash=end"])
def test_parts_on_a_disk_that_gets_full_are_whole_and_counted(iio, small_disk, words):
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
    for part in parts if suffix != ".ci16" else []:  # raw samples do not say where they are from
        assert iio("verify --pattern ramp --json", part).json["ok"]
