# SPDX-License-Identifier: MIT
"""Draws the spectrum of a file of 16-bit I/Q samples in the terminal: spectrum.py FILE RATE [COLUMNS]

script/demo uses this program, because it does not build the Python package, whose iio_stream.view draws more.
"""
import sys

import numpy as np

BARS = " ▁▂▃▄▅▆▇█"
BINS = 1024
FRAMES = 500
LINES = 8
STEP = 10  # dB per line


def spectrum(values):
    """Returns the mean power of each bin in dBFS, with 0 Hz in the middle."""
    samples = values.astype(np.float64).view(np.complex128) / 32768
    count = min(len(samples) // BINS, FRAMES)
    window = np.hanning(BINS)
    frames = samples[:count * BINS].reshape(count, BINS) * window / window.sum()
    power = (np.abs(np.fft.fft(frames)) ** 2).mean(axis=0)
    return np.fft.fftshift(10 * np.log10(np.maximum(power, 1e-12)))


def picture(levels, rate, columns):
    """Returns the lines of the picture. A column shows the highest of its bins."""
    highest = np.array([part.max() for part in np.array_split(levels, columns)])
    lines = []
    for line in range(LINES):
        bottom = -STEP * (line + 1)
        eighths = np.clip((highest - bottom) / STEP * 8, 0, 8).astype(int)
        lines.append(f"{bottom + STEP:5d} │" + "".join(BARS[part] for part in eighths).rstrip())
    low, high = f"{-rate / 2000:g} kHz", f"{rate / 2000:g} kHz"
    return [*lines, " dBFS  " + low + "0".center(columns - len(low) - len(high)) + high]


if __name__ == "__main__":
    recorded = np.fromfile(sys.argv[1], "<i2", 2 * BINS * FRAMES)
    print("\n".join(picture(spectrum(recorded), float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 72)))
