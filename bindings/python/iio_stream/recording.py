# SPDX-License-Identifier: MIT
"""Recordings as arrays, without reading them: SigMF, or raw samples."""
from __future__ import annotations

import dataclasses
import errno
import json
import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import Error, make
from ._format import Format

_SUFFIXES = (".sigmf-meta", ".sigmf-data", ".sigmf")


@dataclass(frozen=True)
class RecordedGap:
    """Between samples offset-1 and offset of the recording, for some offset in [offset_min, offset_max], at
    least ``lost_min`` and at most ``lost_max`` samples are missing (None: no upper bound is known)."""

    offset_min: int
    offset_max: int
    lost_min: int
    lost_max: int | None
    evidence: str | None


@dataclass(frozen=True)
class Capture:
    """Valid from sample ``start`` on: the ``index`` of that sample in its stream, lost ones included (a lower
    bound if ``exact`` is False), its time in UTC (ISO 8601) and the frequency in Hz, if they are known."""

    start: int
    index: int
    exact: bool
    datetime: str | None
    frequency: float | None


@dataclass(frozen=True)
class Recording:
    """A recording, opened by ``open_recording()``. ``array`` is read-only and mapped from the file, shape
    (samples, channels), so that only the parts you access are read; ``zeros`` are the samples [begin, end)
    that stand for lost ones (``on_gap="zero-fill"``), which ``gaps`` do not list; ``metadata`` is the whole
    SigMF object, empty for raw samples."""

    path: str
    array: npt.NDArray[Any]
    format: Format
    captures: tuple[Capture, ...]
    gaps: tuple[RecordedGap, ...]
    zeros: tuple[tuple[int, int], ...]
    metadata: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.array, dtype) if copy else np.asarray(self.array, dtype)

    def index_of(self, sample: int) -> int:
        """Where a sample of the recording was in its stream, lost ones included; a lower bound if a loss
        before it is not known exactly."""
        if not 0 <= sample < len(self):
            raise IndexError(f"there is no sample {sample} of {len(self)}")
        last = [capture for capture in self.captures if capture.start <= sample][-1]
        return last.index + sample - last.start


def open_recording(path: str | os.PathLike[str], /, *, format: str = "") -> Recording:
    """Maps a recording: SigMF by any of its names, or raw samples whose format is given by the suffix or
    ``format``. For convert() and iq(), use the blocks of ``source(path)``.

    Raises Error: FileNotFoundError, UsageError if the format is unknown, StorageError for an interrupted
    recording (recover() repairs it) and for invalid metadata.
    """
    name = os.fspath(path)
    stem = next((name[:-len(suffix)] for suffix in _SUFFIXES if name.endswith(suffix)), name)
    from .reader import source  # which has samples, which has what is here

    if stem == name and not os.path.exists(name + ".sigmf-meta"):
        with source(name, **({"format": format} if format else {})) as rx:
            shape = rx.format
        first = Capture(0, 0, True, None, None)
        return Recording(name, _mapped(name, shape, None), shape, (first,), (), (), {})
    meta = stem + ".sigmf-meta"
    try:
        words = json.loads(pathlib.Path(meta).read_text())
        return _sigmf(meta, stem + ".sigmf-data", words)
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise _failed(error.errno or errno.EIO, meta, "") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, Error):
            raise
        raise _failed(errno.EBADMSG, meta, f"the metadata make no sense: {error!r}") from None


def _sigmf(meta: str, data: str, words: Mapping[str, Any]) -> Recording:
    top = words["global"]
    if top.get("iio_stream:state") == "recording":
        raise _failed(errno.EBUSY, meta, "it is still being recorded, or was interrupted",
                      f"after an interruption: iio-stream recover {meta}")
    if any(capture.get("core:header_bytes") for capture in words["captures"]):
        raise _failed(errno.ENOTSUP, meta, "there are headers between the samples")
    shape = _format_of(top)
    first, captures = 0, []
    for capture in words["captures"]:
        start = int(capture["core:sample_start"])
        index = int(capture.get("core:global_index", first + start))
        first = index - start
        captures.append(Capture(start, index, bool(capture.get("iio_stream:index_exact", True)),
                                capture.get("core:datetime"), capture.get("core:frequency")))
    gaps = tuple(_gap_of(note) for note in words.get("annotations", ()) if "iio_stream:lost_min" in note)
    zeros = tuple(_zeros_of(note) for note in words.get("annotations", ()) if "iio_stream:filled" in note)
    if not captures or captures[0].start > 0:
        captures.insert(0, Capture(0, 0, True, None, None))
    array = _mapped(data, shape, top.get("iio_stream:samples"))
    return Recording(data, array, shape, tuple(captures), gaps, zeros, words)


def _zeros_of(note: Mapping[str, Any]) -> tuple[int, int]:
    begin = int(note["core:sample_start"])
    return begin, begin + int(note["iio_stream:filled"])


def _format_of(top: Mapping[str, Any]) -> Format:
    datatype = top["core:datatype"]
    count = int(top.get("core:num_channels", 1)) * (2 if datatype.startswith("c") else 1)
    names = [channel["id"] for channel in top.get("iio_stream:channels", ())]
    shape = Format.parse(datatype, ",".join(names) if len(names) == count else count)
    return dataclasses.replace(shape, sample_rate=top.get("core:sample_rate"))


def _gap_of(note: Mapping[str, Any]) -> RecordedGap:
    first = int(note["core:sample_start"])
    return RecordedGap(first, first + int(note.get("core:sample_count", 0)), int(note["iio_stream:lost_min"]),
                       note.get("iio_stream:lost_max"), note.get("iio_stream:evidence"))


def _mapped(data: str, shape: Format, samples: int | None) -> npt.NDArray[Any]:
    size = os.path.getsize(data)
    if samples is None:
        samples = size // shape.sample_bytes
    elif samples * shape.sample_bytes > size:
        raise _failed(errno.EBADMSG, data, f"{size} bytes, but {samples} samples of {shape.sample_bytes}")
    columns = (len(shape.channels),) if shape.is_uniform else ()
    if samples == 0:  # there is nothing to map
        return np.zeros((0, *columns), shape.dtype)
    return np.memmap(data, shape.dtype, "r", shape=(samples, *columns))


def _failed(number: int, path: str, detail: str, hint: str = "") -> Error:
    text = f"open {path}: {detail or os.strerror(number)}" + (f" ({hint})" if hint else "")
    return make("storage", number, "open", path, detail, hint, text, None)
