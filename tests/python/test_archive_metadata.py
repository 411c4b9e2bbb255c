# SPDX-License-Identifier: MIT
"""Recordings are found by their metadata only. Contradictory metadata are refused, and the error names the
file."""
import json
import subprocess
import time

import numpy as np
import pytest
from archives import COUNT, command, edit, record, seven_parts, told, truth
from conftest import BUILD, DEADLINE

import iio_stream as ios

pytest.importorskip("dask.array", reason="needs dask, which script/test installs")


@pytest.fixture
def parts(tmp_path):
    return seven_parts(tmp_path)


def test_recordings_in_a_folder_are_found_by_their_metadata(tmp_path, parts):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    record(tmp_path / "deep" / "er" / "b.sigmf-meta")
    ios.record("sim:", tmp_path / "c.sigmf-meta", rate=0, samples=10)
    for url in (str(tmp_path), tmp_path, f"file://{tmp_path}/"):
        found = ios.archive.open(url)
        assert [(one.name, len(one.parts), one.samples) for one in found] == [
            ("a", len(parts), COUNT), ("c", 1, 10), ("deep/er/b", len(parts), COUNT)]
    first = found.recordings[0]
    assert [part.name for part in first.parts] == [part.name.replace("meta", "data") for part in parts]
    assert found.unfinished == () and found.damaged == () and "3 recordings" in repr(found)


def test_a_missing_part_is_a_gap(tmp_path, parts):
    for path in (parts[3], parts[3].with_suffix(".sigmf-data")):
        path.unlink()
    [recording] = ios.archive.open(tmp_path)
    third, fourth = recording.parts[2:4]
    gap = recording.gaps[-1]
    assert (gap.index, gap.evidence) == (third.end, "missing part")
    assert gap.lost_min == fourth.index - third.end
    got = recording.to_dask(None, chunks=5000).compute()
    gone = np.ma.getmaskarray(got)[:, 0]
    assert gone.sum() == gap.lost_min + 300 and np.array_equal(got.data[~gone], truth(0, len(got))[~gone])
    for path in (parts[0], parts[0].with_suffix(".sigmf-data")):  # pruned
        path.unlink()
    [recording] = ios.archive.open(tmp_path)
    assert recording.start == 16_384 and len(recording.gaps) == 2
    assert np.array_equal(recording.to_dask(None)[:5].compute(), truth(16_384, 5))


def test_unfinished_parts_are_left_out_and_listed(tmp_path, parts):
    edit(parts[6], lambda words: words["global"].update({"iio_stream:state": "recording"}))
    parts[5].with_suffix(".sigmf-data.journal").write_text("")
    parts[4].unlink()
    found = ios.archive.open(tmp_path)
    assert found.unfinished == ("a.0004", "a.0005", "a.0006")
    assert len(found.recordings[0].parts) == 4 and found.recordings[0].gaps[-1].lost_min == 300


def test_the_finished_parts_of_a_running_recording_can_be_read(tmp_path):
    words = [str(BUILD / "iio-stream"), "record", "sim:", "pattern=ramp", "rate=4M", "a", "rotate_bytes=64Ki",
             "--quiet", "--block-size", "4Ki", "--duration", "30s"]
    recorder = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + DEADLINE
        seen = set()
        while len(seen) < 5:
            assert time.monotonic() < deadline
            found = ios.archive.open(tmp_path)
            for recording in found:
                got = recording.to_dask(None).compute()
                gone = np.ma.getmaskarray(got)[:, 0]
                assert np.array_equal(got.data[~gone], truth(0, len(got))[~gone])
                seen.add(len(recording.parts))
    finally:
        recorder.kill()
        recorder.wait(DEADLINE)
    assert len(found) == 1 and found.unfinished


def keys(words):
    return {key.replace("__", ":"): value for key, value in words.items()}


def top(**words):
    return lambda metadata: metadata["global"].update(keys(words))


def first(**words):
    return lambda metadata: metadata["captures"][0].update(keys(words))


def noted(**words):
    """Returns a change that adds an annotation, sorted by its start."""
    def change(metadata):
        metadata["annotations"].append(keys(words))
        metadata["annotations"].sort(key=lambda note: note["core:sample_start"])
    return change


@pytest.mark.parametrize("number, change, words", [
    (1, top(iio_stream__samples=16_385), "16385 samples of 4 bytes"),
    (1, top(iio_stream__samples=1 << 62), "samples of 4 bytes"),
    (1, top(iio_stream__samples=-1), "iio_stream:samples = -1"),
    (1, top(iio_stream__samples=True), "iio_stream:samples = true"),
    (1, top(core__sample_rate=float("nan")), "not valid JSON"),
    (1, top(core__sample_rate=float("inf")), "not valid JSON"),
    (1, top(core__sample_rate=-1.0), "core:sample_rate = -1.0"),
    (1, top(core__sample_rate="fast"), 'core:sample_rate = "fast"'),
    (1, top(core__sample_rate=2e6), "2000000.0 Hz"),
    (1, top(core__datatype="ci16_le,ci16_le"), "is not a datatype"),
    (1, top(core__datatype=None), "is not a datatype"),
    (1, top(core__datatype="cx16"), "cx16"),
    (1, top(core__datatype="cf32_le"), "iio_stream:channels"),
    (1, top(core__num_channels=10**12), "channels"),
    (1, top(core__num_channels=2), "iio_stream:channels"),
    (1, top(core__dataset="../../etc/passwd"), "core:dataset"),
    (1, top(core__hw="another"), "another"),
    (1, first(core__global_index=0), "before the end of a.0000"),
    (1, first(core__global_index=-5), "core:global_index = -5"),
    (1, first(core__global_index=1 << 70), "core:global_index"),
    (1, first(core__global_index=(1 << 63) - 1), "index"),
    (1, first(core__sample_start=0.5), "core:sample_start = 0.5"),
    (1, first(core__sample_start=99_999_999), "capture"),
    (1, first(core__datetime="yesterday"), "yesterday"),
    (1, first(core__datetime="2026-13-45T00:00:00Z"), "2026-13-45"),
    (1, first(core__frequency=1e13), "core:frequency"),
    (1, first(core__header_bytes=4), "core:header_bytes = 4"),
    (1, noted(core__sample_start=9, iio_stream__lost_min=5), "say that 5"),
    (1, noted(core__sample_start=9, iio_stream__lost_min=5, iio_stream__lost_max=4), "lost_max = 4"),
    (1, noted(core__sample_start=16_000, iio_stream__filled=1000), "zeros up to sample 17000"),
    (1, lambda words: words.update(captures={}), "captures"),
    (1, lambda words: words.update(annotations=[3]), "annotations"),
    (1, lambda words: words.pop("global"), "global"),
])
def test_the_error_of_wrong_metadata_names_the_file(tmp_path, parts, number, change, words):
    if not isinstance(json.loads(parts[0].read_text())["global"].get("core:sample_rate"), float):
        for part in parts:
            edit(part, top(core__sample_rate=1e6))
    edit(parts[number], change)
    with pytest.raises(ios.StorageError) as caught:
        ios.archive.open(tmp_path)
    assert words in str(caught.value) and caught.value.filename.endswith((parts[number].name, "sigmf-data"))
    assert "a.0001" in caught.value.filename
    lenient = ios.archive.open(tmp_path, on_damage="leave-out")
    [wrong], [recording] = lenient.damaged, lenient.recordings
    assert str(wrong) == str(caught.value) and "missing part" in [gap.evidence for gap in recording.gaps]
    got = recording.to_dask(None).compute()
    gone = np.ma.getmaskarray(got)[:, 0]
    assert gone.sum() == 16_384 + 300 and np.array_equal(got.data[~gone], truth(0, len(got))[~gone])
    said, _ = command("list", tmp_path)
    assert [one["gaps"] for one in said["recordings"]] == [one["gaps"] for one in told(lenient)]
    assert [one["name"].rpartition(".")[0] for one in said["damaged"]] == ["a.0001"]


@pytest.mark.parametrize("text", [
    b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"global": {}}', b'{"global": 1}',
    b'{"global": {"core:sample_rate": 1e999}}', b'{"a": ' + b"1" * 10_000 + b"}",
], ids=range(9))
def test_the_error_of_unreadable_metadata_names_the_file(tmp_path, parts, text):
    parts[2].write_bytes(text)
    with pytest.raises(ios.StorageError, match="a.0002.sigmf-meta"):
        ios.archive.open(tmp_path)
    assert [one["name"] for one in command("list", tmp_path)[0]["damaged"]] == ["a.0002.sigmf-meta"]


def test_the_error_of_missing_samples_names_the_file(tmp_path, parts):
    data = parts[2].with_suffix(".sigmf-data")
    recording = ios.archive.open(tmp_path).recordings[0]
    with open(data, "r+b") as file:
        file.truncate(1000)
    with pytest.raises(ios.StorageError, match="a.0002.sigmf-data"):  # after it was opened
        recording.to_dask().compute()
    with pytest.raises(ios.StorageError, match="a.0002.sigmf-data"):
        ios.archive.open(tmp_path)
    data.unlink()
    with pytest.raises(ios.StorageError, match="a.0002.sigmf-data"):
        recording.to_dask().compute()
    with pytest.raises(FileNotFoundError, match="a.0002.sigmf-data"):
        ios.archive.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ios.archive.open(tmp_path / "nowhere")
    with pytest.raises(ios.UsageError, match="gopher"):
        ios.archive.open("gopher://x")


def test_select_returns_ranges_of_samples(tmp_path, parts):
    def tuned(words, number):
        words["global"]["core:hw"] = "AD9361"
        words["global"]["core:sample_rate"] = 1e6
        for one in words["captures"]:
            seconds = one.get("core:global_index", 0) / 1e6
            one["core:datetime"] = f"2026-11-26T23:00:{seconds:09.6f}Z"
            one["core:frequency"] = 100e6 if number in (2, 3) else 2.4e9

    for number, part in enumerate(parts):
        edit(part, lambda words, n=number: tuned(words, n))
    found = ios.archive.open(tmp_path)

    def ranges(**words):
        return [(one.start, one.stop) for one in found.select(**words)]

    end = COUNT + 300
    assert ranges() == ranges(device="AD93*") == ranges(name="a", frequency=("90M", "3G")) == [(0, end)]
    assert ranges(device="ad*") == ranges(name="b") == ranges(frequency=200_000_000) == []
    third, fourth = found.recordings[0].parts[2:4]
    assert ranges(frequency="100M") == ranges(frequency=99.5e6) == [(third.index, fourth.end)]
    assert ranges(frequency="2.4005G") == [(0, third.index), (fourth.end, end)]
    t = "2026-11-26T23:00:00"
    assert ranges(time=(f"{t}.01", f"{t}.02Z")) == [(10_000, 20_000)]
    assert ranges(time=(None, np.datetime64(f"{t}.0000015"))) == [(0, 2)]
    assert ranges(time=(f"{t}.0251", None)) == [(25_100, end)]  # lost samples have a time too
    assert ranges(time=(f"{t}.04", None), frequency="100M") == [(40_000, fourth.end)]
    assert ranges(time=("2027-01-01", None)) == ranges(time=(None, "2026-01-01")) == []
    [cut] = found.select(time=(f"{t}.02", f"{t}.03"))
    got = cut.to_dask(None, chunks=3000).compute()
    assert len(got) == 10_000 and got.count() == 2 * 9700
    assert got[:5000].tolist() == truth(20_000, 5000).tolist()
    assert [part.name for part in cut.parts] == ["a.0001.sigmf-data"] and len(cut.gaps) == 1
    assert cut.utc_ns(20_000) == int(np.datetime64(f"{t}.02", "ns").astype(int))
    for wrong in ({"time": "now"}, {"time": ("b", "a")}, {"time": ("2027", "2026")}, {"frequency": (1, 2, 3)},
                  {"frequency": (2, 1)}):
        with pytest.raises(ios.UsageError):
            found.select(**wrong)
