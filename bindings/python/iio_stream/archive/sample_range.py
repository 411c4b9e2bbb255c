# SPDX-License-Identifier: MIT
"""A range of one stream's samples: the parts that contain them, their times and their gaps."""
from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .._format import Format
from .parts import Gap, Mark, Part, Run
from .reading import Piece, Store

_Range = TypeVar("_Range", bound="SampleRange")


@dataclass(frozen=True, repr=False)
class SampleRange:
    """The fields of a Recording, and the operations that do not read samples."""

    name: str
    format: Format
    device: str
    start: int
    stop: int
    parts: tuple[Part, ...]
    gaps: tuple[Gap, ...]
    marks: tuple[Mark, ...]
    runs: tuple[Run, ...]
    store: Store

    def __len__(self) -> int:
        """The number of sample indexes, lost samples included."""
        return self.stop - self.start

    @property
    def samples(self) -> int:
        """The number of samples that are not lost."""
        return sum(run.samples for run in self.runs)

    @property
    def sample_rate(self) -> float | None:
        """The sample rate in Hz; None if it is unknown or changes."""
        return _common(mark.sample_rate for mark in self.marks)

    @property
    def frequency(self) -> float | None:
        """The centre frequency in Hz; None if it is unknown or changes."""
        return _common(mark.frequency for mark in self.marks)

    def utc_ns(self, index: int) -> int | None:
        """Returns the time of a sample in nanoseconds since 1970 UTC; None if the metadata do not give it."""
        if not self.dated:
            return None
        first, utc_ns, rate = self.dated[max(bisect.bisect_right(self._dates, index) - 1, 0)]
        return utc_ns + round((index - first) * 1e9 / rate)

    def time(self, index: int) -> np.datetime64 | None:
        """Returns the time of a sample as a numpy.datetime64, which select() accepts; None if unknown."""
        utc_ns = self.utc_ns(index)
        return None if utc_ns is None else np.datetime64(utc_ns, "ns")

    def cut(self: _Range, start: int, stop: int) -> _Range:
        """Returns the samples with the indexes [start, stop)."""
        start, stop = max(start, self.start), min(stop, self.stop)
        stop = max(start, stop)
        runs = tuple(_cut(run, start, stop) for run in self.runs if run.index < stop and run.end > start)
        names = {run.part for run in runs}
        return dataclasses.replace(
            self, start=start, stop=stop, runs=runs,
            parts=tuple(part for part in self.parts if part.name in names),
            gaps=tuple(gap for gap in self.gaps if gap.earliest < stop and gap.index + gap.lost_min >= start),
            marks=tuple(_valid(self.marks, start, stop)))

    def pieces(self, start: int, stop: int) -> tuple[Piece, ...]:
        """Returns the pieces of objects that contain the samples with the indexes [start, stop). Row 0 is the
        sample with index ``start``."""
        width = self.format.sample_bytes
        first = bisect.bisect_right(self._ends, start)
        near = itertools.takewhile(lambda run: run.index < stop, itertools.islice(self.runs, first, None))
        cuts = (_cut(run, start, stop) for run in near)
        return tuple(Piece(run.part, run.start * width, run.samples, run.index - start) for run in cuts)

    @functools.cached_property
    def dated(self) -> list[tuple[int, int, float]]:
        """Tuples of a sample index whose time is known, this time in nanoseconds since 1970 UTC, and the
        sample rate from there on."""
        known = ((mark.index, mark.utc_ns, mark.sample_rate) for mark in self.marks)
        return [(index, utc_ns, rate) for index, utc_ns, rate in known if utc_ns is not None and rate]

    @functools.cached_property
    def _dates(self) -> list[int]:
        return [index for index, _, _ in self.dated]

    @functools.cached_property
    def _ends(self) -> list[int]:
        return [run.end for run in self.runs]


def _common(values: Iterable[float | None]) -> float | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _cut(run: Run, start: int, stop: int) -> Run:
    skipped = max(start - run.index, 0)
    samples = min(stop, run.end) - run.index - skipped
    return dataclasses.replace(run, start=run.start + skipped, index=run.index + skipped, samples=samples,
                               joins=run.joins and not skipped)


def _valid(marks: tuple[Mark, ...], start: int, stop: int) -> Iterator[Mark]:
    """Yields the marks that apply to samples with the indexes [start, stop)."""
    for mark, following in zip(marks, (*marks[1:], None)):
        if mark.index < max(stop, start + 1) and (following is None or following.index > start):
            yield mark
