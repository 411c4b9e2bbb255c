# SPDX-License-Identifier: MIT
"""Recordings as arrays that are mapped and not read, and their gaps."""
import errno
import json

import numpy as np
import pytest
from conftest import ramp

import iio_stream as ios


def record(path, samples=40_000, **options):
    return ios.record("sim:", path, samples=samples, **{"rate": "100M", "block_size": 4096, **options})


def test_a_recording_is_an_array_over_the_file(tmp_path):
    record(tmp_path / "a.sigmf-meta")
    for name in ("a.sigmf-meta", "a.sigmf-data", "a.sigmf", "a"):
        opened = ios.open_recording(tmp_path / name)
        assert isinstance(opened.array, np.memmap) and not opened.array.flags.writeable
        assert opened.array.shape == (40_000, 2) and len(opened) == 40_000
        assert opened.array.tobytes() == ramp(0, 160_000)
        assert opened.format.name == "ci16_le" and opened.format.sample_rate == 1e8
        assert [channel.id for channel in opened.format.channels] == ["voltage0_i", "voltage0_q"]
        assert opened.gaps == () and opened.metadata["global"]["core:datatype"] == "ci16_le"
        assert opened.captures[0].datetime.startswith("2")


def test_its_gaps_are_known(tmp_path):
    record(tmp_path / "a.sigmf-meta", rate=0, drop_at=25_000, drop=300)
    opened = ios.open_recording(tmp_path / "a.sigmf-meta")
    assert opened.gaps == (ios.RecordedGap(25_000, 25_000, 300, 300, "counter"),)
    assert [(capture.start, capture.index, capture.exact) for capture in opened.captures] == \
        [(0, 0, True), (25_000, 25_300, True)]
    assert [opened.index_of(n) for n in (0, 24_999, 25_000, 39_999)] == [0, 24_999, 25_300, 40_299]
    # The samples after the gap are the stream's own.
    assert opened.array[25_000:].tobytes() == ramp(25_300 * 4, 15_000 * 4)
    for beyond in (-1, 40_000):
        with pytest.raises(IndexError, match="there is no sample"):
            opened.index_of(beyond)


def test_later_parts_know_their_place_in_the_stream(tmp_path):
    done = record(tmp_path / "a.sigmf-meta", file_options={"rotate_bytes": "64Ki"})
    parts = [ios.open_recording(name) for name in done.reports[0]["files"]]
    assert len(parts) > 2 and sum(len(part) for part in parts) == 40_000
    first = 0
    for part in parts:
        assert part.index_of(0) == first
        assert part.array.tobytes() == ramp(first * 4, len(part) * 4)
        first += len(part)


def test_raw_samples_are_arrays_too(tmp_path):
    record(tmp_path / "a.ci16")
    opened = ios.open_recording(tmp_path / "a.ci16")
    assert opened.array.tobytes() == ramp(0, 160_000) and opened.metadata == {} and opened.gaps == ()
    (tmp_path / "a.ci16").rename(tmp_path / "a.bin")
    assert ios.open_recording(tmp_path / "a.bin", format="ri16_le").array.shape == (80_000, 1)
    with pytest.raises(ios.UsageError, match="format"):
        ios.open_recording(tmp_path / "a.bin")


def test_anything_but_a_recording_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        ios.open_recording(tmp_path / "a.sigmf-meta")
    (tmp_path / "a.sigmf-meta").write_text("{")
    for text in ("{", "[]", "{}", '{"global": {}}', '{"global": {"core:datatype": 3}, "captures": []}'):
        (tmp_path / "a.sigmf-meta").write_text(text)
        with pytest.raises(ios.StorageError) as caught:
            ios.open_recording(tmp_path / "a.sigmf-meta")
        assert caught.value.errno == errno.EBADMSG and "a.sigmf-meta" in caught.value.filename


def test_an_unfinished_recording_has_to_be_recovered(tmp_path):
    record(tmp_path / "a.sigmf-meta")
    meta = tmp_path / "a.sigmf-meta"
    words = json.loads(meta.read_text())
    words["global"]["iio_stream:state"] = "recording"
    meta.write_text(json.dumps(words))
    with pytest.raises(ios.StorageError, match="recover"):
        ios.open_recording(meta)
    words["global"]["iio_stream:state"] = "complete"
    words["global"]["iio_stream:samples"] = 40_001
    meta.write_text(json.dumps(words))
    with pytest.raises(ios.StorageError, match="40001 samples"):
        ios.open_recording(meta)


def test_an_empty_recording_has_no_samples(tmp_path):
    with ios.sink(tmp_path / "a.ci16"):
        pass
    assert len(ios.open_recording(tmp_path / "a.ci16")) == 0


def test_a_recording_is_an_array_to_numpy_and_names_its_zeros(tmp_path):
    name = str(tmp_path / "z.sigmf-meta")
    ios.record("sim:", name, rate=0, drop_at=500, drop=300, samples=2000, on_gap="zero-fill")
    recording = ios.open_recording(name)
    assert np.asarray(recording).shape == (2000, 2)
    assert recording.zeros == ((500, 800),) and recording.gaps == ()
    verdict = ios.verify(name, pattern="ramp")
    assert verdict.ok and verdict.zeros == ((500, 800),) and verdict.state == "complete"
