# SPDX-License-Identifier: MIT
"""Draws spectrum, waterfall and constellation into one PNG."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .view_measurement import Measurement

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter
except ImportError as error:
    raise ImportError("pictures need matplotlib: pip install matplotlib, or Debian's "
                      "python3-matplotlib") from error

_DEPTH = 120  # dB below the highest level; lower levels are not distinguished
_GAP = "tab:red"


def save(view: Measurement, path: Any) -> None:
    """Draws a measurement into a PNG."""
    figure(view).savefig(path, format="png", dpi=100)


def show(view: Measurement) -> None:
    """Shows a measurement in a window until the user closes it. Raises ImportError if Matplotlib cannot open
    windows here."""
    from matplotlib import pyplot  # chooses the library that opens windows
    if pyplot.get_backend().lower() == "agg":
        raise ImportError("Matplotlib has no library that opens windows: install Debian's python3-tk")
    draw(view, pyplot.figure(figsize=(12, 9), layout="constrained"))
    pyplot.show()


def figure(view: Measurement) -> Figure:
    """Returns a drawing of a measurement. Needs no display."""
    made = Figure(figsize=(12, 9), layout="constrained")
    draw(view, made)
    return made


def draw(view: Measurement, made: Figure) -> None:
    """Draws a measurement into a figure."""
    grid = made.add_gridspec(2, 2, width_ratios=(2, 1), height_ratios=(1, 1.2))
    _spectrum(made.add_subplot(grid[0, 0]), view)
    _waterfall(made, made.add_subplot(grid[1, 0]), view)
    _points(made.add_subplot(grid[0, 1]), view)
    _words(made.add_subplot(grid[1, 1]), view)
    made.suptitle(f"{view.source}: {view.channel}")


def _frequency_axis(axis: Any, view: Measurement) -> None:
    low, high = view.frequencies[[0, -1]]
    axis.set_xlim(low, high)
    if view.rate is None:
        axis.set_xlabel("cycles per sample")
        return
    # Enough digits to distinguish the marks of this span, even far from 0.
    unit = 1000 ** max(math.floor(math.log10(max(abs(low), abs(high), 1)) / 3), 0)
    places = max(math.ceil(math.log10(unit * 10 / (high - low))), 0)
    axis.xaxis.set_major_formatter(EngFormatter("Hz", places))
    relative = view.is_complex and view.centre is None
    axis.set_xlabel("frequency from the centre" if relative else "frequency")


def _floor(view: Measurement) -> float:
    return float(max(view.spectrum.min(), view.highest.max() - _DEPTH))


def _spectrum(axis: Any, view: Measurement) -> None:
    axis.plot(view.frequencies, view.highest, color="0.7", linewidth=0.8, label="highest")
    axis.plot(view.frequencies, view.spectrum, color="tab:blue", linewidth=1, label="mean")
    where, level = view.peak
    axis.plot([where], [level], marker="v", color="tab:orange", linestyle="", label=f"{level:.2f} dBFS")
    _frequency_axis(axis, view)
    axis.set_ylim(_floor(view) - 3, max(float(view.highest.max()), -3) + 6)
    axis.set_ylabel("dBFS")
    axis.grid(alpha=0.3)
    axis.legend(loc="upper right")


def _waterfall(made: Figure, axis: Any, view: Measurement) -> None:
    half = (view.frequencies[1] - view.frequencies[0]) / 2
    edges = np.append(view.frequencies - half, view.frequencies[-1] + half)
    mesh = axis.pcolormesh(edges, view.times, view.waterfall, vmin=_floor(view),
                           vmax=float(view.highest.max()), cmap="viridis", rasterized=True)
    axis.set_facecolor("mistyrose")  # the background where samples are missing
    step = 1 / (view.rate or 1.0)
    for gap in view.gaps:
        axis.axhspan(gap.seconds, gap.seconds + gap.lost_min * step, color=_GAP, alpha=0.25, linewidth=0)
        axis.axhline(gap.seconds, color=_GAP, linewidth=1, linestyle="-" if gap.lost_min else ":")
    _frequency_axis(axis, view)
    axis.set_ylim(view.times[-1], 0)
    axis.set_ylabel("samples" if view.rate is None else "seconds")
    made.colorbar(mesh, ax=axis, label="dBFS")


def _points(axis: Any, view: Measurement) -> None:
    if not view.is_complex:
        axis.hist(view.points.real, bins=100, color="tab:blue")
        axis.set_xlabel("of full scale")
        axis.set_ylabel("samples")
        return
    reach = 1.1 * float(max(np.abs(view.points.real).max(), np.abs(view.points.imag).max(), 1e-6)) \
        if len(view.points) else 1.0
    axis.plot(view.points.real, view.points.imag, ".", markersize=4, alpha=0.4, color="tab:blue")
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="I, of full scale",
             ylabel="Q, of full scale")
    axis.locator_params(nbins=5)
    axis.grid(alpha=0.3)


def _words(axis: Any, view: Measurement) -> None:
    where, level = view.peak
    lost = sum(gap.lost_min for gap in view.gaps)
    exact = len(view.gaps) == view.gap_count and all(gap.lost_min == gap.lost_max for gap in view.gaps)
    least = "" if exact else "at least "
    lines = [f"{view.samples} samples, full scale is {view.bits} bits",
             f"rate {EngFormatter('S/s')(view.rate) if view.rate else 'not known'}",
             f"centre {'not known' if view.centre is None else f'{view.centre:,.0f} Hz'}",
             f"highest {level:.2f} dBFS at " + (f"{where:,.0f} Hz" if view.rate else f"{where:.4f}"),
             f"gaps: {view.gap_count}" + (f", {least}{lost} samples lost" if lost else "")]
    for gap in view.gaps[:12]:
        at = f"{gap.seconds:.6g} s" if view.rate else f"sample {gap.seconds:.0f}"
        most = "" if gap.lost_max == gap.lost_min else f" to {gap.lost_max or '?'}"
        lines.append(f"  at {at}: {gap.lost_min}{most} samples")
    axis.axis("off")
    axis.text(0, 1, "\n".join(lines), va="top", transform=axis.transAxes)
