# SPDX-License-Identifier: MIT
"""Recordings that are interrupted, or that another process uses. Every problem is reported."""
import json
import os
import resource
import signal
import struct
import subprocess
import time

import pytest

from conftest import ramp

ENGINES = ["auto", "libaio", "buffered"]


def metadata(path):
    return json.loads(path.read_text())


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def written(path):
    return path.stat().st_blocks * 512 if path.exists() else 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_kill_before_the_first_mark_in_the_journal_loses_no_written_sample(iio, start, tmp_path, engine):
    recorder = start(f"record sim: pattern=ramp rate=4M x engine={engine} --duration 60s --quiet --block-size 64Ki")
    data = tmp_path / "x.sigmf-data"
    wait_for(lambda: (tmp_path / "x.sigmf-data.journal").exists())
    time.sleep(0.3)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    verdict = iio("recover x --json").json
    content = data.read_bytes()
    assert verdict["samples"] * 4 == len(content) == verdict["bytes"]
    assert content == ramp(len(content) // 4)
    # The file has 0.3 s of samples, less those in flight. The limit leaves room for a machine that stalls.
    assert len(content) > 1 << 20
    assert iio("verify --pattern ramp x --json").json["ok"]
    assert (tmp_path / "x.sigmf-meta.bak").exists()
    assert not list(tmp_path.glob("*.journal")) and not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("engine", ENGINES)
def test_recover_does_not_mistake_reserved_space_that_was_read_for_data(iio, start, tmp_path, engine):
    # After a read the kernel reports the reserved space as data (SEEK_HOLE), although it was never written.
    recorder = start(f"record sim: pattern=ramp rate=4M x engine={engine} --duration 60s --quiet --block-size 64Ki")
    data = tmp_path / "x.sigmf-data"
    wait_for(lambda: written(data) and (tmp_path / "x.sigmf-data.journal").exists())
    time.sleep(0.1)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    data.read_bytes()
    verdict = iio("recover x --json").json
    content = data.read_bytes()
    assert verdict["bytes"] == len(content) and content == ramp(len(content) // 4)


def test_a_running_recording_is_detected_by_each_of_its_names(iio, start, tmp_path):
    recorder = start("record sim: pattern=ramp rate=100k x --duration 60s --quiet")
    data, link = tmp_path / "x.sigmf-data", tmp_path / "y.ci16"
    wait_for(lambda: (tmp_path / "x.sigmf-data.journal").exists())
    os.link(data, link)
    before = metadata(tmp_path / "x.sigmf-meta")
    error = iio("record sim: rate=0 y.ci16 overwrite=on --samples 10 --json", status=5).json["error"]
    assert error["name"] == "EBUSY", error
    error = iio("record sim: rate=0 x overwrite=on --samples 10 --json", status=5).json["error"]
    assert error["name"] == "EBUSY", error
    assert "has it open" in iio("recover x", status=5).err
    assert iio("verify x --json", status=5).json["recording"]["problems"] == ["it is being recorded"]
    assert metadata(tmp_path / "x.sigmf-meta") == before
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(30) == 0
    assert iio("verify --pattern ramp x --json").json["ok"]


def test_a_file_is_not_streamed_onto_itself(iio, tmp_path):
    (tmp_path / "a.ci16").write_bytes(ramp(100_000))
    os.link(tmp_path / "a.ci16", tmp_path / "b.ci16")
    for name in ("a.ci16", "b.ci16"):
        error = iio(f"stream a.ci16 {name} overwrite=on --json", status=5).json["error"]
        assert error["name"] == "EBUSY", error
    assert (tmp_path / "a.ci16").read_bytes() == ramp(100_000)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["x.ci16", "x"])
def test_a_recording_that_reaches_the_size_limit_counts_the_stored_samples(iio, tmp_path, engine, name):
    limit = (1 << 20) + 8000  # in the middle of a block

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    summary = iio(f"record sim: rate=0 {name} engine={engine} --samples 4M --block-size 64Ki --json",
                  status=5, preexec_fn=limited).json
    data = (tmp_path / (name if "." in name else "x.sigmf-data")).read_bytes()
    assert data == ramp(len(data) // 4)
    sink = summary["sinks"][0]
    assert (sink["delivered_samples"], sink["bytes"]) == (len(data) // 4, len(data))
    assert sink["delivered_samples"] + sink["dropped_samples"] == summary["samples"]
    assert len(data) > 900_000
    assert not list(tmp_path.glob("*.journal")) and not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("name", ["x.ci16", "x"])
def test_an_empty_part_is_not_listed(iio, tmp_path, name):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    summary = iio(f"record sim: rate=0 {name} rotate_bytes=64Ki --samples 4M --block-size 16Ki --json", status=5,
                  preexec_fn=limited).json
    listed = summary["sinks"][0]["report"]["files"]
    assert listed == sorted(p.name for p in tmp_path.iterdir() if p.suffix in (".ci16", ".sigmf-meta"))


def test_verify_accepts_a_zero_filled_recording_only_with_its_zeros(iio, tmp_path):
    iio("record sim: rate=0 drop_at=5000 drop=30k x --samples 100k --on-gap zero-fill")
    verdict = iio("verify --pattern ramp x --json").json
    assert verdict["ok"] and verdict["pattern"]["mismatches"] == verdict["pattern"]["unreported"] == 0
    with open(tmp_path / "x.sigmf-data", "r+b") as data:  # this byte is no longer zero
        data.seek(4 * 20_000)
        data.write(b"\x01")
    assert not iio("verify --pattern ramp x --json", status=1).json["ok"]


def test_filled_in_zeros_are_reported_after_a_recovery(iio, start, tmp_path):
    recorder = start("record sim: pattern=ramp rate=1M drop_at=50k drop=30k x --duration 60s --on-gap zero-fill --quiet")
    wait_for(lambda: '"zeros"' in (tmp_path / "x.sigmf-data.journal").read_text()
             if (tmp_path / "x.sigmf-data.journal").exists() else False)
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    iio("recover x")
    content = (tmp_path / "x.sigmf-data").read_bytes()
    assert content[4 * 50_000:4 * 80_000] == bytes(4 * 30_000)
    first = metadata(tmp_path / "x.sigmf-meta")["annotations"][0]
    assert (first["core:sample_start"], first["iio_stream:filled"]) == (50_000, 30_000)
    assert iio("verify --pattern ramp x --json").json["ok"]


def test_an_error_of_the_source_is_in_the_metadata(iio, tmp_path):
    iio("record sim: pattern=ramp rate=1M unplug_at=200k x --duration 5s", status=3)
    told = metadata(tmp_path / "x.sigmf-meta")
    assert told["global"]["iio_stream:state"] == "interrupted"
    assert told["annotations"][-1]["core:label"] == "interrupted"
    assert "ENODEV" in told["annotations"][-1]["core:comment"] or \
        "No such device" in told["annotations"][-1]["core:comment"]
    assert iio("verify --pattern ramp x --json").json["ok"]


@pytest.mark.parametrize("name", ["cap.ci16", "cap"])
def test_overwriting_parts_removes_only_parts_of_the_old_recording(iio, tmp_path, name):
    suffix = ".ci16" if "." in name else ".sigmf-meta"
    iio(f"record sim: rate=0 {name} rotate_bytes=64Ki --block-size 16Ki --bytes 512Ki")
    parts = sorted(path.name for path in tmp_path.glob("cap.0*"))
    mine = tmp_path / f"cap.2026{suffix}"
    mine.write_text("mine")
    report = iio(f"record sim: rate=0 {name} overwrite=on rotate_bytes=64Ki --block-size 16Ki --bytes 128Ki"
                 " --json").json["sinks"][0]["report"]
    left = sorted(path.name for path in tmp_path.glob("cap.0*"))
    assert mine.read_text() == "mine"
    assert sorted(report["removed"]) == [part for part in parts if ".0000." not in part]
    assert report["files"] == [f"cap.0000{suffix}", f"cap.0001{suffix}"]
    assert left == [part for part in parts if part.split(".")[1] in ("0000", "0001")]


def test_a_suffix_that_contradicts_the_samples_is_refused(iio, tmp_path):
    error = iio("record sim: rate=0 x.cf32 --samples 10", status=2).err
    assert "cf32_le" in error and "ci16_le" in error and "convert=cf32_le" in error
    assert not list(tmp_path.iterdir())
    iio("record sim: rate=0 x.cf32 convert=cf32_le --samples 1000")
    values = struct.unpack("<2000f", (tmp_path / "x.cf32").read_bytes())
    assert values == tuple(v / 32768 for v in struct.unpack("<2000h", ramp(1000)))
    assert iio("verify x.cf32 --json").json["sample_format"] == "cf32_le"


def test_a_question_mark_separates_a_path_from_its_options(iio, tmp_path):
    (tmp_path / "a.ci16").write_bytes(b"old")
    iio("stream sim: rate=0 a.ci16?overwrite=on --samples 10")
    assert (tmp_path / "a.ci16").read_bytes() == ramp(10)
    iio("stream sim: rate=0 file:b.ci16%3Foverwrite=on.ci16 --samples 10")
    assert (tmp_path / "b.ci16?overwrite=on.ci16").read_bytes() == ramp(10)


def test_a_long_loss_ends_a_part_that_is_limited_by_time(iio, tmp_path):
    # The part has 20 of its 50 ms when 200 ms are lost. The samples after the loss go to the next part.
    iio("record sim: pattern=ramp rate=1M drop_at=70000 drop=200k x rotate_time=50ms --block-size 40000 --samples 400k"
        " --quiet")
    seen = 0
    for meta in sorted(tmp_path.glob("x.*.sigmf-meta")):
        first = metadata(meta)["captures"][0].get("core:global_index", 0)
        samples = metadata(meta)["global"]["iio_stream:samples"]
        lost = sum(a.get("iio_stream:lost_min", 0) for a in metadata(meta)["annotations"]
                   if a["core:sample_start"] > 10_000)  # after the part's first block
        assert samples + lost <= 50_000, meta
        data = meta.with_suffix(".sigmf-data").read_bytes()
        assert data[:40_000] == ramp(10_000, first=first), meta
        seen += samples
    assert seen == 400_000


def test_recover_keeps_an_offset_that_the_user_has_set(iio, start, tmp_path):
    recorder = start("record sim: pattern=ramp rate=1M drop_at=50k drop=30k x --duration 60s --quiet")
    journal = tmp_path / "x.sigmf-data.journal"
    wait_for(lambda: journal.exists() and '"bytes"' in journal.read_text().partition('"gap"')[2])
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    edited = metadata(tmp_path / "x.sigmf-meta")
    edited["global"]["core:offset"] = 7000
    edited["captures"][0]["core:sample_start"] = 7000
    edited["annotations"].append({"core:sample_start": 7100, "core:sample_count": 10, "core:label": "mine"})
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(edited))
    iio("recover x")
    told = metadata(tmp_path / "x.sigmf-meta")
    assert [one["core:sample_start"] for one in told["captures"]] == [7000, 57_000]
    assert told["captures"][1]["core:global_index"] == 80_000
    assert (7100, "mine") in [(one["core:sample_start"], one["core:label"]) for one in told["annotations"]]
    assert iio("verify --pattern ramp x --json").json["ok"]


def test_a_running_recording_is_detected_through_a_bind_mount(iio, start, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    mounted = subprocess.run(["mount", "--bind", here, there], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted: " + mounted.stderr.decode())
    try:
        recorder = start("record sim: pattern=ramp rate=100k here/x --duration 60s --quiet")
        wait_for(lambda: (here / "x.sigmf-data.journal").exists())
        before = (here / "x.sigmf-meta").read_bytes()
        assert "has it open" in (text := iio("recover there/x", status=5).err) or "being recorded" in text
        error = iio("record sim: rate=0 there/x overwrite=on --samples 10 --json", status=5).json["error"]
        assert error["name"] == "EBUSY", error
        assert iio("verify there/x --json", status=5).json["recording"]["problems"] == ["it is being recorded"]
        assert (here / "x.sigmf-meta").read_bytes() == before and (here / "x.sigmf-data.journal").exists()
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(30) == 0
        assert iio("verify --pattern ramp there/x --json").json["ok"]
    finally:
        subprocess.run(["umount", "-l", there], check=True)
