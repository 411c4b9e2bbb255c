# SPDX-License-Identifier: MIT
"""SigMF metadata, as the library reads them."""
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
    """Valid from sample ``start`` on: the ``index`` of that sample in its stream, lost ones included (a lower
    bound if ``exact`` is False), its time in UTC (ISO 8601), and the frequency and the sample rate in Hz, if
    they are known."""

    start: int
    index: int
    exact: bool
    datetime: str | None
    frequency: float | None
    sample_rate: float | None = None


@dataclass(frozen=True)
class Description:
    """Of a recording's samples; ``samples`` and ``state`` are None if it is not ours. ``gaps`` of another
    program's recording are where its index jumps. ``zeros`` are samples [begin, end) that stand for lost
    ones, ``headers`` pairs (sample, bytes before it), ``problems`` deviations from SigMF, and ``warnings``
    the same in one line for each kind."""

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
        """Of data of that name and size in bytes. Raises ValueError if the metadata say that it has more."""
        width = self.format.sample_bytes
        samples = size // width if self.samples is None else self.samples
        if samples * width > size:
            raise ValueError(f"{samples} samples of {width} bytes, but {data} has {size} bytes")
        return samples


def describe(text: str | bytes, format: str = "") -> Description:
    """What the text of a metadata file says; ``format`` is that of the samples, whatever it says. Raises
    ValueError if it does not say how to read the samples; UsageError for an unknown format."""
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
