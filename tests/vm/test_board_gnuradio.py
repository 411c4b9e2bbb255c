# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""Real boards in GNU Radio: each I/Q pair has a complex port, each other channel a real one, and the radio is
tuned while it runs.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_gnuradio.py
"""
import gc
import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", str(ROOT / "build")) + "/gr")
pytest.importorskip("gnuradio.gr")

import numpy as np  # noqa: E402
import pmt  # noqa: E402
from board_scans import LANES, devices, load, loaded, note  # noqa: E402
from conftest import iio_dir, knob  # noqa: E402
from counts import pick  # noqa: E402
from gnuradio import blocks, gr, iio_stream  # noqa: E402
from waiting import until  # noqa: E402

SAMPLES = 4096
SLOW_SAMPLES = 32
RATE = 250_000  # slow enough for an emulator on a busy machine


def at(device, file):
    return (iio_dir(device) / file).read_text().strip()


def scaled(element, samples):
    whole = 2 ** (element.bits - element.signed)
    values = np.array([element.lane(number) / whole for number in range(samples)])
    return values if element.signed else 2 * values - 1


def record(scan, chosen):
    """Records on complex ports if the channels are pairs. Otherwise, complex ports must be refused."""
    elements, samples = scan.chosen(chosen), SAMPLES if scan.dma else SLOW_SAMPLES
    is_complex = scan.is_complex(chosen)
    endpoint = f"iio:{scan.name}?channels={','.join(chosen)}"
    scan.pattern(LANES)
    top = gr.top_block()
    source = iio_stream.source(endpoint, "fc32" if is_complex else "f32", samples=samples)
    sinks = [(blocks.vector_sink_c if is_complex else blocks.vector_sink_f)()
             for _ in range(len(chosen) // (2 if is_complex else 1))]
    assert source.output_signature().min_streams() == len(sinks)
    for port, sink in enumerate(sinks):
        top.connect((source, port), sink)
    top.run()
    wanted = [scaled(element, samples) for element in elements]
    if is_complex:
        wanted = [i + 1j * q for i, q in zip(wanted[::2], wanted[1::2])]
    for sink, values in zip(sinks, wanted):
        assert np.allclose(sink.data(), values, rtol=0, atol=1e-6), (scan.name, chosen)
    del top, source, sinks, sink
    gc.collect()  # the device is free again
    if not is_complex:
        with pytest.raises(ValueError, match="not I/Q pairs"):
            iio_stream.source(endpoint, "fc32", samples=samples)


def play(scan, chosen):
    is_complex = scan.is_complex(chosen)
    ports, samples = len(chosen) // (2 if is_complex else 1), SAMPLES if scan.dma else 256
    top = gr.top_block()
    sink = iio_stream.sink(f"iio:{scan.name}?channels={','.join(chosen)}", "fc32" if is_complex else "f32", ports)
    make = blocks.vector_source_c if is_complex else blocks.vector_source_f
    for port in range(ports):
        top.connect(make([0.5] * samples), (sink, port))
    if scan.dma:
        knob("reset", 1, device=scan.name)
    top.run()
    summary = json.loads(sink.summary())
    assert summary["samples"] == samples and summary["error"] is None
    if scan.dma:
        assert int(knob("delivered", device=scan.name)) >= samples


@pytest.mark.parametrize("board, device", pick(devices(["pluto"]), devices()))
def test_flowgraphs_record_and_play(board, device, record_property):
    scan = loaded(board, device)
    for chosen in scan.selections():
        (play if scan.output else record)(scan, chosen)
    note(record_property, board, device, "GNU-Radio")


@pytest.mark.parametrize("board", pick(["pluto"], ["pluto", "fmcomms2-3"]))
def test_a_running_radio_can_be_tuned(board):
    load(board, rate=RATE)
    top = gr.top_block()
    source = iio_stream.source("iio:cf-ad9361-lpc?channels=voltage0,voltage1&frequency=1G&gain=30", buffer_size=4096)
    sink = blocks.vector_sink_c()
    top.connect(source, sink)

    def frequencies():
        return [pmt.to_double(tag.value) for tag in sorted(sink.tags(), key=lambda tag: tag.offset)
                if pmt.to_python(tag.key) == "rx_freq"]

    top.start()
    until(lambda: len(sink.data()) > 0)
    source.tune({"gain": 40, "bandwidth": "5M"})
    source.to_basic_block()._post(pmt.intern("command"), pmt.cons(pmt.intern("freq"), pmt.from_double(2.4e9)))
    until(lambda: 2.4e9 in frequencies())
    top.stop()
    top.wait()
    assert frequencies()[0] == 1e9 and frequencies()[-1] == 2.4e9
    assert at("ad9361-phy", "out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "manual"
    assert at("ad9361-phy", "in_voltage0_hardwaregain").startswith("40.0")
    assert at("ad9361-phy", "in_voltage_rf_bandwidth") == "5000000"
