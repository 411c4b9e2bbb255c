# SPDX-License-Identifier: MIT
import sys

import numpy as np

import iio_stream as ios

# With "iio:cf-ad9361-dds-core-lpc" and "iio:cf-ad9361-lpc", and a cable between them, the program
# receives the tone that it sends.
OUT = sys.argv[1] if len(sys.argv) > 1 else "null:"
IN = sys.argv[2] if len(sys.argv) > 2 else "sim:?rate=1M&pattern=tone&frequency=125000"

with ios.sink(OUT, format="ci16_le", sample_rate="1M", block_size="64Ki") as tx, ios.source(IN) as rx:
    tone = np.round(16000 * np.exp(2j * np.pi * np.arange(8) / 8))
    heard = 0
    for _ in range(10):
        block = tx.take()
        block.array[:, 0] = np.resize(tone.real, len(block))
        block.array[:, 1] = np.resize(tone.imag, len(block))
        tx.put(block)
        with next(rx) as taken:
            iq = taken.iq()
            heard += len(taken)
            step = np.angle(np.vdot(iq[:-1], iq[1:])) / (2 * np.pi)
            print(f"{step * rx.format.sample_rate:+.0f} Hz: {np.abs(iq).mean():.3f} of full scale")
print(f"{tx.summary.stats.samples} samples sent, {heard} heard")
