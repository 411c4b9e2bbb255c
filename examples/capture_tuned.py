# SPDX-License-Identifier: MIT
import sys

import iio_stream as ios

# "iio:cf-ad9361-lpc?frequency=2.4G&gain=40&rate=2M" first tunes the radio and reads each setting back.
with ios.source(sys.argv[1] if len(sys.argv) > 1 else "sim:?rate=2M&pattern=tone&frequency=250000") as rx:
    got = rx.read(1_000_000, iq=True)  # complex64, full scale is 1.0
    lost = sum(gap.lost_min for gap in got.gaps)
    print(f"{len(got)} samples at {rx.format.sample_rate / 1e6:g} MS/s, "
          f"{lost} lost between them, I of the first {got.array[0].real:g}")
