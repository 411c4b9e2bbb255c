# SPDX-License-Identifier: MIT
"""The counters of a stream, and the route of its samples."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Playback:
    """The counters of a device that plays samples. ``underflows`` is the number of times that its queue ran
    empty, and ``repeats`` the number of times that ``cyclic=`` has replayed all samples.
    ``unverified_blocks`` is the number of blocks without a status from the kernel. ``rate`` is in samples per
    second (None: unknown).
    ``cyclic`` is the mechanism that repeats the samples: ``"hardware"``, whose repeats are computed from time
    and rate, ``"software"``, or None."""

    underflows: int
    repeats: int
    unverified_blocks: int
    rate: float | None
    cyclic: str | None = None


@dataclass(frozen=True)
class SinkStats:
    """The counters of one sink. ``lag_high_water`` is the largest number of blocks that it held at one
    time."""

    delivered_samples: int
    dropped_samples: int
    bytes: int
    lag_high_water: int
    playback: Playback | None = None


@dataclass(frozen=True)
class GapTotals:
    """The number of certain and possible gaps, and of the samples lost in them: at least ``lost_min``, at
    most ``lost_max`` (None if the upper bound is unknown)."""

    certain: int
    possible: int
    lost_min: int
    lost_max: int | None


@dataclass(frozen=True)
class Stats:
    """The counters of one pipeline, a snapshot while it runs. A Reader is the last of ``sinks``.

    ``seconds`` is the time from the start until the last sample reached its sinks, ``source_seconds`` until
    the source had it. Neither includes closing the endpoints.
    """

    samples: int
    bytes: int
    blocks: int
    seconds: float
    source_seconds: float
    gaps: GapTotals
    sinks: tuple[SinkStats, ...]

    @classmethod
    def _from(cls, words: Mapping[str, Any]) -> Stats:
        sinks = tuple(
            SinkStats(**{**sink, "playback": Playback(**sink["playback"]) if sink["playback"] else None})
            for sink in words["sinks"])
        return cls(**{**words, "gaps": GapTotals(**words["gaps"]), "sinks": sinks})


@dataclass(frozen=True)
class Hop:
    """One step on the route of the samples. ``copies`` is the number of copies that the CPU makes of each
    sample, and ``reason`` explains them.

    ``memory`` and ``page_bytes`` describe the blocks; ``segments`` is the number of pieces of each.
    ``warning`` describes a risk of this mechanism. It is also issued as a RuntimeWarning before the stream
    starts.
    """

    source: str
    to: str
    mechanism: str
    memory: str | None
    page_bytes: int | None
    segments: int | None
    copies: int
    reason: str | None
    warning: str | None = None

    def __str__(self) -> str:
        way = ", ".join(part for part in (self.mechanism, self.memory) if part)
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.source} -> {self.to}: {way}, {self.copies} copies{reason}"


class Route(tuple[Hop, ...]):
    """All hops of a pipeline. Printed, it has one line for each hop."""

    @classmethod
    def _from(cls, hops: Iterable[Mapping[str, Any]]) -> Route:
        return cls(Hop(source=hop["from"], to=hop["to"], mechanism=hop["mechanism"],
                       memory=hop.get("memory"), page_bytes=hop.get("page_bytes"),
                       segments=hop.get("segments"), copies=hop["copies"], reason=hop["reason"],
                       warning=hop.get("warning"))
                   for hop in hops)

    @property
    def copies(self) -> int:
        """The number of copies that the CPU makes of each sample, over all hops."""
        return sum(hop.copies for hop in self)

    def __str__(self) -> str:
        return "\n".join(str(hop) for hop in self)
