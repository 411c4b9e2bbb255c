# SPDX-License-Identifier: MIT
"""Power over time and frequency, as Dask arrays. One task reads the samples of a row and adds up their powers
in steps of a fixed size. The result is therefore identical, bit for bit, on every worker and in every run."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _options
from .._format import Format
from ..view_signal import Signal
from ._extra import da, tokenize
from .reading import Layout, Piece, Store, read_samples, within

if TYPE_CHECKING:
    from dask.array import Array

    from .recordings import Recording

_STEP = 1 << 20  # samples that a task reads at once: whole rows, or whole frames of a longer row
_TASK = 1 << 24  # samples per task
_MOST_TASKS = 1_000_000


@dataclass(frozen=True)
class Spectrogram:
    """Power spectra over time. ``power`` is a Dask array of shape (rows, bins), relative to a full-scale
    tone, whose power is 1.0. A row is NaN if each of its frames has lost samples. Row n covers
    ``row_samples`` samples; the first has the sample index ``start`` + n * ``row_samples``. ``frequencies``
    of the bins are in Hz, around the centre frequency if it is known. If the sample rate is unknown, they are
    in cycles per sample."""

    power: Array
    start: int
    row_samples: int
    frequencies: npt.NDArray[np.floating[Any]]


def spectrogram(recording: Recording, *, bins: int = 1024, average: int = 1,
                channel: str | None = None) -> Spectrogram:
    """Returns power spectra with a flat-top window. Frames follow one another from the recording's ``start``
    on. Each row is the mean of ``average`` frames, without those that have lost samples. Samples at the end
    that do not fill a row are left out. ``channel`` is a channel of an I/Q pair, or a real one (default: the
    first).

    Raises UsageError. Computing the array raises StorageError, which names the damaged object.
    """
    if not 16 <= bins <= _STEP or average < 1:
        raise _options.usage(f"bins={bins}, average={average}", "16 to 1048576 bins, 1 frame or more")
    sums = _Spectra(recording.format, channel, bins)
    signal = Signal(recording.format, channel, bins, recording.frequency)
    shape = _Shape(average, signal.length, bins)
    return Spectrogram(_rows(recording, shape, sums), recording.start, average * signal.length,
                       signal.frequencies)


def power(recording: Recording, *, samples: int) -> Array:
    """Returns a Dask array of shape (rows, channels); an I/Q pair counts as one channel. Each row is the mean
    power, relative to full scale, of ``samples`` samples from the recording's ``start`` on. Lost samples do
    not count; a row is NaN if all of its samples are lost. Samples at the end that do not fill a row are left
    out.

    Raises UsageError. Computing the array raises StorageError, which names the damaged object.
    """
    if samples < 1:
        raise _options.usage(f"samples={samples}", "1 or more")
    pairs = recording.format.is_complex
    columns = len(recording.format.channels) // (2 if pairs else 1)
    return _rows(recording, _Shape(samples, 1, columns), _Powers(pairs))


@dataclass(frozen=True)
class _Shape:
    """The shape of a row: it is computed from ``frames`` frames of ``length`` samples each, and has
    ``columns`` numbers."""

    frames: int
    length: int
    columns: int

    @property
    def row(self) -> int:
        return self.frames * self.length


@dataclass(frozen=True)
class _Spectra:
    """Computes powers (rows, frames, bins) of samples (rows, frames, length, channels)."""

    format: Format
    channel: str | None
    bins: int

    def __call__(self, samples: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        signal = Signal(self.format, self.channel, self.bins, None)
        return signal.powers(signal.of(samples))


@dataclass(frozen=True)
class _Powers:
    """Computes powers (rows, frames, channels) of samples (rows, frames, 1, channels)."""

    pairs: bool

    def __call__(self, samples: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        squares = samples[:, :, 0].astype(np.float64) ** 2
        return squares[..., 0::2] + squares[..., 1::2] if self.pairs else squares


_Of = Callable[[npt.NDArray[Any]], npt.NDArray[np.float64]]


def _rows(recording: Recording, shape: _Shape, powers: _Of) -> Array:
    layout = Layout.of(recording.format, "float32")
    count = len(recording) // shape.row
    each = max(_TASK // shape.row, 1)
    if count // each > _MOST_TASKS:
        raise _options.usage(f"{recording.name}: {count} rows of {shape.row} samples are too many",
                             "make them longer, or select() less")
    name = "rows-" + tokenize(recording.store.url, recording.name, recording.runs, recording.marks,
                              recording.start, shape, powers, layout)
    graph, chunks = {}, []
    for number, first in enumerate(range(0, count, each)):
        chunks.append(min(each, count - first))
        begin = recording.start + first * shape.row
        pieces = recording.pieces(begin, begin + chunks[-1] * shape.row)
        graph[name, number, 0] = (_computed, recording.store, pieces, chunks[-1], shape, layout, powers)
    made: Array = da.Array(graph, name, (tuple(chunks) or (0,), (shape.columns,)), meta=np.empty((0, 0)))
    return made


def _computed(store: Store, pieces: tuple[Piece, ...], rows: int, shape: _Shape, layout: Layout,
              powers: _Of) -> npt.NDArray[np.float64]:
    """Computes the means of rows, without frames that have lost samples."""
    total, count = np.zeros((rows, shape.columns)), np.zeros(rows, np.int64)
    whole = max(_STEP // shape.row, 1)  # rows
    frames = shape.frames if shape.row <= _STEP else max(_STEP // shape.length, 1)
    for row in range(0, rows, whole):
        taken = slice(row, min(row + whole, rows))
        height = taken.stop - row
        for frame in range(0, shape.frames, frames):
            size = (height, min(frames, shape.frames - frame), shape.length)
            first, samples = row * shape.row + frame * shape.length, size[0] * size[1] * size[2]
            found = within(pieces, first, samples, layout.sample_bytes)
            if found:
                read, known = read_samples(store, found, samples, layout)
                good = np.asarray(known.reshape(size).all(axis=2))
                of_frames = powers(read.reshape(*size, layout.columns))
                total[taken] += np.where(good[:, :, np.newaxis], of_frames, 0).sum(axis=1)
                count[taken] += good.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count[:, np.newaxis])
