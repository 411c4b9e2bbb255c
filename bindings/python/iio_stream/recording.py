# SPDX-License-Identifier: MIT
"""Recordings as arrays, without reading them: SigMF, or raw samples."""
from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _sigmf
from ._errors import Error, make
from ._format import Format
from ._sigmf import Capture, RecordedGap
from .reader import source

__all__ = ["Capture", "RecordedGap", "Recording", "open_recording"]

_SUFFIXES = (".sigmf-meta", ".sigmf-data", ".sigmf")


@dataclass(frozen=True)
class Recording:
    """A recording, opened by ``open_recording()``. ``array`` is read-only and mapped from the file, shape
    (samples, channels), so that only the parts you access are read; ``zeros`` are the samples [begin, end)
    in place of lost ones (``on_gap="zero-fill"``), which ``gaps`` do not list; ``metadata`` is the whole
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
    ``format``, which takes precedence over SigMF metadata. Each kind of deviation from SigMF that does
    not change how samples are read is a RuntimeWarning. For convert() and iq(), use the blocks of
    ``source(path)``.

    Raises Error: FileNotFoundError, UsageError if the format is unknown, StorageError for an interrupted
    recording (recover() repairs it) and for invalid metadata.
    """
    name = os.fspath(path)
    stem = next((name[:-len(suffix)] for suffix in _SUFFIXES if name.endswith(suffix)), name)
    if stem == name and not os.path.exists(name + ".sigmf-meta"):
        with source(name, **({"format": format} if format else {})) as rx:
            shape = rx.format
        first = Capture(0, 0, True, None, None)
        return Recording(name, _mapped(name, shape, None), shape, (first,), (), (), {})
    meta = stem + ".sigmf-meta"
    try:
        with open(meta, "rb") as file:
            return _sigmf_recording(meta, file.read(_core.MOST_METADATA + 1), format)
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise failed(error.errno or errno.EIO, meta, "") from None
    except ValueError as error:
        raise failed(errno.EBADMSG, meta, f"the metadata make no sense: {error}") from None


def _sigmf_recording(meta: str, text: bytes, format: str) -> Recording:
    told = _sigmf.describe(text, format)
    if told.state == "recording":
        raise failed(errno.EBUSY, meta, "it is still being recorded, or was interrupted",
                      f"after an interruption: iio-stream recover {meta}")
    for line in told.warnings:
        warnings.warn(f"{meta}: {line}", RuntimeWarning, stacklevel=3)
    data = meta[:-len("meta")] + "data"
    if told.dataset:
        data = os.path.join(os.path.dirname(meta), told.dataset)
    if told.metadata_only and not os.path.exists(data):
        raise failed(errno.ENOENT, data, f"core:metadata_only is true in {meta}: it was distributed without "
                                         "its samples")
    if any(sample for sample, _ in told.headers):
        raise failed(errno.EBADMSG, data, "there are headers between the samples, which no array leaves out",
                      f"iio_stream.source({meta!r}) reads the samples alone")
    header = sum(size for _, size in told.headers)
    array = _mapped(data, told.format, None if format else told.samples, header, told.trailing_bytes)
    return Recording(data, array, told.format, told.captures, told.gaps, told.zeros, json.loads(text))


def _mapped(data: str, shape: Format, samples: int | None, begin: int = 0,
            after: int = 0) -> npt.NDArray[Any]:
    """The samples after ``begin`` bytes of a file, and before the last ``after`` bytes."""
    size = os.path.getsize(data) - begin - after
    if size < 0:
        raise failed(errno.EBADMSG, data, f"{size + begin + after} bytes are too few for its headers")
    if samples is None:
        samples = size // shape.sample_bytes
    elif samples * shape.sample_bytes > size:
        raise failed(errno.EBADMSG, data, f"{size} bytes, but {samples} samples of {shape.sample_bytes}")
    columns = (len(shape.channels),) if shape.is_uniform else ()
    if samples == 0:  # there is nothing to map
        return np.zeros((0, *columns), shape.dtype)
    return np.memmap(data, shape.dtype, "r", begin, (samples, *columns))


def failed(number: int, path: str, detail: str, hint: str = "") -> Error:
    text = f"open {path}: {detail or os.strerror(number)}" + (f" ({hint})" if hint else "")
    return make("storage", number, "open", path, detail, hint, text, None)
