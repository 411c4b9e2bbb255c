# SPDX-License-Identifier: MIT
"""Maps recordings (SigMF or raw samples) as arrays without reading them, and adds annotations to them."""
from __future__ import annotations

import errno
import json
import operator
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _annotations, _core, _html, _metadata_file, _sigmf
from ._annotations import Annotation
from ._errors import Error, make
from ._format import Format
from ._options import usage
from ._sigmf import Capture, RecordedGap
from .reader import source

__all__ = ["Annotation", "Capture", "RecordedGap", "Recording", "open_recording"]

_SUFFIXES = (".sigmf-meta", ".sigmf-data", ".sigmf")


@dataclass(frozen=True)
class Recording:
    """A recording, opened by ``open_recording()``. ``array`` is read-only and mapped from the file, of shape
    (samples, channels), or (samples,) with a structured dtype if channels differ. Only the parts that you
    access are read. ``zeros`` are the samples [begin, end) in place of lost ones (``on_gap="zero-fill"``),
    which ``gaps`` does not list. ``metadata`` is the whole SigMF object, and ``metadata_path`` is its file;
    both are empty for raw samples."""

    path: str
    array: npt.NDArray[Any]
    format: Format
    captures: tuple[Capture, ...]
    gaps: tuple[RecordedGap, ...]
    zeros: tuple[tuple[int, int], ...]
    metadata: Mapping[str, Any]
    metadata_path: str = ""

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.array, dtype) if copy else np.asarray(self.array, dtype)

    def iq(self, start: int = 0, count: int | None = None) -> npt.NDArray[np.complex64]:
        """Returns ``count`` samples from ``start`` on (default: all to the end) as complex64, converted by
        the library, full scale 1.0: shape (samples,), or (samples, pairs) if there are several I/Q pairs.
        Reads only these samples from the file. Raises UsageError if the channels are not I/Q pairs, and
        IndexError for samples outside of the recording.

        >>> import tempfile
        >>> from iio_stream import record
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     done = record("sim:", folder + "/a.ci16", rate=0, samples=1000)
        ...     open_recording(folder + "/a.ci16").iq(100, 50).shape
        (50,)
        """
        start = operator.index(start)
        count = len(self) - start if count is None else operator.index(count)
        if not 0 <= start <= start + count <= len(self):
            raise IndexError(f"{start} to {start + count} is outside of {len(self)} samples")
        samples = np.ascontiguousarray(self.array[start:start + count])
        return _core.to_iq(self.format, samples.reshape(-1).view(np.uint8))

    def _repr_html_(self) -> str:
        """Returns a table of the recording's properties for a notebook."""
        return _html.table("Recording", self._properties())

    def _properties(self) -> Iterator[tuple[str, str]]:
        rate = self.format.sample_rate
        yield "file", self.metadata_path or self.path
        channels = len(self.format.channels)
        yield "format", f"{self.format.name}, {channels} channel" + "s" * (channels != 1)
        yield "samples", f"{len(self):,}" + (f" in {len(self) / rate:,.6g} s" if rate else "")
        if rate:
            yield "sample rate", f"{rate:,.15g} S/s"
        frequencies = {one.frequency for one in self.captures if one.frequency is not None}
        if frequencies:
            low, high = min(frequencies), max(frequencies)
            yield "frequency", f"{low:,.15g} Hz" + (f" to {high:,.15g} Hz" if low != high else "")
        if self.captures[0].datetime:
            yield "start", self.captures[0].datetime
        properties = self.metadata.get("global", {})
        for name, key in (("hardware", "core:hw"), ("description", "core:description")):
            if properties.get(key):
                yield name, str(properties[key])
        lost = sum(gap.lost_min for gap in self.gaps) + sum(end - begin for begin, end in self.zeros)
        # Zeros replace only the samples that are certainly lost.
        exact = not self.zeros and all(gap.lost_min == gap.lost_max for gap in self.gaps)
        least = "" if exact else "at least "
        yield "losses", f"{len(self.gaps) + len(self.zeros)}" + (f", {least}{lost:,} samples" if lost else "")
        if self.metadata:
            yield "annotations", f"{len(self.annotations):,}"

    def index_of(self, sample: int) -> int:
        """Returns the index of a sample in its stream, lost samples included. It is a lower bound if the size
        of a loss before it is not known exactly. Raises IndexError."""
        if not 0 <= sample < len(self):
            raise IndexError(f"there is no sample {sample} of {len(self)}")
        last = [capture for capture in self.captures if capture.start <= sample][-1]
        return last.index + sample - last.start

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """The annotations in ``metadata``, ordered by their start. They include the annotations of losses and
        retunings that iio-stream has written."""
        return _annotations.annotations_of(self.metadata) if self.metadata else ()

    def annotate(self, start: int, count: int | None = None, *, label: str | None = None,
                 comment: str | None = None, frequency: tuple[float, float] | None = None,
                 **others: Any) -> Annotation:
        """Adds an annotation to the recording's metadata file and to ``annotations``, and returns it.

        It applies to ``count`` samples from ``start`` on, which is an index into ``array``; with count=None
        to all samples up to the end of their capture. ``label`` is a word or two (SigMF recommends at most 20
        characters), ``comment`` any text. ``frequency`` is a pair of the lowest and the highest frequency in
        Hz: at RF if the capture has a frequency, otherwise in the baseband, where frequencies can be
        negative. ``others`` are SigMF's ``generator`` and ``uuid``, and keys of extensions that
        core:extensions declares: ``**{"antenna:azimuth_angle": 90}``.

        The file is replaced atomically, and the rest of its text does not change. Programs that annotate the
        same recording at the same time wait for one another, up to 10 s.

        Raises UsageError for samples outside of the recording, edges in the wrong order, an argument that
        SigMF does not define, and raw samples. Raises TypeError for values of a wrong type. Raises
        StorageError if the files cannot be changed; its errno is EBUSY while the recording is being made or
        another program holds the lock, and ESTALE if the files were replaced or changed after they were
        opened.

        >>> import tempfile
        >>> from iio_stream import record
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     done = record("sim:", folder + "/a.sigmf-meta", rate="1M", samples=1000)
        ...     open_recording(folder + "/a.sigmf-meta").annotate(200, 50, label="burst")
        Annotation(start=200, count=50, label='burst', comment=None, frequency=None)
        """
        if not self.metadata_path:
            raise usage(f"annotate {self.path}: raw samples have no metadata",
                        f"iio-stream stream {self.path} NAME.sigmf-meta makes a recording of them")
        one = _annotations.checked(self.path, len(self), start, count, label, comment, frequency, others)
        made = _annotations.annotation(one["core:sample_start"], one)
        path = os.path.realpath(self.metadata_path)
        data = os.path.join(os.path.dirname(self.metadata_path), os.path.basename(self.path))
        with _metadata_file.locked(path, data) as file:
            text = self._with(one, path, data, file.read(_core.MOST_METADATA + 1))
            _metadata_file.replace(path, file, text)
            object.__setattr__(self, "metadata", json.loads(text))
        return made

    def _with(self, one: dict[str, Any], path: str, data: str, text: bytes) -> bytes:
        """Returns the text of the metadata file at ``path`` with one more annotation."""
        try:
            self._refuse_changed(text, path, data)
            metadata = json.loads(text)
            _annotations.refuse_undeclared(one, metadata, path)
            one["core:sample_start"] += _annotations.first_sample(metadata)
            longer = _annotations.with_annotation(text.decode(), one).encode()
            _sigmf.describe(longer)
        except Error:
            raise
        except (ValueError, TypeError, RecursionError) as error:
            raise _metadata_file.failed(errno.EBADMSG, path, str(error), "") from None
        if len(longer) > _core.MOST_METADATA:
            raise _metadata_file.failed(errno.EFBIG, path, "the metadata would have more than 64 MiB",
                                        "readers do not accept more: annotate a part of the recording")
        return longer

    def _refuse_changed(self, text: bytes, path: str, data: str) -> None:
        """Raises StorageError if the recording is not the one that was opened."""
        told = _sigmf.describe(text)
        if told.state == "recording":
            raise _metadata_file.failed(errno.EBUSY, path, "it is still being recorded, or was interrupted",
                                        f"after an interruption: iio-stream recover {path}")
        if told.format.sample_bytes != self.format.sample_bytes:
            raise _metadata_file.failed(errno.ESTALE, path, f"its samples are {told.format.name}, but were "
                                        f"opened as {self.format.name}", "open it again, without format=")
        headers = sum(size for _, size in told.headers) + told.trailing_bytes
        samples = told.samples_in(data, os.path.getsize(data) - headers)
        if samples != len(self):
            raise _metadata_file.failed(errno.ESTALE, path, f"it has {samples} samples, but had {len(self)} "
                                        "when it was opened", "open it again")


def open_recording(path: str | os.PathLike[str], /, *, format: str = "") -> Recording:
    """Maps a recording and returns it: a SigMF recording by the name of any of its files, or raw samples
    whose format is given by the suffix or by ``format``. ``format`` takes precedence over SigMF metadata.
    Issues a RuntimeWarning for each kind of deviation from SigMF that does not change how samples are read.
    For convert(), use the blocks of ``source(path)``.

    Raises Error, as a FileNotFoundError if the file does not exist, UsageError if the format is unknown, and
    StorageError for an interrupted recording (recover() repairs it) and for invalid metadata.
    """
    name = os.fspath(path)
    stem = next((name[:-len(suffix)] for suffix in _SUFFIXES if name.endswith(suffix)), name)
    if stem == name and not os.path.exists(name + ".sigmf-meta"):
        if "://" in name and not os.path.exists(name):
            raise failed(errno.ENOENT, name, "", _way_to(name))
        with source(name, **({"format": format} if format else {})) as rx:
            shape = rx.format
        with open(name, "rb") as file:
            if file.read(4) in (b"RIFF", b"RF64"):
                raise usage(f"{name} is a WAV file, whose header an array would contain",
                            f"iio_stream.source({name!r}) reads its samples")
        first = Capture(0, 0, True, None, None)
        return Recording(name, _mapped(name, shape, None), shape, (first,), (), (), {})
    meta = stem + ".sigmf-meta"
    try:
        with open(meta, "rb") as file:
            return _sigmf_recording(meta, file.read(_core.MOST_METADATA + 1), format)
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise failed(error.errno or errno.EIO, meta, "", _way_to(name)) from None
    except ValueError as error:
        raise failed(errno.EBADMSG, meta, f"the metadata are invalid: {error}") from None


def _way_to(name: str) -> str:
    """Returns a hint for a name that is not a recording in a local file; "" if there is none."""
    if "://" in name:
        return "iio_stream.archive.open() reads object stores, and iio-stream archive pull copies from them"
    if name.endswith(".sigmf") and os.path.isfile(name):
        return f"it is an archive: tar -xf {name} unpacks it, iio_stream.source({name!r}) reads it in place"
    return ""


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
        raise failed(errno.EBADMSG, data, "there are headers between the samples, which an array cannot skip",
                      f"iio_stream.source({meta!r}) reads only the samples")
    header = sum(size for _, size in told.headers)
    array = _mapped(data, told.format, None if format else told.samples, header, told.trailing_bytes)
    return Recording(data, array, told.format, told.captures, told.gaps, told.zeros, json.loads(text),
                     os.path.abspath(meta))


def _mapped(data: str, shape: Format, samples: int | None, begin: int = 0,
            after: int = 0) -> npt.NDArray[Any]:
    """Maps the samples of a file between its first ``begin`` and its last ``after`` bytes."""
    size = os.path.getsize(data) - begin - after
    if size < 0:
        raise failed(errno.EBADMSG, data, f"{size + begin + after} bytes are not enough for its headers")
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
