# SPDX-License-Identifier: MIT
"""Power, spectra and detections of archives equal those of NumPy, whichever worker computes them."""
import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from archives import COUNT, edit, iq, record, seven_parts, truth
from conftest import DEADLINE, PACKAGE

import iio_stream as ios

pytest.importorskip("dask.array", reason="needs dask, which script/test installs")

RATE = 1_000_000
TONE = {"rate": RATE, "pattern": "tone", "frequency": 125_000, "blocks": 200}  # many blocks prevent losses
FLAT_TOP = (1.0, -1.942604, 1.340318, -0.440811, 0.043097)  # HFT90D


def frames_of(x, bins):
    """Returns the powers of whole frames, with shape (frames, bins)."""
    turn = 2 * np.pi * np.arange(bins) / bins
    window = sum(part * np.cos(order * turn) for order, part in enumerate(FLAT_TOP))
    frames = x[:len(x) // bins * bins].reshape(-1, bins) * (window / window.sum())
    return np.abs(np.fft.fftshift(np.fft.fft(frames), axes=1)) ** 2


def others(path, samples, **words):
    """Writes a recording of another program."""
    path.with_suffix(".sigmf-data").write_bytes(samples.astype("<c8").tobytes())
    path.write_text(json.dumps({"global": {"core:datatype": "cf32_le", "core:version": "1.2.0",
                                           "core:sample_rate": RATE},
                                "captures": [{"core:sample_start": 0, **words}], "annotations": []}))


@pytest.fixture
def recording(tmp_path):
    seven_parts(tmp_path)
    return ios.archive.open(tmp_path).recordings[0]


@pytest.mark.parametrize("average", [1, 7, 300])
def test_spectra_average_only_frames_without_lost_samples(recording, average, monkeypatch):
    from iio_stream.archive import products
    bins = 128
    seen = ios.archive.spectrogram(recording, bins=bins, average=average)
    got = seen.power.compute(scheduler="sync")
    powers = frames_of(iq(truth(0, len(recording)))[:, 0], bins)
    whole = np.arange(len(powers))
    powers[(whole >= 25_000 // bins) & (whole <= 25_299 // bins)] = np.nan
    rows = len(recording) // (bins * average)
    with np.testing.suppress_warnings() as warnings:
        warnings.filter(RuntimeWarning)  # for rows without a frame
        wanted = np.nanmean(powers[:rows * average].reshape(rows, average, bins), axis=1)
    assert got.shape == (rows, bins) and seen.row_samples == bins * average and seen.start == 0
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-12)
    assert np.isnan(got).any() == (average == 1)
    # The result does not depend on the size of the tasks, which compute whole rows.
    assert np.array_equal(seen.power.compute(scheduler="threads"), got, equal_nan=True)
    monkeypatch.setattr(products, "_TASK", 10_000)
    again = ios.archive.spectrogram(recording, bins=bins, average=average).power
    assert len(again.chunks[0]) > 1
    assert np.array_equal(again.compute(scheduler="threads"), got, equal_nan=True)


def test_power_averages_only_samples_that_are_not_lost(recording):
    x = iq(truth(0, len(recording)))[:, 0].astype(np.complex128)
    x[25_000:25_300] = np.nan
    for samples in (100, 1000, 40_000, COUNT):
        rows = len(x) // samples
        wanted = np.full(rows, np.nan)
        for row in range(rows):
            there = x[row * samples:(row + 1) * samples]
            there = there[~np.isnan(there)]
            if len(there):
                wanted[row] = (np.abs(there) ** 2).mean()
        got = ios.archive.power(recording, samples=samples).compute()
        assert got.shape == (rows, 1)
        np.testing.assert_allclose(got[:, 0], wanted, rtol=1e-9)
        assert np.isnan(got).sum() == (3 if samples == 100 else 0)
    for wrong in (lambda: ios.archive.power(recording, samples=0),
                  lambda: ios.archive.spectrogram(recording, bins=3),
                  lambda: ios.archive.spectrogram(recording, channel="nothing"),
                  lambda: ios.archive.detect(recording, threshold=-1)):
        with pytest.raises(ios.UsageError):
            wrong()


def test_a_tone_is_at_its_frequency_and_level(tmp_path):
    for format, level in (("ci16_le", -6), ("cf32_le", -6), ("ri16_le", -6)):
        record(tmp_path / format, **TONE, format=format)
        [recording] = ios.archive.open(tmp_path).select(name=format)
        assert recording.gaps == ()
        seen = ios.archive.spectrogram(recording, bins=1024, average=16)
        rows = 10 * np.log10(np.maximum(seen.power.compute(), 1e-20))
        assert abs(seen.frequencies[rows.argmax(axis=1)] - 125_000).max() < RATE / 1024
        assert rows.max(axis=1) == pytest.approx(level, abs=0.02)
    assert 10 * np.log10(ios.archive.power(ios.archive.open(tmp_path).select(name="cf32_le").recordings[0],
                                           samples=10_000).compute()) == pytest.approx(-6, abs=0.01)


def bursts():
    """Returns noise at -60 dBFS with tones, and the first and last sample, frequency and level of each
    tone."""
    random = np.random.default_rng(1)
    x = 1e-3 / np.sqrt(2) * (random.standard_normal(400_000) + 1j * random.standard_normal(400_000))
    known = [(50_000, 90_000, 100_000, -20), (60_000, 200_000, -300_000, -30),
             (250_000, 260_000, 100_000, -10)]
    for first, last, frequency, level in known:
        n = np.arange(first, last)
        x[first:last] += 10 ** (level / 20) * np.exp(2j * np.pi * frequency / RATE * n)
    return x, known


def test_each_signal_is_detected_once_at_its_place(tmp_path, monkeypatch):
    from iio_stream.archive import products
    x, known = bursts()
    others(tmp_path / "x.sigmf-meta", x)
    [recording] = ios.archive.open(tmp_path)
    found = ios.archive.detect(recording, bins=256, average=8, threshold=15).compute(scheduler="sync")
    assert len(found) == len(known)
    row = 256 * 8
    for one, (first, last, frequency, level) in zip(found, known):
        assert abs(one.start - first) <= row and abs(one.stop - last) <= row
        assert one.low <= frequency <= one.high and one.high - one.low < RATE / 6  # keying widens it
        assert one.peak == pytest.approx(level, abs=0.5)
    monkeypatch.setattr(products, "_TASK", 10_000)  # the edges of tasks neither join nor split signals
    assert ios.archive.detect(recording, bins=256, average=8, threshold=15).compute() == found


def pixels(path):
    image = pytest.importorskip("matplotlib.image", reason="needs matplotlib, which script/test installs")
    return image.imread(path)[..., :3]


def test_the_picture_of_a_spectrum_shows_gaps(tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    record(folder / "a", **TONE, drop_at=40_000, drop=30_000)
    command = [sys.executable, "-m", "iio_stream.archive", "spectrum", "archive", "-o", "a.png"]
    subprocess.run([*command, "--rows", "64", "--bins", "128"], check=True, timeout=DEADLINE, cwd=tmp_path,
                   env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    middle = pixels(tmp_path / "a.png")[:, 400]
    rose = np.isclose(middle, (1.0, 228 / 255, 225 / 255), atol=0.01).all(axis=1)
    drawn = ~np.isclose(middle, 1).all(axis=1)
    assert rose.sum() / drawn.sum() == pytest.approx(30 / 130, abs=0.05)  # 30000 of 130000 samples are lost


def test_errors_of_the_spectrum_command_are_one_line(tmp_path, capsys):
    main = importlib.import_module("iio_stream.archive.__main__").main

    def said(*words):
        assert main(["spectrum", str(tmp_path), "-o", str(tmp_path / "x.png"), *words]) == 1
        lines = capsys.readouterr().err
        assert lines.count("\n") == 1 and not (tmp_path / "x.png").exists()
        return lines

    paths = seven_parts(tmp_path)
    assert "has no samples with a time and a rate" in said()
    for path in paths:
        edit(path, lambda words: words["global"].update({"core:sample_rate": 1e6}))
    assert "has no samples" in said("--device", "AD*")
    assert "is not a valid time" in said("--time", "yesterday", "now")
    paths[1].with_suffix(".sigmf-data").unlink()
    assert "a.0001.sigmf-data" in said()
