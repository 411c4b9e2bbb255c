# SPDX-License-Identifier: MIT
import sys

import iio_stream as ios

# "iio:cf-ad9361-lpc?frequency=2.4G" captures from an ADC behind the AXI-DMAC.
with ios.source(sys.argv[1] if len(sys.argv) > 1 else "sim:?rate=1M", samples=1_000_000) as rx:
    print(rx.route)
    for block in rx:
        x = block.array  # read-only NumPy view of the DMA's own memory: nothing was copied
        iq = block.iq()  # complex64, full scale 1.0
        print(f"sample {block.sample_index}: {x.shape} of {x.dtype}, {iq.dtype}, {len(block.gaps)} gaps")
