# SPDX-License-Identifier: MIT
"""The samples of one channel relative to full scale, and their power over frequency."""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._core import Block
from ._format import Format
from ._options import Rate
from .reader import Reader

#: HFT90D of Heinzel, Ruediger and Schilling (2002): a tone between two bins reads at most 0.004 dB too low.
_FLAT_TOP = (1.0, -1.942604, 1.340318, -0.440811, 0.043097)
_LEAST = 1e-20  # -200 dBFS, the level shown for silence


def decibels(power: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Converts powers relative to full scale to dBFS."""
    made: npt.NDArray[np.float64] = 10 * np.log10(np.maximum(power, _LEAST))  # NaN stays NaN
    return made


def peak_of(frequencies: npt.NDArray[Any], levels: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Returns the frequency and the level of the highest bin."""
    place = int(np.argmax(levels))
    return float(frequencies[place]), float(levels[place])


def _window(length: int) -> npt.NDArray[np.float64]:
    """Returns a flat-top window whose sum is 1; a rectangular one if there are too few samples for it."""
    if length < 16:
        return np.full(length, 1 / length)
    steps = 2 * np.pi * np.arange(length) / length
    window = np.asarray(sum(part * np.cos(order * steps) for order, part in enumerate(_FLAT_TOP)))
    made: npt.NDArray[np.float64] = window / np.sum(window)
    return made


class Signal:
    """A channel of a format: an I/Q pair, selected by the name of either part, or a real channel; if
    ``channel`` is None, the first one. Spectra have ``bins`` points, which cover the whole bandwidth. Raises
    UsageError for an unknown channel."""

    def __init__(self, format: Format, channel: str | None, bins: int, centre: float | None) -> None:
        names = [one.id for one in format.channels]
        if channel is None:
            channel = next((one.id for one in format.channels if one.component != "counter"), names[0])
        _options.one_of("channel", channel, names)
        place = names.index(channel)
        part = format.channels[place].component
        first = place - (part == "quadrature")
        parts = [one.component for one in format.channels[max(first, 0):first + 2]]
        self.is_complex = parts == ["in_phase", "quadrature"]
        self._column = first if self.is_complex else place
        self.name = ", ".join(names[first:first + 2]) if self.is_complex else channel
        self.bits = format.channels[place].bits
        self.rate = format.sample_rate
        self.centre = centre if self.is_complex and self.rate else None
        self.bins = bins
        self.length = bins if self.is_complex else 2 * (bins - 1)
        self._window = _window(self.length)

    def values(self, block: Block) -> npt.NDArray[Any]:
        """Returns the samples of the channel in a block, complex or real: shape (samples,). Full scale, given
        by the significant bits of the scan type, is 1.0."""
        return self.of(block.convert("rf32_le"))

    def of(self, samples: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the samples of the channel from floats of shape (..., channels)."""
        if not self.is_complex:
            return samples[..., self._column]
        made = np.empty(samples.shape[:-1], np.complex64)
        made.real, made.imag = samples[..., self._column], samples[..., self._column + 1]
        return made

    def powers(self, frames: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Returns the power spectra (..., bins) of frames (..., ``length``), or of shorter frames. A
        full-scale tone, complex or real, has power 1."""
        length = frames.shape[-1]
        windowed = frames * (self._window if length == self.length else _window(length))
        lines = (np.fft.fftshift(np.fft.fft(windowed, self.length), axes=-1) if self.is_complex
                 else np.fft.rfft(windowed, self.length))
        made: npt.NDArray[np.float64] = lines.real ** 2 + lines.imag ** 2
        if self.is_complex:
            return made
        made[..., 1:-1] *= 4  # half the amplitude of a real tone is at its negative frequency
        return made

    @property
    def frequencies(self) -> npt.NDArray[np.floating[Any]]:
        """The frequencies of the bins in Hz, around ``centre`` if it is known; in cycles per sample if the
        rate is unknown."""
        step = 1 / (self.rate or 1.0)
        if not self.is_complex:
            return np.fft.rfftfreq(self.length, step)
        made: npt.NDArray[np.float64] = np.fft.fftshift(np.fft.fftfreq(self.length, step))
        return made + (self.centre or 0.0)


def signal_of(rx: Reader, channel: str | None, bins: int, centre: Rate | None) -> Signal:
    """Returns the channel of an open source. 0 Hz of its samples corresponds to ``centre``, by default the
    frequency to which the radio was tuned."""
    if not 16 <= bins <= 1 << 20:
        raise _options.usage(f"bins={bins} is not between 16 and 1048576", "1024 suits a picture")
    known = _options.rate("centre", centre) if centre is not None else rx.tuning.frequency
    return Signal(rx.format, channel, bins, known)
