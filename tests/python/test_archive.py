# SPDX-License-Identifier: MIT
"""Archives in a folder as Dask arrays. The ramp of the simulator shows that each sample is at its index."""
import re

import numpy as np
import pytest
from archives import COUNT, edit, iq, record, seven_parts, truth

import iio_stream as ios

da = pytest.importorskip("dask.array", reason="needs dask, which script/test installs")


@pytest.fixture
def parts(tmp_path):
    return seven_parts(tmp_path)


@pytest.mark.parametrize("place", [0, 1000, 16_384, 25_000, 2 * 16_384 - 1])  # at edges and within parts
def test_each_sample_is_at_its_absolute_index(tmp_path, place):
    record(tmp_path / "a", drop_at=place, drop=300)
    [recording] = ios.archive.open(tmp_path)
    end = COUNT + 300
    assert (recording.start, recording.stop, len(recording.parts)) == (300 * (place == 0), end, 7)
    if place:
        [gap] = recording.gaps
        assert (gap.index, gap.lost_min, gap.lost_max, gap.earliest) == (place, 300, 300, place)
    for chunks in (None, 1000, 16_384, 30_001, 10**6):
        got = recording.to_dask(chunks=chunks).compute()
        want = iq(truth(0, end))[recording.start:]
        lost = np.arange(recording.start, end)
        lost = (lost >= place) & (lost < place + 300)
        assert got.dtype == np.complex64 and got.shape == want.shape
        assert np.array_equal(np.ma.getmaskarray(got)[:, 0], lost)
        assert np.array_equal(got.data[~lost].view(np.uint64), want[~lost].view(np.uint64))
    pieces = recording.to_dask(None, on_gap="split", chunks=999)
    assert sum(one.array.shape[0] for one in pieces) == COUNT and all(one.exact for one in pieces)
    for one in pieces:
        assert np.array_equal(one.array.compute(), truth(one.index, one.array.shape[0]))
    assert [one.index for one in pieces] == ([300] if place == 0 else [0, place + 300])


def test_parts_of_several_losses_and_of_none_are_one_recording(tmp_path):
    """drop_at causes one loss and stall_at another one, which is as long as the stall."""
    record(tmp_path / "a", rate="20M", drop_at=20_000, drop=77, stall_at=60_000, stall_for="2ms")
    [recording] = ios.archive.open(tmp_path)
    known = {(gap.index, gap.lost_min) for gap in recording.gaps}
    assert (20_000, 77) in known and sum(gap.lost_min for gap in recording.gaps) >= 77 + 30_000
    got = recording.to_dask(None, chunks=7777).compute()
    gone = np.ma.getmaskarray(got)[:, 0]
    assert gone.sum() == sum(gap.lost_min for gap in recording.gaps) and len(got) == COUNT + gone.sum()
    assert np.array_equal(got.data[~gone], truth(0, len(got))[~gone])


def test_zeros_in_place_of_lost_samples_are_masked_or_split_off(tmp_path):
    record(tmp_path / "a", drop_at=25_000, drop=300, on_gap="zero-fill")
    [recording] = ios.archive.open(tmp_path)
    assert [(gap.index, gap.lost_min, gap.evidence) for gap in recording.gaps] == [(25_000, 300, "zero-fill")]
    got = recording.to_dask(None).compute()
    assert np.flatnonzero(np.ma.getmaskarray(got)[:, 1]).tolist() == list(range(25_000, 25_300))
    assert [one.index for one in recording.to_dask(on_gap="split")] == [0, 25_300]


def test_a_possible_gap_splits_and_does_not_move_samples(tmp_path, parts):
    def doubt(words):
        words["annotations"].append({"core:sample_start": 100, "core:sample_count": 50,
                                     "iio_stream:lost_min": 0, "iio_stream:lost_max": None,
                                     "iio_stream:evidence": "overflow-bit"})
        words["captures"].append({"core:sample_start": 150, "core:global_index": 150,
                                  "iio_stream:index_exact": False})

    edit(parts[0], doubt)
    recording = ios.archive.open(tmp_path).recordings[0]
    assert recording.gaps[0] == ios.archive.Gap(150, 0, None, 100, "overflow-bit")
    told = [(one.index, one.array.shape[0], one.exact) for one in recording.to_dask(on_gap="split")]
    assert told[:3] == [(0, 100, True), (100, 50, False), (150, 24_850, False)]
    assert recording.to_dask(None)[:25_000].compute().count() == 50_000


def test_a_very_long_loss_is_refused_as_a_masked_array(tmp_path, parts):
    for part in parts[1:]:
        edit(part, lambda words: [one.update({"core:global_index": one["core:global_index"] + (1 << 60)})
                                  for one in words["captures"]])
    recording = ios.archive.open(tmp_path).recordings[0]
    with pytest.raises(ios.UsageError, match="split"):
        recording.to_dask()
    assert len(recording.to_dask(on_gap="split")) == 3
    [near] = ios.archive.open(tmp_path).select(name="a").recordings
    assert near.cut(0, 10).to_dask(None).compute().tolist() == truth(0, 10).tolist()


def test_overlapping_chunks_equal_those_of_dask(tmp_path, parts):
    recording = ios.archive.open(tmp_path).recordings[0]
    for chunks, overlap in ((10_000, 512), (16_384, 1), (30_000, 30_000), (COUNT, 5)):
        plain = recording.to_dask(chunks=chunks)
        read = recording.to_dask(chunks=chunks, overlap=overlap)
        back = da.overlap.trim_overlap(read, {0: overlap}, boundary="none")
        assert back.shape == plain.shape
        same = back.compute()
        assert np.array_equal(same.mask, plain.compute().mask)
        assert np.array_equal(same.data, plain.compute().data)
        if (COUNT + 300) % chunks >= overlap:
            theirs = da.overlap.overlap(plain, {0: overlap}, boundary="none")
            assert read.chunks == theirs.chunks
            assert np.array_equal(read.compute().filled(9), theirs.compute().filled(9))
    with pytest.raises(ios.UsageError, match="overlap=1001"):
        recording.to_dask(chunks=1000, overlap=1001)


def differences(samples, index):
    """Returns the differences of neighboring samples. Checks that the samples are at their index."""
    assert len(samples) == 0 or samples[0, 0] is np.ma.masked or \
        samples.data[0].view(np.float32)[0] * 32768 == truth(index, 1)[0, 0]
    return np.ma.diff(samples, axis=0, prepend=samples[:1])


def test_a_user_function_gets_the_index_and_the_overlap(tmp_path, parts):
    recording = ios.archive.open(tmp_path).recordings[0].cut(5, 90_000)
    whole = differences(recording.to_dask().compute(), 5)
    for chunks in (1000, 33_333, COUNT):
        got = recording.map_blocks(differences, chunks=chunks, overlap=1).compute()
        assert np.array_equal(got.mask, whole.mask) and np.array_equal(got.filled(0)[1:], whole.filled(0)[1:])


def by_numpy(path, format):
    """Reads samples with NumPy. Full scale is 2^(bits-1) for integers; unsigned ones are relative to the
    middle."""
    kind, bits = re.fullmatch(r"[cr]([iuf])(\d+)(?:_le)?", format).groups()
    stored = np.fromfile(path, np.dtype(f"<{kind}{int(bits) // 8}"))
    if kind == "f":
        return stored
    half = 2.0 ** (int(bits) - 1)
    return ((stored.astype(np.float64) - (half if kind == "u" else 0)) / half).astype(np.float32)


@pytest.mark.parametrize("format", ["ci16_le", "cu8", "ci8", "cu16_le", "ci32_le", "cf32_le", "ri16_le",
                                    "ru16_le", "rf32_le"])
def test_conversion_to_full_scale_equals_that_of_the_library(tmp_path, format):
    ios.record("sim:", tmp_path / "a", rate=0, samples=5000, format=format, pattern="noise")
    [recording] = ios.archive.open(tmp_path)
    with ios.source(tmp_path / "a.sigmf-meta") as rx:
        wanted = np.concatenate([block.convert("rf32_le") for block in rx])
    assert np.array_equal(wanted.ravel(), by_numpy(tmp_path / "a.sigmf-data", format))
    assert np.array_equal(recording.to_dask("float32").compute().data, wanted)
    if format.startswith("c"):
        assert np.array_equal(recording.to_dask(chunks=777).compute().data, wanted.view(np.complex64))
    else:
        with pytest.raises(ios.UsageError, match="I/Q"):
            recording.to_dask()
    with pytest.raises(ios.UsageError, match="dtype"):
        recording.to_dask("int64")


def test_full_scale_depends_on_the_significant_bits(tmp_path):
    ios.record("sim:", tmp_path / "a", rate=0, samples=5000, format="le:s12/16>>0", pattern="lanes")
    [recording] = ios.archive.open(tmp_path)
    with ios.source(tmp_path / "a.sigmf-meta") as rx:
        wanted = np.concatenate([block.convert("rf32_le") for block in rx])
    assert np.array_equal(recording.to_dask("float32").compute().data, wanted) and abs(wanted).max() > 0.01


def test_sigmfs_own_package_reads_the_same_samples(tmp_path, parts):
    sigmffile = pytest.importorskip("sigmf.sigmffile", reason="needs sigmf, which script/test installs")
    recording = ios.archive.open(tmp_path).recordings[0]
    theirs = np.concatenate([sigmffile.fromfile(str(part)).read_samples() for part in parts])
    ours = recording.to_dask(chunks=12_345).compute()
    assert np.array_equal(ours.compressed(), theirs)


def test_memory_use_depends_on_the_chunk_and_not_on_the_recording(tmp_path, python):
    ios.record("sim:", tmp_path / "a", rate=0, bytes="256Mi", file_options={"rotate_bytes": "128Mi"})
    said = python(f"""
import resource, dask, iio_stream as ios
[recording] = ios.archive.open({str(tmp_path)!r})
x = recording.to_dask(chunks=1 << 20)
x[:1 << 20].sum().compute(scheduler="sync")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
x.sum().compute(scheduler="sync")
print(len(recording), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)""")
    samples, more = (int(word) for word in said.split())
    assert samples == 64 << 20 and more < 64 << 10  # 64 MiB in KiB; the array has 512 MiB


def test_the_error_of_a_missing_extra_is_one_line(python):
    hidden = "import sys\nfor name in ('dask', 'dask.array'): sys.modules[name] = None\n"
    said = python(hidden + """
import iio_stream as ios
try:
    ios.archive
except ImportError as error:
    print(error)""")
    assert said.count("\n") == 1 and "pip install 'iio-stream[archive]'" in said
