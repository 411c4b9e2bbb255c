# SPDX-License-Identifier: MIT
"""Selects the samples of recordings that meet conditions."""
from __future__ import annotations

import datetime
import fnmatch
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _options
from .._options import Rate
from .parts import Mark
from .recordings import Recording

if TYPE_CHECKING:
    from typing import TypeAlias  # from Python 3.10 on

Time: TypeAlias = "str | datetime.datetime | np.datetime64 | None"
Times: TypeAlias = "tuple[Time, Time]"
Frequencies: TypeAlias = "Rate | tuple[Rate, Rate]"


@dataclass(frozen=True)
class Wanted:
    """Conditions for samples. ``limits`` are (from, to) in nanoseconds since 1970 UTC, ``band`` is (lowest,
    highest) in Hz, and ``device`` and ``name`` are patterns. None stands for no condition."""

    limits: tuple[float, float] | None
    band: tuple[float, float] | None
    device: str | None
    name: str | None

    @classmethod
    def of(cls, time: Times | None, frequency: Frequencies | None, device: str | None,
           name: str | None) -> Wanted:
        """Makes the conditions from the arguments of select(). Raises UsageError."""
        return cls(None if time is None else _limits(time), None if frequency is None else _band(frequency),
                   device, name)

    def is_of(self, device: str, name: str) -> bool:
        return all(pattern is None or fnmatch.fnmatchcase(value, pattern)
                   for value, pattern in ((device, self.device), (name, self.name)))

    def cuts(self, recording: Recording) -> Iterator[Recording]:
        """Yields the parts of a recording that meet all conditions."""
        if not self.is_of(recording.device, recording.name):
            return
        ranges = [(recording.start, recording.stop)] if self.band is None else list(self._tuned(recording))
        if self.limits is not None:
            begin, end = (_index_of(recording, limit) for limit in self.limits)
            if begin is None or end is None:
                return
            ranges = [(max(start, begin), min(stop, end)) for start, stop in ranges]
        for start, stop in ranges:
            cut = recording.cut(start, stop) if start < stop else None
            if cut is not None and cut.runs:
                yield cut

    def _tuned(self, recording: Recording) -> Iterator[tuple[int, int]]:
        """Yields the index ranges whose recorded band overlaps ``band``, with adjacent ranges merged."""
        open_range: tuple[int, int] | None = None
        for mark, following in zip(recording.marks, (*recording.marks[1:], None)):
            stop = recording.stop if following is None else following.index
            start = max(mark.index, recording.start)
            if not self.sees(mark, recording.format.is_complex) or start >= stop:
                continue
            if open_range is not None and open_range[1] == start:
                open_range = (open_range[0], stop)
                continue
            if open_range is not None:
                yield open_range
            open_range = (start, stop)
        if open_range is not None:
            yield open_range

    def sees(self, mark: Mark, is_complex: bool) -> bool:
        """Returns whether the band recorded with these settings overlaps ``band``."""
        rate = mark.sample_rate
        if self.band is None or rate is None or (is_complex and mark.frequency is None):
            return False
        centre = mark.frequency or 0.0
        low, high = (centre - rate / 2, centre + rate / 2) if is_complex else (centre, centre + rate / 2)
        return self.band[0] <= high and self.band[1] >= low


def _limits(time: Times) -> tuple[float, float]:
    if not isinstance(time, (tuple, list)) or len(time) != 2:
        raise _options.usage(f"time={time!r} is not (from, to)", "None for no limit")
    begin, end = (_utc_ns(one, otherwise) for one, otherwise in zip(time, (-math.inf, math.inf)))
    if begin > end:
        raise _options.usage(f"time={time!r} ends before it begins", "(from, to)")
    return begin, end


def _utc_ns(time: Any, otherwise: float) -> float:
    if time is None:
        return otherwise
    if isinstance(time, datetime.datetime) and time.tzinfo is not None:
        time = time.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    try:
        made = np.datetime64(time[:-1] if isinstance(time, str) and time.endswith("Z") else time, "ns")
    except (TypeError, ValueError):
        made = np.datetime64("NaT")
    if np.isnat(made):
        raise _options.usage(f"{time!r} is not a valid time", "UTC, such as 2026-11-26T23:00")
    return int(made.astype(np.int64))


def _index_of(recording: Recording, utc_ns: float) -> int | None:
    """Returns the index of the first sample that was not taken before the time ``utc_ns``, but at most the
    index of the next sample with a known time; None if no time is known."""
    dated = recording.dated
    if not dated:
        return None
    if math.isinf(utc_ns):
        return recording.start if utc_ns < 0 else recording.stop
    place = max((n for n, (_, at, _) in enumerate(dated) if at <= utc_ns), default=0)
    index, at, rate = dated[place]
    most = dated[place + 1][0] if place + 1 < len(dated) else recording.stop
    return min(max(index + math.ceil((utc_ns - at) * rate / 1e9), recording.start), most)


def _band(frequency: Frequencies) -> tuple[float, float]:
    pair = frequency if isinstance(frequency, (tuple, list)) else (frequency, frequency)
    if len(pair) != 2:
        raise _options.usage(f"frequency={frequency!r} is not a frequency or a pair (lowest, highest)",
                             'in Hz, or "2.4G"')
    low, high = (_options.rate("frequency", one) for one in pair)
    if low > high:
        raise _options.usage(f"frequency={frequency!r} ends before it begins", "(lowest, highest)")
    return low, high
