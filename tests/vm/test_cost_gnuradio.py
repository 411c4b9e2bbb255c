# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""The cost of GNU Radio's source: instructions of the process, user and kernel, for each sample (an I/Q pair
of 16 bits each) on its way into a null sink. It is compared with gr-iio's source on the same device, and with
flowgraphs of GNU Radio's own blocks that only write, or only convert, the same amount."""
import os
import pathlib
import sys
import time

import pytest
from conftest import ADC

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", str(ROOT / "build")) + "/gr")
pytest.importorskip("gnuradio.gr")

from gnuradio import blocks, gr, iio, iio_stream  # noqa: E402

PAIR = ["voltage0_i", "voltage0_q"]
BLOCK = 1 << 18  # samples of a block of 1 MiB
SAMPLE_BYTES = 4
SAMPLES = 1 << 23  # 32 MiB; a quarter for gr-iio's source, which is much slower
DEADLINE = 300  # seconds of the guest, each of 10^9 instructions


def ours(type, path):
    def make(top, sinks):
        source = iio_stream.source(f"iio:{ADC}?channels={','.join(PAIR)}&path={path}", type, buffer_size=BLOCK)
        sinks.append(blocks.null_sink(8 if type == "fc32" else 4))
        top.connect(source, sinks[0])
    return make


def both_pairs(top, sinks):
    source = iio_stream.source(f"iio:{ADC}", buffer_size=BLOCK // 2)
    for port in range(2):
        sinks.append(blocks.null_sink(8))
        top.connect((source, port), sinks[port])


def gr_iio():
    return wide(iio.device_source("local:", ADC, PAIR, ADC, [], BLOCK, 0))


def theirs(top, sinks):
    sinks.append(blocks.null_sink(2))
    source = gr_iio()
    for port in range(2):
        top.connect((source, port), (sinks[0], port))


def theirs_to_complex(top, sinks):
    """Converts to complex as fmcomms2_source does for fc32."""
    source, pair = gr_iio(), wide(blocks.float_to_complex())
    for port in range(2):
        top.connect((source, port), wide(blocks.short_to_float(1, 32768)), (pair, port))
    sinks.append(blocks.null_sink(8))
    top.connect(pair, sinks[0])


def wide(block):
    """Gives the block's output a buffer as large as our source requests."""
    block.set_min_output_buffer(1 << 17)
    return block


def only_writes(bytes):
    def make(top, sinks):
        sinks.append(blocks.null_sink(bytes))
        top.connect(wide(blocks.null_source(bytes)), sinks[0])
    return make


def only_converts(top, sinks):
    sinks.append(blocks.null_sink(8))
    top.connect(wide(blocks.null_source(4)), wide(blocks.interleaved_short_to_complex(True, False, 32768)), sinks[0])


FLOWGRAPHS = {
    "null_source, 4 bytes": only_writes(4),
    "null_source, 8 bytes": only_writes(8),
    "null_source, interleaved_short_to_complex": only_converts,
    "iio_stream.source, sc16, dmabuf": ours("sc16", "dmabuf"),
    "iio_stream.source, fc32, dmabuf": ours("fc32", "dmabuf"),
    "iio_stream.source, fc32, two pairs": both_pairs,
    "iio_stream.source, sc16, fileio": ours("sc16", "fileio"),
    "iio_stream.source, fc32, fileio": ours("fc32", "fileio"),
    "iio.device_source, shorts": theirs,
    "iio.device_source, to complex": theirs_to_complex,
}


def instructions_per_sample(make, samples):
    """Measures while samples flow: between two moments of one flowgraph, so that its start and end do not
    count."""
    top, sinks = gr.top_block(), []
    make(top, sinks)

    def reach(wanted):
        end = time.monotonic() + DEADLINE
        while (seen := sum(sink.nitems_read(0) for sink in sinks)) < wanted:
            assert time.monotonic() < end, f"{seen} of {wanted} samples"
            time.sleep(0.002)
        return seen, time.process_time_ns()

    top.start()
    seen, begin = reach(samples // 4)
    last, end = reach(seen + samples)
    top.stop()
    top.wait()
    return (end - begin) / (last - seen)


@pytest.fixture(scope="module")
def table():
    rows = {}
    for name, make in FLOWGRAPHS.items():
        rows[name] = instructions_per_sample(make, SAMPLES // 4 if name.startswith("iio.") else SAMPLES)
        print(f"\n{name}: {rows[name]:.2f} instructions per sample, "
              f"{rows[name] * (1 << 30) / SAMPLE_BYTES / 1e6:.0f} M per GiB")
    return rows


@pytest.mark.parametrize("type", ["sc16", "fc32"])
def test_our_source_costs_a_fraction_of_gr_iios(table, type):
    theirs = "shorts" if type == "sc16" else "to complex"
    for path in ("dmabuf", "fileio"):
        assert table[f"iio_stream.source, {type}, {path}"] < table[f"iio.device_source, {theirs}"] / 20
    assert table["iio_stream.source, fc32, two pairs"] < table["iio.device_source, to complex"] / 5


def test_our_source_reads_the_samples_only_once(table):
    """Our source needs fewer instructions than GNU Radio's own blocks for the same work, so everything else
    that it does must cost little."""
    assert table["iio_stream.source, sc16, dmabuf"] < table["null_source, 4 bytes"]
    assert table["iio_stream.source, fc32, dmabuf"] < table["null_source, interleaved_short_to_complex"]
