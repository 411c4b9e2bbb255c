# SPDX-License-Identifier: MIT
import sys

import iio_stream as ios

# "iio:cf-ad9361-lpc?frequency=2.4G" is a real radio; the default loses 300 samples on purpose.
source = sys.argv[1] if len(sys.argv) > 1 else "sim:?rate=0&drop_at=50000&drop=300"
with ios.source(source, samples=1_000_000) as rx:
    for block in rx:
        for gap in block.gaps:
            print(f"before sample {gap.offset_max}: {gap.lost_min} or more lost")
print(f"{rx.stats.samples} samples, {rx.stats.gaps.certain} gaps, {rx.stats.gaps.lost_min} lost")
