# SPDX-License-Identifier: MIT
"""Recordings as Dask arrays. One task reads each chunk, as ranges of bytes."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _options
from ._extra import da, tokenize
from .reading import Layout, Piece, Store, read_samples
from .sample_range import SampleRange

if TYPE_CHECKING:
    from typing import TypeAlias  # from Python 3.10 on

    from dask.array import Array

Dtype: TypeAlias = "npt.DTypeLike | None"

_CHUNK_BYTES = 64 << 20
_MOST_CHUNKS = 1_000_000  # damaged metadata can claim a loss of years, which would need too many chunks


@dataclass(frozen=True)
class Stretch:
    """Consecutive samples without a gap. ``index`` is the sample index of the first one (a lower bound if
    ``exact`` is False). ``array`` is a Dask array of shape (samples, channels)."""

    index: int
    exact: bool
    array: Array


def masked(recording: SampleRange, dtype: Dtype, chunks: int | None, overlap: int) -> Array:
    layout = Layout.of(recording.format, dtype)
    return _array(recording, layout, _edges(recording, layout, chunks, overlap), overlap, True)


def stretches(recording: SampleRange, dtype: Dtype, chunks: int | None, overlap: int) -> list[Stretch]:
    layout = Layout.of(recording.format, dtype)
    made = []
    for one in _unbroken(recording):
        edges = _edges(one, layout, chunks, overlap)
        made.append(Stretch(one.start, all(run.exact for run in one.runs),
                            _array(one, layout, edges, overlap, False)))
    return made


@dataclass(frozen=True)
class Mapped:
    """The types of a function's argument and result: ``samples`` is the dtype of the samples passed to it,
    ``dtype`` and ``columns`` describe its result (None: as many columns as the samples)."""

    samples: Dtype
    dtype: np.dtype[Any]
    columns: int | None


def mapped(recording: SampleRange, function: Callable[..., Any], words: Mapped, chunks: int | None,
           overlap: int) -> Array:
    layout = Layout.of(recording.format, words.samples)
    edges = _edges(recording, layout, chunks, overlap)
    samples = _array(recording, layout, edges, overlap, True)
    firsts = np.array([[max(edge - overlap, recording.start)] for edge in edges[:-1]])
    columns = layout.columns if words.columns is None else words.columns
    made: Array = da.map_blocks(
        _apply, samples, da.from_array(firsts, chunks=(1, 1)), function=function,
        chunks=(samples.chunks[0], (columns,)), meta=np.ma.empty((0, 0), words.dtype))
    if overlap:
        made = da.overlap.trim_overlap(made, {0: overlap}, boundary="none")
    return made


def _apply(samples: Any, index: npt.NDArray[np.int64], function: Callable[..., Any]) -> Any:
    return function(samples, int(index[0, 0]))


def _edges(recording: SampleRange, layout: Layout, chunks: int | None, overlap: int) -> list[int]:
    """Returns the sample indexes at which chunks begin and end."""
    if overlap < 0 or (chunks is not None and chunks < 1):
        raise _options.usage(f"chunks={chunks}, overlap={overlap} are not valid numbers of samples",
                             "chunks=1_000_000")
    width = layout.columns * layout.dtype.itemsize
    if chunks is None:
        least, starts = max(_CHUNK_BYTES // width, 1, overlap), [part.index for part in recording.parts[1:]]
    else:
        least, starts = chunks, []
    if overlap > least:
        raise _options.usage(f"overlap={overlap} is more than a chunk of {least} samples",
                             "make chunks larger")
    if (recording.stop - recording.start) // least > _MOST_CHUNKS:
        raise _options.usage(f"{recording.name}: indexes {recording.start} to {recording.stop} would need "
                             f"more than {_MOST_CHUNKS} chunks", 'on_gap="split" leaves lost samples out')
    edges = [recording.start]
    for stop in (*starts, recording.stop):
        first = edges[-1]
        count = -(-(stop - first) // least)
        if chunks is None:
            edges.extend(first + (stop - first) * n // count for n in range(1, count + 1))
        else:
            edges.extend(min(first + least * n, stop) for n in range(1, count + 1))
    return _roomy(edges, overlap)


def _roomy(edges: list[int], overlap: int) -> list[int]:
    """Removes edges that are closer than ``overlap`` to the previous edge or to the end, because an overlap
    may extend into one neighbouring chunk only."""
    kept = edges[:1]
    for edge in edges[1:-1]:
        if edge - kept[-1] >= overlap and edges[-1] - edge >= overlap:
            kept.append(edge)
    return [*kept, *edges[-1:]] if len(edges) > 1 else [*edges, *edges]


def _array(recording: SampleRange, layout: Layout, edges: list[int], overlap: int, mask: bool) -> Array:
    spans = [(max(begin - overlap, edges[0]), min(end + overlap, edges[-1]))
             for begin, end in zip(edges, edges[1:])]
    name = "samples-" + tokenize(recording.store.url, recording.name, recording.runs, recording.marks, layout,
                                 spans, mask)
    store = recording.store
    graph = {(name, n, 0): (_chunk, store, recording.pieces(begin, end), end - begin, layout, mask)
             for n, (begin, end) in enumerate(spans)}
    empty: Any = np.ma.empty if mask else np.empty
    made: Array = da.Array(graph, name, (tuple(end - begin for begin, end in spans), (layout.columns,)),
                           meta=empty((0, 0), layout.dtype))
    return made


def _chunk(store: Store, pieces: tuple[Piece, ...], rows: int, layout: Layout,
           mask: bool) -> npt.NDArray[Any]:
    made, known = read_samples(store, pieces, rows, layout)
    if not mask:
        return made
    marked = made.view(np.ma.MaskedArray)
    marked.fill_value = 0
    if not known.all():
        marked[~known] = np.ma.masked
    return marked


def _unbroken(recording: SampleRange) -> Iterator[SampleRange]:
    """Yields the parts of a recording between its gaps, certain and possible."""
    start: int | None = None
    end = 0
    for run in recording.runs:
        if start is None or run.index != end or not run.joins:
            if start is not None:
                yield recording.cut(start, end)
            start = run.index
        end = run.end
    if start is not None:
        yield recording.cut(start, end)
