# SPDX-License-Identifier: MIT
"""Draws a waterfall of all samples of an archive over the time in UTC, with the gaps."""
from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _options
from ..view_signal import decibels
from .index import Archive
from .products import Spectrogram, spectrogram
from .recordings import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PANELS = 8
_DEPTH = 120  # dB below the highest level; lower levels are not distinguished

#: Computes Dask arrays.
Compute = Callable[[list[Any]], list[npt.NDArray[np.float64]]]


@dataclass(frozen=True)
class _Band:
    """Samples that were recorded at one frequency and rate, and their spectra."""

    recording: Recording
    seen: Spectrogram
    is_complex: bool


def save(archive: Archive, path: Any, compute: Compute, *, rows: int = 512, bins: int = 1024,
         channel: str | None = None) -> None:
    """Draws a PNG of about ``rows`` rows, with one panel for each pair of frequency and rate. Raises
    UsageError if there are too many such pairs, or no samples with a time, and ImportError without
    matplotlib."""
    panels = _panels(archive, rows, bins, channel)
    bands = [band for panel in panels for band in panel]
    levels = [decibels(power) for power in compute([band.seen.power for band in bands])]
    figure = _figure(panels, {id(band): level for band, level in zip(bands, levels)})
    figure.suptitle(archive.url)
    figure.savefig(path, format="png", dpi=100)


def _panels(archive: Archive, rows: int, bins: int, channel: str | None) -> list[list[_Band]]:
    cuts = [cut for recording in archive for cut in _tuned(recording) if cut.dated and cut.runs]
    if not cuts:
        raise _options.usage(f"{archive.url} has no samples with a time and a rate", "select others")
    times = [time for cut in cuts for time in (_utc(cut, cut.start), _utc(cut, cut.stop))]
    seconds = (max(times) - min(times)) / 1e9 / max(rows, 1)
    panels: dict[tuple[Any, ...], list[_Band]] = {}
    for cut in cuts:
        length = bins if cut.format.is_complex else 2 * (bins - 1)
        frames = min(round(seconds * (cut.sample_rate or 0) / length), len(cut) // length)
        if len(cut) >= length:
            seen = spectrogram(cut, bins=bins, average=max(frames, 1), channel=channel)
            key = (cut.frequency, cut.sample_rate, cut.format.is_complex)
            panels.setdefault(key, []).append(_Band(cut, seen, cut.format.is_complex))
    if not 0 < len(panels) <= _MOST_PANELS:
        raise _options.usage(f"{archive.url}: {len(panels)} frequencies and rates, but a picture has 1 to "
                             f"{_MOST_PANELS}", "select some of them; few bins suit few samples")
    return list(panels.values())


def _tuned(recording: Recording) -> Iterator[Recording]:
    """Yields the parts of a recording between its retunings."""
    changes = [next(marks).index for _, marks in
               itertools.groupby(recording.marks, lambda mark: (mark.frequency, mark.sample_rate))]
    for start, stop in zip(changes, (*changes[1:], recording.stop)):
        yield recording.cut(start, stop)


def _utc(recording: Recording, index: int) -> int:
    return recording.utc_ns(index) or 0


def _figure(panels: list[list[_Band]], levels: dict[int, npt.NDArray[np.float64]]) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib ({error}): pip install 'iio-stream[archive]'") from error

    made = Figure(figsize=(8 + 4 * len(panels), 9), layout="constrained")
    known = np.concatenate([level[np.isfinite(level)] for level in levels.values()])
    highest = float(known.max(initial=-200))
    limits = (max(float(known.min(initial=highest)), highest - _DEPTH), highest)
    axes = made.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, panels):
        mesh = _panel(axis, panel, levels, limits)
    axes[0].invert_yaxis()
    made.colorbar(mesh, ax=axes, label="dBFS")
    return made


def _panel(axis: Any, panel: list[_Band], levels: dict[int, npt.NDArray[np.float64]],
           limits: tuple[float, float]) -> Any:
    dates: Any = importlib.import_module("matplotlib.dates")
    ticker: Any = importlib.import_module("matplotlib.ticker")

    def days(times: list[int]) -> Any:
        return dates.date2num(np.array(times, "datetime64[ns]"))

    gaps: list[int] = []
    for band in panel:
        frequencies, level, one = band.seen.frequencies, levels[id(band)], band.recording
        half = (frequencies[1] - frequencies[0]) / 2
        times = days([_utc(one, one.start + row * band.seen.row_samples) for row in range(len(level) + 1)])
        mesh = axis.pcolormesh(np.append(frequencies - half, frequencies[-1] + half), times, level,
                               vmin=limits[0], vmax=limits[1], cmap="viridis", rasterized=True)
        gaps.extend(_utc(one, gap.index) for gap in one.gaps)
    axis.set_facecolor("mistyrose")  # the background where samples are missing
    axis.hlines(days(gaps), *axis.get_xlim(), color="tab:red", linewidth=1, label=f"{len(gaps)} gaps")
    axis.yaxis.set_major_locator(dates.AutoDateLocator())
    axis.yaxis.set_major_formatter(dates.ConciseDateFormatter(axis.yaxis.get_major_locator()))
    axis.xaxis.set_major_formatter(ticker.EngFormatter("Hz"))
    if gaps:
        axis.legend(loc="upper right")
    relative = panel[0].is_complex and panel[0].recording.frequency is None
    axis.set(xlabel="frequency from the centre" if relative else "frequency", ylabel="UTC")
    return mesh
