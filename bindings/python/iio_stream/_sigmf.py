# SPDX-License-Identifier: MIT
"""SigMF metadata, as read by the library."""
from __future__ import annotations

from dataclasses import dataclass

from . import _core
from ._errors import Error
from ._format import Format


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
    """A SigMF capture, valid from sample ``start`` on. ``index`` is the index of that sample in its stream,
    lost samples included (a lower bound if ``exact`` is False). ``datetime`` is its time in UTC (ISO 8601).
    ``frequency`` and ``sample_rate`` are in Hz, None if unknown."""

    start: int
    index: int
    exact: bool
    datetime: str | None
    frequency: float | None
    sample_rate: float | None = None


@dataclass(frozen=True)
class Description:
    """Describes a recording's samples. ``samples`` and ``state`` are None if iio-stream did not write the
    recording. In a recording by another program, ``gaps`` are the places where the sample index jumps.
    ``zeros`` are the samples [begin, end) in place of lost ones, ``headers`` are pairs (sample, bytes before
    it), ``problems`` are deviations from SigMF, and ``warnings`` summarizes them, one line per kind."""

    format: Format
    state: str | None
    samples: int | None
    captures: tuple[Capture, ...]
    gaps: tuple[RecordedGap, ...]
    zeros: tuple[tuple[int, int], ...]
    has_first_index: bool
    hardware: str
    sha512: str | None
    dataset: str
    metadata_only: bool
    headers: tuple[tuple[int, int], ...]
    trailing_bytes: int
    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    def samples_in(self, data: str, size: int) -> int:
        """Returns the number of samples in the object ``data``, which has ``size`` bytes. Raises ValueError
        if the metadata give a larger number."""
        width = self.format.sample_bytes
        samples = size // width if self.samples is None else self.samples
        if samples * width > size:
            raise ValueError(f"{samples} samples of {width} bytes, but {data} has {size} bytes")
        return samples


def describe(text: str | bytes, format: str = "") -> Description:
    """Parses the text of a metadata file. ``format``, if given, overrides the format in the metadata. Raises
    ValueError if the text does not determine how to read the samples, and UsageError for an unknown
    format."""
    try:
        said = _core.describe_recording(text, format)
    except Error as error:
        if error.fault == "usage":
            raise
        raise ValueError(error.detail) from None
    said["format"] = Format._from(said["format"])
    said["captures"] = tuple(Capture(*one) for one in said["captures"])
    said["gaps"] = tuple(RecordedGap(*one) for one in said["gaps"])
    for key in ("zeros", "headers", "problems", "warnings"):
        said[key] = tuple(said[key])
    return Description(**said)
