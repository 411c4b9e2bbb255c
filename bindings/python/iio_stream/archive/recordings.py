# SPDX-License-Identifier: MIT
"""Recordings, which consist of consecutive parts."""
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

# The most by which the clock may have been set back between two parts that do not join exactly. If the time
# of the second part is still earlier, it belongs to an older recording with the same name.
_CLOCK_STEP_NS = 60 * 10**9


class Recording(SampleRange):
    """The samples of one stream with the indexes ``start`` to ``stop``-1, lost ones included. ``name`` is the
    name of the files below the archive's URL, without number and suffix. ``device`` is core:hw of the
    metadata. Indexes after a loss whose size is not known exactly are lower bounds."""

    @overload
    def to_dask(self, dtype: Dtype = ..., *, chunks: int | None = ..., overlap: int = ...,
                on_gap: Literal["mask"] = ...) -> Array: ...

    @overload
    def to_dask(self, dtype: Dtype = ..., *, chunks: int | None = ..., overlap: int = ...,
                on_gap: Literal["split"]) -> list[Stretch]: ...

    def to_dask(self, dtype: Dtype = "complex64", *, chunks: int | None = None, overlap: int = 0,
                on_gap: str = "mask") -> Array | list[Stretch]:
        """Returns the samples as a masked Dask array of shape (samples, channels): row n is the sample with
        index ``start`` + n, and lost samples are masked. With ``on_gap="split"`` returns a list of Stretch,
        each with a plain array: one for each run of samples without a gap, certain or possible.

        ``dtype`` is "complex64" (I/Q pairs) or "float32" (channels), with full scale 1.0, or None for
        channels as they are stored. ``chunks`` is the number of samples in a chunk; by default, each part is
        divided into chunks of at most 64 MiB. With ``overlap``, chunks are extended by that many samples at
        both ends, as with ``dask.array.overlap.overlap(x, {0: overlap}, boundary="none")``, but each task
        reads these samples itself; ``dask.array.overlap.trim_overlap`` removes them.

        Raises UsageError. Computing the array raises StorageError, which names the damaged object.
        """
        if _options.one_of("on_gap", on_gap, ("mask", "split")) == "mask":
            return masked(self, dtype, chunks, overlap)
        return stretches(self, dtype, chunks, overlap)

    def map_blocks(self, function: Callable[[npt.NDArray[Any], int], npt.NDArray[Any]], *,
                   dtype: Dtype = "complex64", columns: int | None = None, sample_dtype: Dtype = "complex64",
                   chunks: int | None = None, overlap: int = 0) -> Array:
        """Returns a Dask array of the results of ``function(samples, index)`` for each chunk of
        ``to_dask(sample_dtype)``. ``index`` is the sample index of the chunk's first sample. The function
        returns an array of ``dtype`` with as many rows as the chunk, and ``columns`` columns (default: as
        many as the samples). With ``overlap``, the chunk has up to that many additional samples at either
        end, and their rows are removed from the result. Raises UsageError."""
        return mapped(self, function, Mapped(sample_dtype, np.dtype(dtype), columns), chunks, overlap)

    def __repr__(self) -> str:
        return (f"<iio_stream.archive.Recording {self.name}: {self.samples} samples of {self.format.name} "
                f"from {self.start}, {len(self.gaps)} gaps, {len(self.parts)} parts>")


class Damage:
    """Raises or collects the errors of damaged objects."""

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
    """Makes a recording from its parts. Returns None if all of them are damaged."""
    kept: list[Part] = []
    gaps: list[Gap] = []
    for part in sorted(parts, key=lambda part: part.number or 0):
        before = kept[-1] if kept else None
        try:
            if before is not None:
                if not part.samples and not part.told.gaps:  # a killed recorder only estimated its index
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
        raise ValueError(f"its samples are {part.format.name}, {part.format.sample_rate} Hz, but those of "
                         f"{before.name} are {before.format.name}, {before.format.sample_rate} Hz")
    if part.device != before.device:
        raise ValueError(f"it was recorded from device {part.device!r}, but {before.name} from "
                         f"{before.device!r}")
    if part.index < before.end:
        raise ValueError(f"it begins at sample index {part.index}, before the end of {before.name} at "
                         f"{before.end}: they do not belong to the same recording")
    now, then = (one.marks[0].utc_ns if one.marks else None for one in (part, before))
    exact = part.index - before.end == sum(gap.lost_min for gap in part.told.gaps if gap.offset_max == 0)
    if now is not None and then is not None and now < then - _CLOCK_STEP_NS and not exact:
        raise ValueError(f"it is dated before {before.name}: they do not belong to the same recording")
