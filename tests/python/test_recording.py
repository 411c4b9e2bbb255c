# SPDX-License-Identifier: MIT
"""open_recording() maps a recording as an array without reading it, and returns its gaps and metadata."""
import errno
import json
import tarfile

import numpy as np
import pytest
from conftest import ramp

import iio_stream as ios


def record(path, samples=40_000, **options):
    options = {"pattern": "ramp", "rate": "100M", "block_size": 4096, **options}
    return ios.record("sim:", path, samples=samples, **options)


def test_a_recording_is_an_array_that_maps_the_file(tmp_path):
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


def test_a_recording_has_its_gaps_and_indexes(tmp_path):
    record(tmp_path / "a.sigmf-meta", rate=0, drop_at=25_000, drop=300)
    opened = ios.open_recording(tmp_path / "a.sigmf-meta")
    assert opened.gaps == (ios.RecordedGap(25_000, 25_000, 300, 300, "counter"),)
    assert [(capture.start, capture.index, capture.exact) for capture in opened.captures] == \
        [(0, 0, True), (25_000, 25_300, True)]
    assert [opened.index_of(n) for n in (0, 24_999, 25_000, 39_999)] == [0, 24_999, 25_300, 40_299]
    # The samples after the gap are at their index in the ramp.
    assert opened.array[25_000:].tobytes() == ramp(25_300 * 4, 15_000 * 4)
    for beyond in (-1, 40_000):
        with pytest.raises(IndexError, match="there is no sample"):
            opened.index_of(beyond)


def test_later_parts_have_their_index_in_the_stream(tmp_path):
    done = record(tmp_path / "a.sigmf-meta", file_options={"rotate_bytes": "64Ki"})
    parts = [ios.open_recording(name) for name in done.reports[0]["files"]]
    assert len(parts) > 2 and sum(len(part) for part in parts) == 40_000
    first = 0
    for part in parts:
        assert part.index_of(0) == first
        assert part.array.tobytes() == ramp(first * 4, len(part) * 4)
        first += len(part)


def foreign(folder, captures, samples=1000, begin=b"", **top):
    """Writes a recording of another program."""
    words = {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.0"}
    words |= {key.replace("__", ":"): value for key, value in top.items()}
    metadata = {"global": words, "captures": captures, "annotations": []}
    (folder / "f.sigmf-meta").write_text(json.dumps(metadata))
    data = np.arange(2 * samples, dtype="<i2")
    (folder / top.get("core__dataset", "f.sigmf-data")).write_bytes(begin + data.tobytes())
    return data.reshape(-1, 2)


def test_a_jump_of_the_index_is_one_gap_for_every_reader(tmp_path):
    """The recording is SigMF's own example of core:global_index, in which 500 samples are lost."""
    foreign(tmp_path, [{"core:sample_start": 0, "core:global_index": 0},
                       {"core:sample_start": 500, "core:global_index": 1000}])
    opened = ios.open_recording(tmp_path / "f.sigmf-meta")
    assert opened.gaps == (ios.RecordedGap(500, 500, 500, 500, "counter"),)
    assert [opened.index_of(n) for n in (0, 499, 500, 999)] == [0, 499, 1000, 1499]
    assert ios.verify(tmp_path / "f.sigmf-meta").gaps.lost_min == 500
    with ios.source(tmp_path / "f.sigmf-meta") as rx:
        [gap] = [gap for block in rx for gap in block.gaps]
    assert (gap.offset_min, gap.offset_max, gap.lost_min, gap.lost_max) == (500, 500, 500, 500)


def test_a_jump_of_the_index_is_a_gap_in_an_archive(tmp_path):
    pytest.importorskip("dask")
    foreign(tmp_path, [{"core:sample_start": 0, "core:global_index": 0},
                       {"core:sample_start": 500, "core:global_index": 1000}], core__version="0.0.2")
    [recording] = ios.archive.open(tmp_path)
    [gap] = recording.gaps
    assert (gap.index, gap.lost_min, gap.lost_max) == (500, 500, 500)


def test_deviations_from_sigmf_are_warnings(tmp_path):
    captures = [{"core:sample_start": 0, "core:datetime": "2024-03-01T10:20:30"}]
    data = foreign(tmp_path, captures, core__version="0.0.2")
    with pytest.warns(RuntimeWarning) as caught:
        opened = ios.open_recording(tmp_path / "f.sigmf-meta")
    assert np.array_equal(opened.array, data) and opened.captures[0].datetime == "2024-03-01T10:20:30Z"
    said = [str(warning.message) for warning in caught]
    assert len(said) == 2 and "core:version" in said[0] and "core:datetime" in said[1]


def test_samples_after_a_header_are_mapped(tmp_path):
    captures = [{"core:sample_start": 0, "core:header_bytes": 6}]
    data = foreign(tmp_path, captures, begin=b"HEADER", core__dataset="f.dat")
    opened = ios.open_recording(tmp_path / "f.sigmf-meta")
    assert np.array_equal(opened.array, data) and opened.path.endswith("f.dat")
    captures = [{"core:sample_start": 0}, {"core:sample_start": 9, "core:header_bytes": 4}]
    foreign(tmp_path, captures, core__dataset="f.dat")
    with pytest.raises(ios.StorageError, match="headers between the samples"):
        ios.open_recording(tmp_path / "f.sigmf-meta")


def test_the_error_of_missing_samples_explains_metadata_only(tmp_path):
    foreign(tmp_path, [{"core:sample_start": 0}], core__metadata_only=True)
    (tmp_path / "f.sigmf-data").unlink()
    with pytest.raises(FileNotFoundError, match="distributed without its samples"):
        ios.open_recording(tmp_path / "f.sigmf-meta")


def test_format_takes_precedence_over_the_metadata(tmp_path):
    data = foreign(tmp_path, [{"core:sample_start": 0}])
    opened = ios.open_recording(tmp_path / "f.sigmf-meta", format="ri16_le")
    assert np.array_equal(opened.array[:, 0], data.reshape(-1))


def test_blocks_have_the_time_of_the_recording(tmp_path):
    """The time of a block is the end of its last sample: 1000 samples after core:datetime."""
    foreign(tmp_path, [{"core:sample_start": 0, "core:datetime": "2024-03-01T10:20:30.123Z"}])
    with ios.source(tmp_path / "f.sigmf-meta") as rx:
        [block] = rx
        assert len(block) == 1000 and block.time.clock == "realtime"
        assert block.time.utc.isoformat() == "2024-03-01T10:20:30.124000+00:00"
    with ios.source(tmp_path / "f.sigmf-meta", block_size=400) as rx:
        assert [block.time.utc.microsecond for block in rx] == list(range(123_100, 124_001, 100))


def test_blocks_from_an_archive_have_the_time_of_the_recording(tmp_path):
    foreign(tmp_path, [{"core:sample_start": 0, "core:datetime": "2024-03-01T10:20:30.123Z"}])
    with tarfile.open(tmp_path / "f.sigmf", "w") as archive:
        for kind in ("meta", "data"):
            archive.add(tmp_path / f"f.sigmf-{kind}", f"f/f.sigmf-{kind}")
    with ios.source(tmp_path / "f.sigmf") as rx:
        [block] = rx
        assert block.time.utc.isoformat() == "2024-03-01T10:20:30.124000+00:00"


def test_the_time_of_blocks_includes_lost_samples_and_follows_captures(tmp_path):
    foreign(tmp_path, [{"core:sample_start": 0, "core:datetime": "2024-03-01T10:20:30Z"},
                       {"core:sample_start": 200, "core:global_index": 1200},
                       {"core:sample_start": 500, "core:datetime": "2024-03-01T10:21:00Z"}])
    with ios.source(tmp_path / "f.sigmf-meta", block_size=400) as rx:
        ends = [block.time.utc for block in rx]
    assert [(end.minute, end.second, end.microsecond) for end in ends] == \
        [(20, 30, n) for n in (100, 200, 1300, 1400, 1500)] + [(21, 0, n) for n in (100, 200, 300, 400, 500)]


@pytest.mark.parametrize("captures, top, options", [
    ([{"core:sample_start": 0}], {}, {}),
    ([{"core:sample_start": 0, "core:datetime": "2024-03-01T10:20:30Z"}], {"core__sample_rate": None}, {}),
    ([{"core:sample_start": 0, "core:datetime": "2024-03-01T10:20:30Z"}], {}, {"loop": "on"}),
])
@pytest.mark.filterwarnings("ignore:.*core.sample_rate")
def test_an_unknown_time_is_none_and_not_the_time_of_reading(tmp_path, captures, top, options):
    foreign(tmp_path, captures, **top)
    with ios.source(tmp_path / "f.sigmf-meta", samples=1000, **options) as rx:
        assert [block.time for block in rx] == [None]
    (tmp_path / "f.sigmf-data").rename(tmp_path / "f.ci16")
    with ios.source(tmp_path / "f.ci16", rate="1M") as rx:
        assert [block.time for block in rx] == [None]


def test_raw_samples_are_opened_as_an_array(tmp_path):
    record(tmp_path / "a.ci16")
    opened = ios.open_recording(tmp_path / "a.ci16")
    assert opened.array.tobytes() == ramp(0, 160_000) and opened.metadata == {} and opened.gaps == ()
    (tmp_path / "a.ci16").rename(tmp_path / "a.bin")
    assert ios.open_recording(tmp_path / "a.bin", format="ri16_le").array.shape == (80_000, 1)
    with pytest.raises(ios.UsageError, match="format"):
        ios.open_recording(tmp_path / "a.bin")


@pytest.mark.parametrize("options", [
    {"format": "ci16_le"}, {"format": "cu8"}, {"format": "cf32_le"},
    {"format": "ci16_le", "channels": "voltage0_i,voltage0_q,voltage1_i,voltage1_q"}])
def test_iq_equals_that_of_the_blocks_of_a_source(tmp_path, options):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=5000, pattern="tone", **options)
    values = ios.open_recording(tmp_path / "a.sigmf-meta").iq()
    with ios.source(tmp_path / "a.sigmf-meta") as rx:
        wanted = rx.read(10_000, iq=True).array
    assert values.dtype == np.complex64 and values.shape == wanted.shape and len(values) == 5000
    assert (values == wanted).all() and np.abs(values).max() > 0.4


def test_iq_has_a_full_scale_of_one(tmp_path):
    np.array([16384, -8192, 32767, -32768], "<i2").tofile(tmp_path / "a.ci16")
    opened = ios.open_recording(tmp_path / "a.ci16")
    assert np.allclose(opened.iq(), [0.5 - 0.25j, 32767 / 32768 - 1j], rtol=0, atol=1e-7)


def test_iq_has_the_full_scale_of_the_significant_bits(tmp_path):
    record(tmp_path / "a.sigmf-meta", samples=2)
    words = json.loads((tmp_path / "a.sigmf-meta").read_text())
    for channel in words["global"]["iio_stream:channels"]:
        channel["scan_type"] = "le:s12/16>>0"
    (tmp_path / "a.sigmf-meta").write_text(json.dumps(words))
    np.array([1024, -512, 0, 2047], "<i2").tofile(tmp_path / "a.sigmf-data")
    opened = ios.open_recording(tmp_path / "a.sigmf-meta")
    assert opened.format.channels[0].bits == 12
    assert np.allclose(opened.iq(), [0.5 - 0.25j, 2047 / 2048 * 1j], rtol=0, atol=1e-7)


def test_iq_returns_a_range_of_samples(tmp_path):
    data = foreign(tmp_path, [{"core:sample_start": 0, "core:header_bytes": 6}], begin=b"HEADER",
                   core__dataset="f.dat")
    opened = ios.open_recording(tmp_path / "f.sigmf-meta")
    whole = (data[:, 0] + 1j * data[:, 1]) / 32768
    assert np.allclose(opened.iq(), whole)
    assert np.allclose(opened.iq(100, 50), whole[100:150]) and np.allclose(opened.iq(990), whole[990:])
    assert opened.iq(1000).shape == opened.iq(5, 0).shape == (0,)
    for start, count in ((-1, 5), (0, 1001), (999, 2), (5, -1), (1001, None)):
        with pytest.raises(IndexError, match="of 1000"):
            opened.iq(start, count)
    opened.iq(0, 1)[0] = 1  # an array of its own


def test_iq_of_real_channels_is_refused(tmp_path):
    ios.record("sim:", tmp_path / "a.ri16", rate=0, samples=100, format="ri16_le")
    with pytest.raises(ios.UsageError):
        ios.open_recording(tmp_path / "a.ri16").iq()


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


def test_numpy_accepts_a_recording_and_zeros_lists_filled_samples(tmp_path):
    name = str(tmp_path / "z.sigmf-meta")
    ios.record("sim:", name, rate=0, drop_at=500, drop=300, samples=2000, on_gap="zero-fill")
    recording = ios.open_recording(name)
    assert np.asarray(recording).shape == (2000, 2)
    assert recording.zeros == ((500, 800),) and recording.gaps == ()
    verdict = ios.verify(name, pattern="ramp")
    assert verdict.ok and verdict.zeros == ((500, 800),) and verdict.state == "complete"


def test_metadata_of_more_than_64_mib_are_refused(tmp_path):
    ios.record("sim:", tmp_path / "x.sigmf-meta", rate=0, samples=1000)
    meta = tmp_path / "x.sigmf-meta"
    meta.write_text(meta.read_text().ljust((64 << 20) + 1))
    with pytest.raises(ios.Error, match="the metadata have more than 64 MiB"):
        ios.open_recording(meta)


def test_a_wav_file_is_refused_because_an_array_would_contain_its_header(tmp_path):
    ios.record("sim:", tmp_path / "a.wav", rate="1M", samples=1000)
    with pytest.raises(ios.UsageError, match=r"a\.wav is a WAV file.*iio_stream\.source"):
        ios.open_recording(tmp_path / "a.wav")
