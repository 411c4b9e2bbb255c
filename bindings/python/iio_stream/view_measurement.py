# SPDX-License-Identifier: MIT
"""The measurements of a channel: levels over frequency and time, points, and losses."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .view_signal import peak_of


@dataclass(frozen=True)
class SeenGap:
    """A loss of ``lost_min`` to ``lost_max`` samples, ``seconds`` after the first sample.

    If the rate is unknown, ``seconds`` is a number of samples. If no upper bound is known,
    ``lost_max`` is None."""

    seconds: float
    lost_min: int
    lost_max: int | None


@dataclass(frozen=True)
class Measurement:
    """The fields of a View, which view_picture draws."""

    source: str
    channel: str
    is_complex: bool
    bits: int
    rate: float | None
    centre: float | None
    samples: int
    frequencies: npt.NDArray[np.floating[Any]]
    spectrum: npt.NDArray[np.float64]
    highest: npt.NDArray[np.float64]
    times: npt.NDArray[np.floating[Any]]
    waterfall: npt.NDArray[np.float64]
    points: npt.NDArray[Any]
    gaps: tuple[SeenGap, ...]
    gap_count: int

    @property
    def peak(self) -> tuple[float, float]:
        """The frequency and the level in dBFS of the highest bin of the mean spectrum."""
        return peak_of(self.frequencies, self.spectrum)
