# SPDX-License-Identifier: MIT
"""Defines in one place how often, or how long, the tests repeat their work.

`script/test` uses the first value of each pair, `script/test --full` the second.
"""
import os

FULL = os.environ.get("IIO_STREAM_FULL", "") == "1"


def pick(quick, full):
    return full if FULL else quick


def some(values, step=2):
    """Returns every `step`-th of a test's parameters, or all of them with --full."""
    return values[::pick(step, 1)]


SESSION_STARTS = pick(5, 100)        # starts of two ADCs and a DAC together
START_STOP_CYCLES = pick(30, 1000)   # starts and stops of one device in one process
CONNECTS = pick(6, 1000)             # streams of a host over USB; the cable is pulled after each
CONTROL_REQUESTS = pick(2000, 50_000)  # random control requests to a board that streams
# Bytes from the ADC to a client over a network card, at SERVED_RATE samples/s.
SERVED_BYTES = pick(64 << 20, 1 << 30)
SERVED_RATE = pick(1_000_000, 4_000_000)
USB_BYTES = pick(64 << 20, 1 << 30)  # bytes from the ADC to a host over USB, and from a host to the DAC
SHORT_STALLS = pick(15, 100)         # stalls shorter than the FIFO
DAC_BYTES = pick("128Mi", "1Gi")     # bytes from the ADC to the DAC
RECORD_BYTES = pick("32Mi", "256Mi")  # size of each recording that is verified
RECORD_WHOLE = pick(64 << 20, 1 << 30)  # bytes of a SigMF recording whose samples the CPU never touches
# Every n-th subset of the channels is tested, starting with a different subset for each scan type.
LANES_STEP = pick(3, 1)
LANES_SAMPLES = pick("8Ki", "256Ki")  # samples for each scan type and subset of channels
INSPECTED_SAMPLES = pick(1 << 21, 1 << 24)  # length of a stream while info, doctor and check run
PLAY_BYTES = pick("128Mi", "1Gi")    # size of a file that the DAC plays
CYCLES = pick(50, 1000)              # repetitions of a cyclic=on playback
KILLS = pick(5, 200)                 # recordings killed at random moments, then recovered
POWER_CUTS = pick(2, 20)             # QEMU is killed while it records, and its disk is booted again
PYTHON_BYTES = pick(1 << 30, 10 << 30)  # bytes of the blocks that Python sees
FLUSHES = pick(5, 60)                # flushes of a recording's disk; the power fails at each
EXAMPLES = pick(60, 2000)             # hypothesis's examples for each property of the Python package
FLOWGRAPH_RESTARTS = pick(20, 1000)  # restarts of one flowgraph with our source
FLOWGRAPH_LOCKS = pick(10, 1000)     # locks of a running flowgraph, to connect its source to another block
FLOWGRAPH_BYTES = pick(32 << 20, 1 << 30)  # bytes from the ADC through a flowgraph, for each type of item
# Recordings that go from the lab to a store: the sizes of a part, of the data that stay on the disk, of a
# short recording, of a long recording and of the disk, and the scans per second.
ARCHIVED = pick(("2Mi", "8Mi", "16Mi", "72Mi", "64Mi", 200_000), ("64Mi", "256Mi", "512Mi", "2Gi", "1Gi", 750_000))
# The cost of archive=: the bytes of a recording, the number of recordings of each kind, and the largest
# permitted ratio of the stream's cost with archive= to its cost without it.
ARCHIVE_COST = pick((64 << 20, 1, 1.3), (256 << 20, 2, 1.1))
