# SPDX-License-Identifier: MIT
"""How often the tests repeat what they repeat: the one file for it.

`script/test` runs the first number of each pair, `script/test --full` the second.
"""
import os

FULL = os.environ.get("IIO_STREAM_FULL", "") == "1"


def pick(quick, full):
    return full if FULL else quick


def some(values, step=2):
    """A regular selection of a test's parameters; all of them with --full."""
    return values[::pick(step, 1)]


SESSION_STARTS = pick(5, 100)        # two ADCs and a DAC started together
START_STOP_CYCLES = pick(30, 1000)   # one process, one device
CONNECTS = pick(6, 1000)             # of a host's stream over USB, the cable gone after each
CONTROL_REQUESTS = pick(2000, 50_000)  # at random, to a board that streams
SERVED_BYTES = pick(64 << 20, 1 << 30)  # from the ADC to a client over a network card, and samples per second
SERVED_RATE = pick(1_000_000, 4_000_000)
USB_BYTES = pick(64 << 20, 1 << 30)  # from the ADC to a host over USB, and to the DAC
SHORT_STALLS = pick(15, 100)         # stalls shorter than the FIFO
DAC_BYTES = pick("128Mi", "1Gi")     # from the ADC to the DAC
RECORD_BYTES = pick("32Mi", "256Mi")  # each recording that is verified
RECORD_WHOLE = pick(64 << 20, 1 << 30)  # a SigMF recording whose samples the CPU never touches
LANES_STEP = pick(3, 1)               # one of this many subsets of the channels, different for each scan type
LANES_SAMPLES = pick("8Ki", "256Ki")  # for each scan type and subset of channels
INSPECTED_SAMPLES = pick(1 << 21, 1 << 24)  # of a stream beside which info, doctor and check run
PLAY_BYTES = pick("128Mi", "1Gi")    # a file that the DAC plays
CYCLES = pick(50, 1000)              # times that cyclic=on repeats
KILLS = pick(5, 200)                 # recordings killed at random moments, then recovered
POWER_CUTS = pick(2, 20)             # QEMU killed while it records, its disk booted again
PYTHON_BYTES = pick(1 << 30, 10 << 30)  # of blocks seen from Python
FLUSHES = pick(5, 60)                # of a recording's disk, at which the power fails
EXAMPLES = pick(60, 2000)             # of hypothesis, for each property of the Python package
FLOWGRAPH_RESTARTS = pick(20, 1000)  # of one flowgraph with our source
FLOWGRAPH_LOCKS = pick(10, 1000)     # of a running one, to connect its source to another block
FLOWGRAPH_BYTES = pick(32 << 20, 1 << 30)  # from the ADC through a flowgraph, in each type of item
# Recordings that go from the lab to a store: a part, what stays on the disk, a short one, a long one, the disk, scans per second.
ARCHIVED = pick(("2Mi", "8Mi", "16Mi", "72Mi", "64Mi", 200_000), ("64Mi", "256Mi", "512Mi", "2Gi", "1Gi", 750_000))
# What archive= costs: bytes of a recording, how many of each kind, times what the stream spends without it.
ARCHIVE_COST = pick((64 << 20, 1, 1.3), (256 << 20, 2, 1.1))
