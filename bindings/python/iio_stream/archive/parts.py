# SPDX-License-Identifier: MIT
"""One part of a recording: the places of its samples in the object and in the stream."""
from __future__ import annotations

import bisect
import dataclasses
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .._format import Format
from .._sigmf import Capture, Description, RecordedGap, describe

_UTC = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?Z", re.ASCII)
_NUMBERED = re.compile(r".+\.([0-9]{4,18})", re.DOTALL)
DATA = ".sigmf-data"
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Gap:
    """A loss of samples. From the sample index ``index`` on, at least ``lost_min`` and at most ``lost_max``
    samples are missing (None: no upper bound is known). The loss may have begun at any index from
    ``earliest`` on. ``evidence`` is the recorder's, or ``"zero-fill"`` (the recording has zeros there),
    ``"missing part"``, or ``"index"`` (the metadata skip samples without giving a reason)."""

    index: int
    lost_min: int
    lost_max: int | None
    earliest: int
    evidence: str | None


@dataclass(frozen=True)
class Run:
    """Consecutive samples of one object without a gap. The first is sample ``start`` of the object and has
    the index ``index`` in the stream, which is a lower bound if ``exact`` is False. ``joins`` is True if no
    sample is missing before the run."""

    part: str
    start: int
    index: int
    samples: int
    exact: bool
    joins: bool

    @property
    def end(self) -> int:
        return self.index + self.samples


@dataclass(frozen=True)
class Mark:
    """The settings from sample ``index`` on: the time of that sample in nanoseconds since 1970 UTC, and the
    frequency and the sample rate in Hz; None if unknown."""

    index: int
    utc_ns: int | None
    frequency: float | None
    sample_rate: float | None


@dataclass(frozen=True)
class Part:
    """One pair of objects: samples and metadata. ``name`` is the name of the samples below the archive's URL,
    ``index`` is the sample index of the first sample, and ``sha512`` is the hash of the samples as stated in
    the metadata, None if it is not stated."""

    name: str
    number: int | None
    format: Format
    index: int
    samples: int
    device: str
    sha512: str | None
    marks: tuple[Mark, ...]
    runs: tuple[Run, ...]
    told: Description

    @property
    def meta(self) -> str:
        """The name of the metadata below the archive's URL."""
        return self.name[:-len("data")] + "meta"

    @property
    def end(self) -> int:
        """The index of the sample after the last one."""
        return _Captures(self.told).index_at(self.samples - 1) + 1 if self.samples else self.index


def part_of(stem: str, told: Description, samples: int) -> Part:
    """Makes the part whose objects have the name ``stem`` without suffix, from its metadata and its number of
    samples. Raises ValueError if these contradict each other."""
    numbered = _NUMBERED.fullmatch(stem) if told.state is not None else None  # otherwise, it may be a year
    number = int(numbered[1]) if numbered else None
    if number and samples and not told.has_first_index:
        number = None  # a recording begins here
    last, name = told.captures[-1], stem + DATA
    if last.start > samples or last.index + samples >= 1 << 62:
        raise ValueError(f"its last capture begins at sample {last.start}, index {last.index}, and there are "
                         f"{samples} samples")
    for begin, end in told.zeros:
        if end > samples:
            raise ValueError(f"zeros up to sample {end}, but there are only {samples} samples (from {begin})")
    if told.state is None:  # in recordings by other programs the captures show the gaps
        told = dataclasses.replace(told, gaps=())
    marks = tuple(Mark(one.index, utc_ns(one.datetime), one.frequency, one.sample_rate)
                  for one in told.captures)
    return Part(name, number, told.format, told.captures[0].index, samples, told.hardware, told.sha512, marks,
                tuple(_runs(name, told, samples)), told)


def description_of(text: str | bytes) -> Description:
    """Parses the text of metadata. Raises ValueError if it is invalid or not supported: samples must be in
    one object, without headers. Any deviation from SigMF is an error in a recording that iio-stream wrote; a
    recording of another program only has to be readable."""
    told = describe(text)
    if told.problems and told.state is not None:
        raise ValueError(told.problems[0])
    if told.dataset or told.metadata_only:
        key = "core:dataset" if told.dataset else "core:metadata_only"
        raise ValueError(f"global: {key} is not supported")
    if told.headers or told.trailing_bytes:
        raise ValueError("headers between the samples, and trailing bytes, are not supported")
    for number, (before, now) in enumerate(zip(told.captures, told.captures[1:]), 1):
        if now.index < before.index + now.start - before.start:
            raise ValueError(f"captures[{number}]: core:global_index = {now.index} does not continue the "
                             "previous capture")
    return told


def _runs(name: str, told: Description, samples: int) -> Iterator[Run]:
    cuts = {place for gap in told.gaps for place in (gap.offset_min, gap.offset_max)}
    cuts.update(place for zeros in told.zeros for place in zeros)
    cuts.update(now.start for before, now in zip(told.captures, told.captures[1:])
                if now.index - now.start != before.index - before.start or now.exact != before.exact)
    places = [*sorted(place for place in cuts | {0} if place < samples), samples]
    doubts = _Cover([(gap.offset_min, gap.offset_max) for gap in told.gaps])
    zeros = _Cover(list(told.zeros))
    captures = _Captures(told)
    for begin, end in zip(places, places[1:]):
        if not zeros.covers(begin):
            yield Run(name, begin, captures.index_at(begin), end - begin,
                      captures.at(begin).exact and not doubts.covers(begin), begin not in cuts)


class _Captures:
    """Finds the capture that applies to a sample."""

    def __init__(self, told: Description) -> None:
        self._captures = told.captures
        self._starts = [capture.start for capture in told.captures]

    def at(self, place: int) -> Capture:
        return self._captures[bisect.bisect_right(self._starts, place) - 1]

    def index_at(self, place: int) -> int:
        capture = self.at(place)
        return capture.index + place - capture.start


class _Cover:
    """Tests whether places are in any of several intervals [begin, end). Places must be passed in ascending
    order."""

    def __init__(self, intervals: list[tuple[int, int]]) -> None:
        self._intervals = sorted(intervals, reverse=True)
        self._end = 0

    def covers(self, place: int) -> bool:
        while self._intervals and self._intervals[-1][0] <= place:
            self._end = max(self._end, self._intervals.pop()[1])
        return place < self._end


def gaps_of(part: Part, before: Part | None) -> Iterator[Gap]:
    """Yields the gaps of a part, and the gap between it and the previous part. Raises ValueError if more
    samples are missing according to the annotations than according to the indexes."""
    told = part.told
    notes: dict[int, list[RecordedGap]] = {0: []} if before else {}
    for note in sorted(told.gaps, key=lambda note: note.offset_max):
        notes.setdefault(note.offset_max, []).append(note)
    for one, following in zip(told.captures, told.captures[1:]):
        if following.index - following.start != one.index - one.start:
            notes.setdefault(following.start, [])
    captures = _Captures(told)
    for begin, end in told.zeros:
        index = captures.index_at(begin)
        yield Gap(index, end - begin, end - begin, index, "zero-fill")
    for place, found in sorted(notes.items()):
        yield from _gaps_at(part, place, found, captures, before)


def _gaps_at(part: Part, place: int, notes: list[RecordedGap], captures: _Captures,
             before: Part | None) -> Iterator[Gap]:
    least = sum(note.lost_min for note in notes)
    if place == 0:
        index = part.index - least if before is None else before.end
    else:
        index = captures.index_at(min(place, part.samples) - 1) + 1
    missing = least if place >= part.samples else captures.index_at(place) - index
    if missing < least or index < 0:
        raise ValueError(f"annotations say that {least} samples are missing before sample {place}, but the "
                         f"indexes say {missing}")
    for note in notes:
        yield Gap(index, note.lost_min, note.lost_max, max(index - (note.offset_max - note.offset_min), 0),
                  note.evidence)
        index += note.lost_min
    if missing > least:
        follows = place != 0 or before is None or before.number is None or part.number == before.number + 1
        yield Gap(index, missing - least, missing - least, index, "index" if follows else "missing part")


def utc_ns(text: str | None) -> int | None:
    """Converts a core:datetime of SigMF to nanoseconds since 1970 UTC. Raises ValueError if it is invalid."""
    if text is None:
        return None
    found = _UTC.fullmatch(text)
    if not found:
        raise ValueError(f"core:datetime = {text[:80]!r} is not a UTC time such as 2026-01-01T00:00:00.5Z")
    year, month, day, hour, minute, second = (int(word) for word in found.groups()[:6])
    leap = second == 60
    since = datetime.datetime(year, month, day, hour, minute, second - leap) - _EPOCH
    return (since.days * 86_400 + since.seconds + leap) * 1_000_000_000 + int((found[7] or "0").ljust(9, "0"))
