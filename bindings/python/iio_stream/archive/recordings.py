# SPDX-License-Identifier: MIT
"""A recording: its parts one after the other."""
from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from .. import _options
from .._errors import Error
from .arrays import Dtype, Mapped, Stretch, mapped, masked, stretches
from .parts import Gap, Part, gaps_of
from .reading import Store
from .sample_range import SampleRange

if TYPE_CHECKING:
    from dask.array import Array

# How far a clock may have been set back between two parts that do not go on exactly: those of an older
# recording under the same names are older.
_CLOCK_STEP_NS = 60 * 10**9


class Recording(SampleRange):
    """The samples with an index from ``start`` to ``stop``-1 of one stream, lost ones included. ``name`` is
    that of the files, below the archive's URL, without numbers and suffix; ``device`` the metadata's core:hw.
    Indexes behind a loss that is not known exactly are lower bounds."""

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

    def __repr__(self) -> str:
        return (f"<iio_stream.archive.Recording {self.name}: {self.samples} samples of {self.format.name} "
                f"from {self.start}, {len(self.gaps)} gaps, {len(self.parts)} parts>")


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
    exact = part.index - before.end == sum(gap.lost_min for gap in part.told.gaps if gap.offset_max == 0)
    if now is not None and then is not None and now < then - _CLOCK_STEP_NS and not exact:
        raise ValueError(f"its time is before that of {before.name}: they are not of one recording")
