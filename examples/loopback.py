# SPDX-License-Identifier: MIT
import sys

import iio_stream as ios

# With "iio:cf-ad9361-lpc" and "iio:cf-ad9361-dds-core-lpc", the program sends the received samples again.
with ios.Session() as session:
    rx = session.add_reader(sys.argv[1] if len(sys.argv) > 1 else "sim:?rate=0")
    tx = session.add_writer(sys.argv[2] if len(sys.argv) > 2 else "null:", format=rx.format)
    for _ in range(100):  # the first read starts both at once
        tx.write(rx.read(10_000).array)
print(tx.summary.stats.samples, "samples sent again")
