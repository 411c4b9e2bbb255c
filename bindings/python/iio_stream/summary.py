# SPDX-License-Identifier: MIT
"""The summary of a stream after its end."""
from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import Error
from .stats import GapTotals, Route, SinkStats, Stats


@dataclass(frozen=True)
class Latency:
    """Latency in microseconds, from the last sample of a block until a sink had processed the block: the
    percentiles 50, 99 and 99.9, and the maximum."""

    p50: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True, repr=False)
class Summary:
    """Everything known about a stream after its end, as the command prints it. ``words`` is the object that
    ``--json`` prints, described in docs/schema/summary.schema.json.

    ``ended`` is ``"duration"``, ``"samples"``, ``"bytes"``, ``"eof"``, ``"signal"`` (the user or the
    program stopped it), ``"stopped"`` (another stream of the session failed), ``"gap"`` or ``"error"``.
    ``reports`` are the results of the sinks, such as the counts of verify: and the names of files; None for a
    sink without a result. ``error`` is the Error that ended the stream, or None.
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
        """The number of copies that the CPU makes of each sample, over all hops."""
        return int(self.words["copies"])

    @property
    def samples_per_second(self) -> float:
        return self.stats.samples / self.stats.seconds if self.stats.seconds > 0 else 0.0

    def __repr__(self) -> str:
        return f"<iio_stream.Summary: {self}>"

    def __str__(self) -> str:
        return ", ".join(self._told().values())

    def _repr_html_(self) -> str:
        """Returns the summary as an HTML table, for notebooks."""
        cells = {**self._told(), "route": str(self.route)}
        rows = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
                for name, value in cells.items())
        return "<table>" + "".join(rows).replace("\n", "<br>") + "</table>"

    def _told(self) -> dict[str, str]:
        told = {"samples": f"{self.stats.samples} samples in {self.stats.seconds:.3g} s",
                "rate": f"{self.samples_per_second:.4g} per second", "lost": self._lost()}
        dropped = sum(sink.dropped_samples for sink in self.sinks)
        if dropped:
            told["dropped"] = f"{dropped} dropped"
        told["ended"] = f"ended by {self.ended}"
        if self.error is not None:
            told["error"] = str(self.error)
        return told

    def _lost(self) -> str:
        gaps = self.gaps
        if gaps.certain == gaps.possible == 0:
            return "no gaps"
        most = "an unknown number" if gaps.lost_max is None else str(gaps.lost_max)
        count = most if gaps.lost_max == gaps.lost_min else f"{gaps.lost_min} to {most}"
        return f"{gaps.certain} certain gaps, {gaps.possible} possible, {count} samples lost"
