# SPDX-License-Identifier: MIT
"""The command writes SigMF recordings, and SigMF's own package accepts them."""
import fcntl
import json
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy
import pytest

from conftest import ramp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import counts  # noqa: E402


def metadata(path):
    return json.loads(path.read_text())


def test_a_recording_verifies_and_has_the_samples_of_the_source(iio, tmp_path):
    iio("record sim: rate=0 x.sigmf-meta --samples 100k")
    assert (tmp_path / "x.sigmf-data").read_bytes() == ramp(100_000)
    out = iio("verify --pattern ramp x.sigmf-meta").out
    assert "100000 samples" in out and "metadata valid" in out
    verdict = iio("verify x --json").json
    assert verdict["ok"] and verdict["recording"]["kind"] == "sigmf"
    assert verdict["recording"]["hash"] == "none"


def test_a_name_without_a_raw_suffix_means_sigmf(iio, tmp_path):
    iio("record sim: rate=0 take1 --samples 1k")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["take1.sigmf-data", "take1.sigmf-meta"]


def test_a_raw_suffix_means_raw_samples(iio, tmp_path):
    iio("record sim: rate=0 take1.ci16 --samples 1k")
    assert [p.name for p in tmp_path.iterdir()] == ["take1.ci16"]


def test_gaps_are_in_the_metadata_at_the_right_samples(iio, tmp_path):
    iio("record sim: rate=0 drop_at=5000 drop=64 x.sigmf-meta --samples 20k")
    meta = metadata(tmp_path / "x.sigmf-meta")
    assert meta["captures"][1]["core:sample_start"] == 5000
    assert meta["captures"][1]["core:global_index"] == 5064
    for pattern in ("ramp", ""):
        words = f"--pattern {pattern} " if pattern else ""
        verdict = iio(f"verify {words}x.sigmf-meta --json").json
        assert verdict["recording"]["gaps"] == {"certain": 1, "possible": 0, "lost_min": 64, "lost_max": 64}


def test_verify_detects_a_jump_that_is_not_in_a_gap(iio, tmp_path):
    iio("record sim: rate=0 drop_at=5000 drop=64 x.sigmf-meta --samples 20k")
    meta = metadata(tmp_path / "x.sigmf-meta")
    for change in ({"core:sample_start": 4000}, {"iio_stream:lost_max": 63, "iio_stream:lost_min": 63}):
        wrong = json.loads(json.dumps(meta))
        wrong["annotations"][0].update(change)
        wrong["captures"] = wrong["captures"][:1]
        (tmp_path / "x.sigmf-meta").write_text(json.dumps(wrong))
        iio("verify x.sigmf-meta")
        assert iio("verify --pattern ramp x.sigmf-meta", status=None).status not in (0, 2)


@pytest.mark.parametrize("index, valid", [(5009, False), (5010, True), (5011, False), (5020, False)])
def test_an_index_that_contradicts_the_annotation_of_its_loss_is_a_problem(iio, tmp_path, index, valid):
    iio("record sim: rate=0 drop_at=5000 drop=10 x.sigmf-meta --samples 20k")
    meta = metadata(tmp_path / "x.sigmf-meta")
    assert meta["captures"][1]["core:sample_start"] == 5000
    meta["captures"][1]["core:global_index"] = index
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    checked = iio("verify x.sigmf-meta --json", status=0 if valid else 5).json
    assert checked["ok"] == valid
    problems = checked["recording"]["problems"]
    assert valid or f"captures[1]: core:global_index = {index} says that {index - 5000} samples were lost" in problems[0]


@pytest.mark.parametrize("most, index, valid", [(30, 5009, False), (30, 5010, True), (30, 5030, True), (30, 5031, False),
                                                (None, 9000, True)])
def test_an_index_within_the_bounds_of_a_loss_is_valid(iio, tmp_path, most, index, valid):
    iio("record sim: rate=0 drop_at=5000 drop=10 x.sigmf-meta --samples 20k")
    meta = metadata(tmp_path / "x.sigmf-meta")
    meta["captures"][1]["core:global_index"] = index
    meta["annotations"][0].update({"core:sample_start": 4000, "core:sample_count": 1000, "iio_stream:lost_max": most})
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    assert iio("verify x.sigmf-meta --json", status=0 if valid else 5).json["ok"] == valid


def test_recordings_of_several_channels_and_odd_widths_verify(iio):
    for number, words in enumerate(("channels=4", "format=ri16_be channels=3", "format=cf32_le pattern=tone",
                                    "format=le:s12/16>>0,le:s12/16>>0", "format=le:u24/32>>0")):
        pattern = "tone" if "tone" in words else "lanes"
        iio(f"record sim: rate=0 {words} pattern={pattern} x{number}.sigmf-meta --samples 10k".replace(
            "pattern=tone pattern=tone", "pattern=tone"))
        iio(f"verify x{number}.sigmf-meta" + (" --pattern lanes" if pattern == "lanes" else ""))


def test_formats_without_a_sigmf_datatype_are_converted_as_the_route_shows(iio, tmp_path):
    """Values that are shifted in their word are stored in its upper bits, which keeps the full scale."""
    shifted = "format=le:s12/16>>4,le:s12/16>>4"
    summary = iio(f"stream sim: rate=0 {shifted} pattern=noise seed=7 x.sigmf-meta a.bin --samples 1k --json").json
    hop = summary["route"][1]
    assert hop["mechanism"] == "convert:ri16_le" and "no datatype" in hop["reason"], hop
    assert "channel0 is le:s12/16>>4: its values are shifted 4 bits" in hop["reason"]
    words = numpy.frombuffer((tmp_path / "a.bin").read_bytes(), dtype="<u2")
    assert words.any() and (tmp_path / "x.sigmf-data").read_bytes() == (words & 0xfff0).tobytes()
    assert metadata(tmp_path / "x.sigmf-meta")["global"]["core:datatype"] == "ri16_le"
    assert metadata(tmp_path / "x.sigmf-meta")["global"]["core:num_channels"] == 2
    iio("verify x.sigmf-meta")


@pytest.mark.parametrize("formats, name", [("le:u14/16>>2", "ri16_le"), ("le:s16/16>>0,le:s24/32>>8", "ri32_le"),
                                           ("le:s16/16>>0,le:f32/32>>0", "rf32_le"), ("le:s40/64>>0", "rf64_le")])
@pytest.mark.parametrize("parts", ["", "rotate_bytes=64Ki"])
def test_every_scan_type_is_recorded(iio, tmp_path, formats, name, parts):
    iio(f"record sim: rate=0 format={formats} pattern=ramp x.sigmf-meta {parts} --samples 50k --block-size 16Ki")
    metas = sorted(tmp_path.glob("*.sigmf-meta"))
    assert len(metas) > 1 if parts else len(metas) == 1
    for meta in metas:
        assert metadata(meta)["global"]["core:datatype"] == name
        iio(f"verify {meta.name}")


def test_convert_takes_precedence_over_the_automatic_conversion(iio, tmp_path):
    iio("record sim: rate=0 format=le:s12/16>>4 x.sigmf-meta convert=rf32_le --samples 1k")
    assert metadata(tmp_path / "x.sigmf-meta")["global"]["core:datatype"] == "rf32_le"


def test_a_hash_is_written_or_added_and_checked(iio, tmp_path):
    iio("record sim: rate=0 a.sigmf-meta hash=end --samples 10k")
    iio("record sim: rate=0 b.sigmf-meta --samples 10k")
    assert iio("verify a.sigmf-meta --json").json["recording"]["hash"] == "good"
    assert iio("verify b.sigmf-meta --add-hash --json").json["recording"]["hash"] == "added"
    hashes = [metadata(tmp_path / f"{n}.sigmf-meta")["global"]["core:sha512"] for n in "ab"]
    assert hashes[0] == hashes[1]
    with open(tmp_path / "b.sigmf-data", "r+b") as data:
        data.seek(999)
        data.write(b"!")
    verdict = iio("verify b.sigmf-meta --json", status=5).json
    assert not verdict["ok"] and verdict["recording"]["hash"] == "bad"


def test_the_error_of_invalid_metadata_has_the_key_and_value(iio, tmp_path):
    iio("record sim: rate=0 x --samples 1k")
    meta = metadata(tmp_path / "x.sigmf-meta")
    meta["global"]["core:sample_rate"] = -1
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    assert "core:sample_rate = -1" in iio("verify x", status=5).err
    iio("verify nothing.sigmf-meta", status=5)
    assert not iio("verify nothing.sigmf-meta --json", status=5).json["ok"]


def test_a_recording_can_be_played_and_converted(iio, tmp_path):
    iio("record sim: rate=0 drop_at=700 drop=10 x.sigmf-meta --samples 5k")
    summary = iio("play x.sigmf-meta verify:ramp --json").json
    assert summary["gaps"]["lost_min"] == 10 and summary["samples"] == 5000
    iio("record x.sigmf-meta y.sigmf-meta convert=cf32_le")
    assert metadata(tmp_path / "y.sigmf-meta")["global"]["core:datatype"] == "cf32_le"
    assert metadata(tmp_path / "y.sigmf-meta")["captures"][1]["core:global_index"] == 710


def test_sigmfs_own_package_accepts_every_kind_of_recording(iio, tmp_path, package):
    formats = [f"{c}{t}{e}" for c in "cr" for t in ("f32", "f64", "i32", "i16", "u32", "u16")
               for e in ("_le", "_be")] + ["ci8", "cu8", "ri8", "ru8", "le:s12/16>>0", "be:u10/16>>0"]
    for number, name in enumerate(formats):
        pairs = 2 if name.startswith("c") else 1
        pattern = "tone" if "f" in name else "noise"
        for channels in (pairs, 3 * pairs):
            types = ",".join([name] * channels) if ":" in name else name
            words = f"format={types}" + ("" if ":" in name else f" channels={channels}")
            iio(f"record sim: rate=1M {words} pattern={pattern} f{number}-{channels} --samples 1k")
    iio("record sim: rate=0 drop_at=500 drop=64 gap --samples 2k")
    iio("record sim: rate=0 drop_at=500 drop=64 filled --samples 2k"
        " --on-gap zero-fill")
    iio("record sim: rate=0 hashed hash=end hostname=on --samples 2k")
    iio("record sim: rate=0 empty.ci16 --samples 1")
    iio("record gap stalled convert=cf32_le")
    iio("record sim: rate=1M drop_at=70k drop=64 part rotate_time=50ms --block-size 64Ki --samples 200k")
    paths = sorted(tmp_path.glob("*.sigmf-meta"))
    parts = [p.stem for p in paths if p.stem.startswith("part.")]
    assert len(parts) >= 4 and len(paths) == 2 * len(formats) + 4 + len(parts)
    found = dict(zip([p.stem for p in paths], package(*paths)))
    assert all(one["same"] for one in found.values()), found
    assert found["gap"]["captures"] == [500, 1500] and found["gap"]["annotations"] == 1
    assert found["f0-6"]["samples"] == 1000
    assert sum(found[p]["samples"] for p in parts) == 200_000
    assert sum(found[p]["annotations"] for p in parts) == 1


def recorder(start, tmp_path, words):
    """Starts a recording and waits for its metadata."""
    process = start(f"record sim: rate=0 drop_at=3000 drop=64 k.sigmf-meta {words}")
    deadline = time.monotonic() + 30
    while not (tmp_path / "k.sigmf-meta").exists():
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.001)
    return process


@pytest.mark.parametrize("seed", range(counts.KILLS))
def test_recover_makes_a_valid_recording_after_a_kill_at_any_time(iio, start, tmp_path, seed):
    process = recorder(start, tmp_path, "--bytes 200Mi")
    time.sleep(random.Random(seed).choice((0, 0.003, 0.03, 0.3)) * random.Random(seed + 1).random())
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    finished = iio("verify k.sigmf-meta", status=None).status == 0
    if not finished:
        assert "recover" in iio("verify k.sigmf-meta", status=5).err
        iio("play k.sigmf-meta null:", status=5)
    recovery = iio("recover k.sigmf-meta --json").json
    assert recovery["needed"] != finished
    verdict = iio("verify --pattern ramp k.sigmf-meta --json").json
    assert verdict["ok"] and verdict["samples"] == recovery["samples"]
    gaps = verdict["recording"]["gaps"]
    if verdict["samples"] > 3000:  # certain, or possible if the journal did not contain the loss yet
        assert gaps["certain"] == 1 or (gaps["possible"] == 1 and gaps["lost_max"] is None)
    else:
        assert gaps["certain"] == 0
    assert not iio("recover k.sigmf-meta --json").json["needed"]
    data = (tmp_path / "k.sigmf-data").read_bytes()
    samples = len(data) // 4
    before = min(samples, 3000)
    assert data[:before * 4] == ramp(before)
    if samples > before:
        assert data[before * 4:][:40000] == ramp(samples - before, 3064)[:40000]


def test_recover_removes_a_stale_metadata_file_of_a_complete_recording(iio, tmp_path):
    """A program that is killed while it replaces the metadata, for example to add a hash, leaves the .new
    file. A running program holds the lock of the file."""
    iio("record sim: rate=0 k --samples 1k")
    stale = tmp_path / "k.sigmf-meta.new"
    with open(stale, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "nothing to recover" in iio("recover k").out and stale.exists()
    assert "nothing to recover" in iio("recover k").out and not stale.exists()
    iio("verify --pattern ramp k")


def test_recover_has_nothing_to_do_for_a_complete_recording(iio):
    iio("record sim: rate=0 x --samples 1k")
    assert "nothing to recover" in iio("recover x").out
    iio("recover nothing.sigmf-meta", status=5)


def test_a_recording_on_a_full_disk_is_valid_and_marked_as_interrupted(iio, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted: " + mounted.stderr.decode())
    try:
        error = iio("record sim: rate=0 small/x --bytes 2Mi", status=5).err
        assert "ENOSPC" in error or "space" in error or "free" in error
        if not (small / "x.sigmf-data").exists():  # refused before the start
            iio("record sim: rate=0 small/x", status=5)
        verdict = iio("verify small/x --pattern ramp --json").json
        assert verdict["ok"] and verdict["samples"] > 100_000
        assert metadata(small / "x.sigmf-meta")["global"]["iio_stream:state"] == "interrupted"
        assert len(list(small.iterdir())) == 2
    finally:
        subprocess.run(["umount", small], check=True)
