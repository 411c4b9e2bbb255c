# SPDX-License-Identifier: MIT
import sys

import numpy as np

import iio_stream as ios

BINS = 64
WINDOW = np.hanning(BINS) / np.hanning(BINS).sum()

# "iio:cf-ad9361-lpc?frequency=2.4G&channels=voltage0,voltage1" shows the spectrum that a radio receives.
with ios.source(sys.argv[1] if len(sys.argv) > 1 else "sim:?rate=1M&pattern=tone&frequency=125000",
                samples=100_000) as rx:
    rate = rx.format.sample_rate
    for block in rx:
        pieces = block.iq()[:len(block) // BINS * BINS].reshape(-1, BINS)
        power = np.mean(np.abs(np.fft.fft(pieces * WINDOW)) ** 2, axis=0)
        strongest = int(power.argmax())
        frequency = np.fft.fftfreq(BINS)[strongest] * rate
        level = 10 * np.log10(power[strongest] + 1e-20)
        print(f"{frequency:+.0f} Hz: {level:.1f} dBFS, {len(block.gaps)} gaps")
