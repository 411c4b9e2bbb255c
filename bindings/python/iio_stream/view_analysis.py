# SPDX-License-Identifier: MIT
"""Collects the data of a picture block by block, from every sample, in memory of constant size."""
from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _html
from ._core import Block
from .view_measurement import Measurement, SeenGap
from .view_signal import Signal, decibels

_POINTS = 256    # samples of a frame that the constellation keeps
_FRAMES = 32     # frames of the constellation, at least; at twice this number, every other one is removed
_GAPS = 1000     # gaps that are listed, at most; all of them are counted


class View(Measurement):
    """The analysis of a channel. ``frequencies`` are in Hz, and ``times``, the edges of the waterfall's rows,
    in seconds. If ``rate`` is None, they are in cycles per sample and in samples. ``spectrum`` (the mean),
    ``highest`` (the maximum) and ``waterfall``, of shape (rows, frequencies), are in dBFS. Rows without
    samples are NaN. ``points`` are samples for the constellation, relative to full scale."""

    def save(self, path: Any) -> None:
        """Draws the analysis into a PNG. Raises ImportError without matplotlib."""
        from .view_picture import save  # everything else works without matplotlib
        save(self, path)

    @cached_property
    def _png(self) -> bytes | None:  # a notebook asks for the picture and for the HTML that has it
        picture = io.BytesIO()
        try:
            self.save(picture)
        except ImportError:
            return None
        return picture.getvalue()

    def _repr_png_(self) -> bytes | None:
        """Returns the picture for a notebook; None without matplotlib."""
        return self._png

    def _repr_html_(self) -> str:
        """Returns the picture, if matplotlib is installed, and a table of the results for a notebook."""
        data = "" if self._png is None else base64.b64encode(self._png).decode()
        return _html.table(f"{self.source}: {self.channel}", self._results(),
                           data and f"data:image/png;base64,{data}")

    def _results(self) -> Iterator[tuple[str, str]]:
        where, level = self.peak
        lost = sum(gap.lost_min for gap in self.gaps)
        yield "samples", f"{self.samples:,}, full scale is {self.bits} bits"
        yield "sample rate", f"{self.rate:,.15g} S/s" if self.rate else "not known"
        yield "centre", "not known" if self.centre is None else f"{self.centre:,.15g} Hz"
        yield "highest", f"{level:.2f} dBFS at " + (f"{where:,.0f} Hz" if self.rate else f"{where:.4f}")
        exact = len(self.gaps) == self.gap_count and all(gap.lost_min == gap.lost_max for gap in self.gaps)
        least = "" if exact else "at least "
        yield "losses", f"{self.gap_count:,}" + (f", {least}{lost:,} samples" if lost else "")


class Analysis:
    """Adds up the blocks of one stream. Each row of the waterfall has one frame until there are twice as many
    rows as requested. Then every two rows are merged into one."""

    def __init__(self, signal: Signal, rows: int) -> None:
        self._signal = signal
        self._rows = 2 * rows
        self._power = np.zeros((self._rows, signal.bins))
        self._count = np.zeros(self._rows, np.int64)
        self._highest = np.zeros(signal.bins)
        self._row_samples = signal.length
        self._first: int | None = None
        self._rest: npt.NDArray[Any] = np.empty(0, np.complex64)  # samples of a frame that is not full yet
        self._next = 0  # index of the sample that continues that frame
        self._points: list[npt.NDArray[Any]] = []
        self._stride = 1
        self._frame = 0
        self._gaps: list[tuple[int, int, int | None]] = []
        self._gap_count = 0
        self._samples = 0

    def add(self, block: Block) -> None:
        if self._first is None:
            self._first = self._next = block.sample_index
        values = self._signal.values(block)
        self._samples += len(values)
        for begin, end, index in self._runs(block):
            self._add_run(values[begin:end], index - self._first)

    def _runs(self, block: Block) -> Iterator[tuple[int, int, int]]:
        """Yields the parts of a block between losses: begin, end and the index in the stream."""
        at, index = 0, block.sample_index
        for gap in sorted(block.gaps, key=lambda gap: gap.offset_min):
            before = gap.offset_max <= block.position  # if so, the block's index includes the loss
            cut = 0 if before else min(max(gap.offset_min - block.position, at), len(block))
            if cut > at:
                yield at, cut, index
                index, at = index + cut - at, cut
            self._note(index - (gap.lost_min if before else 0), gap.lost_min, gap.lost_max)
            index += 0 if before else gap.lost_min
        if at < len(block):
            yield at, len(block), index

    def _note(self, index: int, least: int, most: int | None) -> None:
        self._gap_count += 1
        if len(self._gaps) < _GAPS:
            self._gaps.append((index - (self._first or 0), least, most))

    def _add_run(self, values: npt.NDArray[Any], index: int) -> None:
        if index == self._next and len(self._rest):
            values = np.concatenate((self._rest, values))
            index -= len(self._rest)
        self._next = index + len(values)
        length = self._signal.length
        count = len(values) // length
        self._rest = values[count * length:].copy()
        if count > 0:
            self._add_frames(values[:count * length].reshape(count, length), index)

    def _add_frames(self, frames: npt.NDArray[Any], index: int) -> None:
        powers = self._signal.powers(frames)
        self._highest = np.maximum(self._highest, powers.max(axis=0))
        last = index + (len(frames) - 1) * frames.shape[1]
        while last // self._row_samples >= self._rows:
            self._halve()
        rows = (index + np.arange(len(frames)) * frames.shape[1]) // self._row_samples
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        self._power[rows[starts]] += np.add.reduceat(powers, starts, axis=0)
        self._count += np.bincount(rows, minlength=self._rows)
        for frame in frames:
            self._keep(frame)

    def _halve(self) -> None:
        half = self._rows // 2
        self._power[:half] = self._power[0::2] + self._power[1::2]
        self._count[:half] = self._count[0::2] + self._count[1::2]
        self._power[half:] = 0
        self._count[half:] = 0
        self._row_samples *= 2

    def _keep(self, frame: npt.NDArray[Any]) -> None:
        """Keeps adjacent samples of evenly spaced frames. Evenly spaced single samples would hide signals
        with the same period."""
        if self._frame % self._stride == 0:
            self._points.append(frame[:_POINTS].copy())
            if len(self._points) >= 2 * _FRAMES:
                self._points = self._points[::2]
                self._stride *= 2
        self._frame += 1

    def view(self, source: str) -> View:
        """Returns the analysis of all blocks so far."""
        if self._frame == 0 and len(self._rest) > 0:  # shorter than a frame
            self._add_frames(self._rest[np.newaxis], 0)
            self._points = [self._rest]
        step = 1 / (self._signal.rate or 1.0)
        used = int(np.flatnonzero(self._count)[-1]) + 1 if self._count.any() else 1
        with np.errstate(invalid="ignore", divide="ignore"):
            rows = self._power[:used] / self._count[:used, np.newaxis]
        total = max(int(self._count.sum()), 1)
        return View(
            source=source, channel=self._signal.name, is_complex=self._signal.is_complex,
            bits=self._signal.bits, rate=self._signal.rate, centre=self._signal.centre,
            samples=self._samples, frequencies=self._signal.frequencies,
            spectrum=decibels(self._power.sum(axis=0) / total), highest=decibels(self._highest),
            times=np.arange(used + 1) * self._row_samples * step, waterfall=decibels(rows),
            points=np.concatenate(self._points) if self._points else np.empty(0),
            gaps=tuple(SeenGap(index * step, least, most) for index, least, most in self._gaps),
            gap_count=self._gap_count)
