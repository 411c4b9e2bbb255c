# SPDX-License-Identifier: MIT
"""A recording: its parts one after the other."""
from __future__ import annotations

import bisect
import dataclasses
import errno
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from .. import _options
from .._errors import Error
from .._format import Format
from .arrays import Dtype, Mapped, Stretch, mapped, masked, stretches
from .parts import Gap, Mark, Part, Run, gaps_of
from .reading import Piece, Store

if TYPE_CHECKING:
    from dask.array import Array

# How far a clock may have been set back between two parts: an older recording under the same names is older.
_CLOCK_STEP_NS = 60 * 10**9


@dataclass(frozen=True, repr=False)
class Recording:
    """The samples with an index from ``start`` to ``stop``-1 of one stream, lost ones included. ``name`` is
    that of the files, below the archive's URL, without numbers and suffix; ``device`` the metadata's core:hw.
    Indexes behind a loss that is not known exactly are lower bounds."""

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
        """Sample indexes, lost ones included."""
        return self.stop - self.start

    @property
    def samples(self) -> int:
        """That are there."""
        return sum(run.samples for run in self.runs)

    @overload
    def to_dask(self, dtype: Dtype = ..., *, chunks: int | None = ..., overlap: int = ...,
                on_gap: Literal["mask"] = ...) -> Array: ...

    @overload
    def to_dask(self, dtype: Dtype = ..., *, chunks: int | None = ..., overlap: int = ...,
                on_gap: Literal["split"]) -> list[Stretch]: ...

    def to_dask(self, dtype: Dtype = "complex64", *, chunks: int | None = None, overlap: int = 0,
                on_gap: str = "mask") -> Array | list[Stretch]:
        """The samples as a masked Dask array of shape (samples, channels): row n is the sample with index
        ``start`` + n, and lost ones are masked. With ``on_gap="split"`` one plain array for each Stretch
        without a gap, certain or possible.

        ``dtype`` is "complex64" (I/Q pairs) or "float32" (channels), of full scale 1.0, or None: channels as
        they are stored. ``chunks`` is the number of samples in each; by itself it is a part, or 64 MiB of
        one. With ``overlap`` they begin and end that many samples farther out, as with
        ``dask.array.overlap.overlap(x, {0: overlap}, boundary="none")``, but by reading them;
        ``dask.array.overlap.trim_overlap`` takes them off.

        Raises UsageError. Computing it raises StorageError, which names the object.
        """
        if _options.one_of("on_gap", on_gap, ("mask", "split")) == "mask":
            return masked(self, dtype, chunks, overlap)
        return stretches(self, dtype, chunks, overlap)

    def map_blocks(self, function: Callable[[npt.NDArray[Any], int], npt.NDArray[Any]], *,
                   dtype: Dtype = "complex64", columns: int | None = None, sample_dtype: Dtype = "complex64",
                   chunks: int | None = None, overlap: int = 0) -> Array:
        """A Dask array of what ``function(samples, index)`` makes of each chunk of ``to_dask(sample_dtype)``:
        ``index`` is that of its first sample, and the result has as many rows, and ``columns`` (by itself as
        many as the samples) of ``dtype``. With ``overlap`` the function is given that many samples more on
        either side, where there are any, and their rows are taken off its result. Raises UsageError."""
        return mapped(self, function, Mapped(sample_dtype, np.dtype(dtype), columns), chunks, overlap)

    @property
    def sample_rate(self) -> float | None:
        """In Hz; None if it is not known, or changes."""
        return _common(mark.sample_rate for mark in self.marks)

    @property
    def frequency(self) -> float | None:
        """In Hz; None if it is not known, or changes."""
        return _common(mark.frequency for mark in self.marks)

    def utc_ns(self, index: int) -> int | None:
        """When a sample was taken, in nanoseconds since 1970 UTC; None if the metadata do not say that."""
        if not self.dated:
            return None
        first, utc_ns, rate = self.dated[max(bisect.bisect_right(self._dates, index) - 1, 0)]
        return utc_ns + round((index - first) * 1e9 / rate)

    def time(self, index: int) -> np.datetime64 | None:
        """The same as a numpy.datetime64, which select() takes."""
        utc_ns = self.utc_ns(index)
        return None if utc_ns is None else np.datetime64(utc_ns, "ns")

    def cut(self, start: int, stop: int) -> Recording:
        """Those of its samples with an index of [start, stop)."""
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
        """Where the samples with an index of [start, stop) are, in rows from ``start`` on."""
        width = self.format.sample_bytes
        first = bisect.bisect_right(self._ends, start)
        near = itertools.takewhile(lambda run: run.index < stop, itertools.islice(self.runs, first, None))
        cuts = (_cut(run, start, stop) for run in near)
        return tuple(Piece(run.part, run.start * width, run.samples, run.index - start) for run in cuts)

    @functools.cached_property
    def dated(self) -> list[tuple[int, int, float]]:
        """Sample indexes of which the time is known: nanoseconds since 1970 UTC, and the rate from there
        on."""
        known = ((mark.index, mark.utc_ns, mark.sample_rate) for mark in self.marks)
        return [(index, utc_ns, rate) for index, utc_ns, rate in known if utc_ns is not None and rate]

    @functools.cached_property
    def _dates(self) -> list[int]:
        return [index for index, _, _ in self.dated]

    @functools.cached_property
    def _ends(self) -> list[int]:
        return [run.end for run in self.runs]

    def __repr__(self) -> str:
        return (f"<iio_stream.archive.Recording {self.name}: {self.samples} samples of {self.format.name} "
                f"from {self.start}, {len(self.gaps)} gaps, {len(self.parts)} parts>")


def _common(values: Iterable[float | None]) -> float | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _cut(run: Run, start: int, stop: int) -> Run:
    skipped = max(start - run.index, 0)
    samples = min(stop, run.end) - run.index - skipped
    return dataclasses.replace(run, start=run.start + skipped, index=run.index + skipped, samples=samples,
                               joins=run.joins and not skipped)


def _valid(marks: tuple[Mark, ...], start: int, stop: int) -> Iterator[Mark]:
    """Those that say something about samples of [start, stop)."""
    for mark, following in zip(marks, (*marks[1:], None)):
        if mark.index < max(stop, start + 1) and (following is None or following.index > start):
            yield mark


class Damage:
    """What is wrong with objects: raised, or collected."""

    def __init__(self, store: Store, lenient: bool) -> None:
        self._store = store
        self._lenient = lenient
        self.errors: list[Error] = []

    def note(self, name: str, detail: str, hint: str = "", number: int = errno.EBADMSG) -> None:
        error = self._store.error(name, detail, hint, number)
        if not self._lenient:
            raise error
        self.errors.append(error)


def series(name: str, parts: list[Part], store: Store, damage: Damage) -> Recording | None:
    """A recording of parts that follow one another; None if there are none without damage."""
    kept: list[Part] = []
    gaps: list[Gap] = []
    for part in sorted(parts, key=lambda part: part.number or 0):
        before = kept[-1] if kept else None
        try:
            if before is not None:
                if not part.samples and not part.told.gaps:  # its index is what a killed recorder expected
                    part = replace(part, index=before.end, marks=())
                _follows(part, before)
            gaps.extend(gaps_of(part, before))
        except ValueError as error:
            damage.note(part.meta, str(error))
        else:
            kept.append(part)
    if not kept:
        return None
    marks = tuple(mark for part in kept for mark in part.marks)
    runs = tuple(run for part in kept for run in part.runs)
    return Recording(name, kept[0].format, kept[0].device, kept[0].index, kept[-1].end, tuple(kept),
                     tuple(gaps), marks, runs, store)


def _follows(part: Part, before: Part) -> None:
    if part.format != before.format:
        raise ValueError(f"its samples are {part.format.name}, {part.format.sample_rate} Hz, and those of "
                         f"{before.name} {before.format.name}, {before.format.sample_rate} Hz")
    if part.device != before.device:
        raise ValueError(f"it is of device {part.device!r}, and {before.name} of {before.device!r}")
    if part.index < before.end:
        raise ValueError(f"it begins at sample index {part.index}, before the end of {before.name} at "
                         f"{before.end}: they are not of one recording")
    now, then = (one.marks[0].utc_ns if one.marks else None for one in (part, before))
    if now is not None and then is not None and now < then - _CLOCK_STEP_NS:
        raise ValueError(f"its time is before that of {before.name}: they are not of one recording")
