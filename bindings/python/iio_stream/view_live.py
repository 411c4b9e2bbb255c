# SPDX-License-Identifier: MIT
"""Shows the spectrum of a running source in the terminal, with its rate and its losses."""
from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._core import Block
from ._options import Duration, Endpoint, Rate, Size
from .reader import Reader, source
from .stats import Stats
from .view_signal import Signal, decibels, peak_of, signal_of

try:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.text import Text
except ImportError as error:
    raise ImportError("the live view needs rich: pip install rich, or Debian's "
                      "python3-rich") from error

_BARS = " ▁▂▃▄▅▆▇█"
_STEP = 10        # dB per line
_FRAMES = 16      # frames of a block that are analyzed, at most; all of its samples are counted
_WEIGHT = 0.5     # weight of the latest spectrum in the moving average
_PERIOD = 0.1     # seconds between updates


class Screen:
    """The content of the terminal. Call ``update()`` with a block from time to time, and print the object
    with rich."""

    def __init__(self, signal: Signal, height: int = 12) -> None:
        self._signal = signal
        self._height = height
        self._power: npt.NDArray[np.float64] | None = None
        self._stats: Stats | None = None

    def update(self, block: Block | None, stats: Stats) -> None:
        self._stats = stats
        length = self._signal.length
        if block is None or len(block) < length:
            return
        values = self._signal.values(block)
        count = min(len(values) // length, _FRAMES)
        power = self._signal.powers(values[:count * length].reshape(count, length)).mean(axis=0)
        self._power = power if self._power is None else _WEIGHT * power + (1 - _WEIGHT) * self._power

    @property
    def peak(self) -> tuple[float, float] | None:
        """The frequency and the level in dBFS of the highest bin; None before the first block."""
        if self._power is None:
            return None
        return peak_of(self._signal.frequencies, decibels(self._power))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._bars(max(options.max_width - 7, 8))
        yield Text(self._status(), no_wrap=True, overflow="ellipsis")

    def _bars(self, width: int) -> list[Text]:
        power = np.zeros(self._signal.bins) if self._power is None else self._power
        # A column shows the highest of its bins, so that no tone is missed.
        columns = decibels([part.max() for part in np.array_split(power, min(width, len(power)))])
        lines = []
        for line in range(self._height):
            bottom = -_STEP * (line + 1)
            eighths = np.clip((columns - bottom) / _STEP * 8, 0, 8).astype(int)
            lines.append(Text(f"{bottom + _STEP:5d} │", style="dim")
                         .append("".join(_BARS[part] for part in eighths), style="cyan"))
        low, middle, high = (_short(self._signal, place) for place in (0, self._signal.bins // 2, -1))
        wide = len(columns)
        axis = low + middle.center(max(wide - len(low) - len(high), 0)) + high
        return [*lines, Text(" dBFS  " + axis[:wide], style="dim")]

    def _status(self) -> str:
        if self._stats is None:
            return "no samples yet"
        stats, gaps = self._stats, self._stats.gaps
        rate = stats.samples / stats.seconds if stats.seconds > 0 else 0.0
        most = "unknown" if gaps.lost_max is None else str(gaps.lost_max)
        dropped = max((sink.dropped_samples for sink in stats.sinks), default=0)
        told = f"{rate / 1e6:.3f} MS/s  {stats.samples} samples"
        told += f"  {gaps.certain} gaps, {gaps.possible} possible"
        if gaps.certain or gaps.possible:
            told += f" (lost {gaps.lost_min} to {most})"
        if dropped:
            told += f"  {dropped} not analyzed"
        if self.peak is not None:
            told += f"  highest {self.peak[1]:.2f} dBFS at {_hertz(self._signal, self.peak[0])}"
        return told


def _hertz(signal: Signal, frequency: float) -> str:
    return f"{frequency:,.0f} Hz" if signal.rate else f"{frequency:.4f} cycles/sample"


def _short(signal: Signal, place: int) -> str:
    return _hertz(signal, float(signal.frequencies[place]))


def watch(endpoint: Endpoint, /, *, console: Console | None = None, channel: str | None = None,
          bins: int = 1024, centre: Rate | None = None, samples: Size | None = None,
          duration: Duration | None = None, **options: Any) -> Stats:
    """Shows a source until the limit ``samples`` or ``duration``, its end, or Ctrl-C. Returns its
    counters."""
    address = _options.uri(endpoint, **options)
    with source(address, samples=samples, duration=duration, on_full="drop") as rx:
        screen = Screen(signal_of(rx, channel, bins, centre))
        with Live(screen, console=console, auto_refresh=False) as live:
            with contextlib.suppress(KeyboardInterrupt):
                _show(rx, screen, live)
            screen.update(None, rx.stats)
            live.refresh()
        return rx.stats


def _show(rx: Reader, screen: Screen, live: Live) -> None:
    due = 0.0
    while not rx.ended:
        block = rx.next(timeout=_PERIOD)
        now = time.monotonic()
        if now < due and block is not None:
            continue
        due = now + _PERIOD
        screen.update(block, rx.stats)
        live.refresh()
