# SPDX-License-Identifier: MIT
"""Signals above the noise of a spectrogram."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _options
from ..view_signal import decibels
from ._extra import delayed
from .products import spectrogram

if TYPE_CHECKING:
    from dask.delayed import Delayed

    from .recordings import Recording


@dataclass(frozen=True)
class Detection:
    """A detected signal. Its samples have the indexes [start, stop), with the resolution of one row of the
    spectrogram. Its frequencies are from ``low`` to ``high``, in the unit of the spectrogram and with the
    resolution of one bin. ``peak`` is the level of its highest bin in dBFS."""

    start: int
    stop: int
    low: float
    high: float
    peak: float


@dataclass(frozen=True)
class _Segment:
    """The bins [low, high) of one row; ``peak`` is the highest power in them."""

    row: int
    low: int
    high: int
    peak: float


def detect(recording: Recording, *, threshold: float = 10.0, bins: int = 1024, average: int = 16,
           channel: str | None = None) -> Delayed:
    """Returns a Dask object that computes a list of Detection, ordered by start. A bin is part of a signal if
    it is more than ``threshold`` dB above the median of its row of ``spectrogram()``, to which the other
    keywords are passed. Adjacent bins in time or frequency form one Detection. A row without samples ends all
    signals before it.

    Raises UsageError. Computing the object raises StorageError, which names the damaged object.
    """
    if not 0 < threshold < 200:
        raise _options.usage(f"threshold={threshold} is not between 0 and 200 dB",
                             "10 suits averages of 16 frames")
    seen = spectrogram(recording, bins=bins, average=average, channel=channel)
    pure = delayed(_segments, pure=True)
    firsts = np.cumsum((0, *seen.power.chunks[0]))
    power: Any = seen.power
    found = [pure(chunk, int(first), threshold)
             for chunk, first in zip(power.to_delayed().ravel(), firsts)]
    made: Delayed = delayed(_joined, pure=True)(found, seen.start, seen.row_samples, seen.frequencies)
    return made


def _segments(power: npt.NDArray[np.float64], first: int, threshold: float) -> list[_Segment]:
    """Returns the runs of bins above the threshold, row by row."""
    floor = np.median(power, axis=1, keepdims=True)  # NaN for a row without samples: no bin is above NaN
    above = np.pad(power > floor * 10 ** (threshold / 10), ((0, 0), (1, 1)))
    change = np.diff(above.astype(np.int8), axis=1)
    rows, lows = np.nonzero(change == 1)
    highs = np.nonzero(change == -1)[1]
    return [_Segment(first + int(row), int(low), int(high), float(power[row, low:high].max()))
            for row, low, high in zip(rows, lows, highs)]


def _joined(found: list[list[_Segment]], start: int, row_samples: int,
            frequencies: npt.NDArray[np.floating[Any]]) -> list[Detection]:
    segments = [segment for chunk in found for segment in chunk]
    groups = _Groups(len(segments))
    for one, other in _neighbours(segments):
        groups.join(one, other)
    members: dict[int, list[_Segment]] = {}
    for number, segment in enumerate(segments):
        members.setdefault(groups.first(number), []).append(segment)
    return [Detection(start + group[0].row * row_samples, start + (group[-1].row + 1) * row_samples,
                      float(frequencies[min(one.low for one in group)]),
                      float(frequencies[max(one.high for one in group) - 1]),
                      float(decibels(max(one.peak for one in group)))) for group in members.values()]


def _neighbours(segments: list[_Segment]) -> Iterator[tuple[int, int]]:
    """Yields the pairs of segments of two consecutive rows that have a bin in common. Segments are sorted by
    row and bin."""
    before = 0
    for number, segment in enumerate(segments):
        while (segments[before].row, segments[before].high) <= (segment.row - 1, segment.low):
            before += 1
        other = before
        while segments[other].row == segment.row - 1 and segments[other].low < segment.high:
            yield other, number
            other += 1


class _Groups:
    """A union-find structure of numbers. The smallest number of a group identifies the group."""

    def __init__(self, count: int) -> None:
        self._before = list(range(count))

    def first(self, number: int) -> int:
        while self._before[number] != number:
            self._before[number] = self._before[self._before[number]]
            number = self._before[number]
        return number

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.first(one), self.first(other)))
        self._before[high] = low
