# SPDX-License-Identifier: MIT
import sys

import numpy as np

import iio_stream as ios

# "iio:cf-ad9361-dds-core-lpc?frequency=2.4G" plays on a DAC behind the AXI-DMAC.
with ios.sink(sys.argv[1] if len(sys.argv) > 1 else "null:", format="ci16_le", sample_rate="1M") as tx:
    phase = 0
    for _ in range(10):
        block = tx.take()  # the DMA's own memory, filled in place
        turns = 2 * np.pi * (phase + np.arange(len(block))) / 8
        block.array[:, 0] = 16000 * np.cos(turns)
        block.array[:, 1] = 16000 * np.sin(turns)
        phase += len(block)
        tx.put(block)
print(f"{tx.summary.stats.samples} samples, ended by {tx.summary.ended}")
