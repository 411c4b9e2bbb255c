# SPDX-License-Identifier: MIT
"""Everything that is known of a stream after its end."""
from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import Error
from .stats import GapTotals, Route, SinkStats, Stats


@dataclass(frozen=True)
class Latency:
    """Microseconds from a block's last sample to its being done with by a sink."""

    p50: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True)
class Summary:
    """What the command prints at a stream's end; ``words`` is the object of its ``--json``, as
    docs/schema/summary.schema.json describes it.

    ``ended`` is ``"duration"``, ``"samples"``, ``"bytes"``, ``"eof"``, ``"signal"``, ``"gap"`` or
    ``"error"``; ``reports`` are the sinks' own results (None where a sink has none): verify:'s counts,
    a file's names.
    """

    words: Mapping[str, Any]
    stats: Stats
    route: Route
    latency: Latency
    reports: tuple[Mapping[str, Any] | None, ...]
    ended: str
    error: Error | None

    @classmethod
    def _from(cls, text: str, stats: Mapping[str, Any], error: Error | None) -> Summary:
        words = json.loads(text)
        latency = Latency(*(words["latency_us"][key] for key in ("p50", "p99", "p999", "max")))
        reports = tuple(sink.get("report") for sink in words["sinks"])
        return cls(words, Stats._from(stats), Route._from(words["route"]), latency, reports, words["ended"],
                   error)

    @property
    def gaps(self) -> GapTotals:
        return self.stats.gaps

    @property
    def sinks(self) -> tuple[SinkStats, ...]:
        return self.stats.sinks

    @property
    def copies(self) -> int:
        """By a CPU, per sample, of all hops together."""
        return int(self.words["copies"])

    @property
    def samples_per_second(self) -> float:
        return self.stats.samples / self.stats.seconds if self.stats.seconds > 0 else 0.0
