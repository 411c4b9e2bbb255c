# SPDX-License-Identifier: MIT
"""GNU Radio's blocks on the kernel's own converters: DMABUFs in a flowgraph, losses and a radio set anew.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_gnuradio.py
"""
import json
import os
import pathlib
import sys
import threading

import pytest
from conftest import ADC, DAC, sim, truth
from counts import FLOWGRAPH_BYTES
from playing import count, no_gap

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", str(ROOT / "build")) + "/gr")
pytest.importorskip("gnuradio.gr")

import pmt  # noqa: E402
from gnuradio import blocks, gr, iio_stream  # noqa: E402

RATE = 250_000  # slow enough for an emulator on a busy machine
DEADLINE = 600


@pytest.fixture(autouse=True)
def fresh():
    sim()


def run(top):
    waiter = threading.Thread(target=top.run, daemon=True)
    waiter.start()
    waiter.join(DEADLINE)
    assert not waiter.is_alive(), "the flowgraph did not end"


def told(sink):
    tags = [(tag.offset, pmt.to_python(tag.key), pmt.to_python(tag.value)) for tag in sink.tags()]
    return sorted(tags, key=lambda tag: tag[:2])


@pytest.mark.parametrize("type", ["sc16", "fc32"])
def test_every_sample_of_a_dmabuf_goes_through_a_flowgraph(type):
    samples = FLOWGRAPH_BYTES // 8
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}?path=dmabuf", type, samples=samples)
    sink = iio_stream.sink("verify:ramp", type, 2, format="ci16_le")
    for port in range(2):
        top.connect((source, port), (sink, port))
    run(top)
    took, gave = json.loads(source.summary()), json.loads(sink.summary())
    assert took["samples"] == gave["samples"] == samples and gave["gaps"]["certain"] == 0
    assert took["route"][0]["mechanism"] == "dmabuf" and took["copies"] == 0
    assert gave["error"] is None


def test_a_loss_lies_in_the_interval_that_its_tag_tells():
    sim(rate=RATE, fifo=0)
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}?channels=voltage0_i,voltage0_q", buffer_size=4096, buffers=4,
                               samples=RATE // 2)
    slow = blocks.throttle(8, RATE / 2)
    sink = blocks.vector_sink_c()
    top.connect(source, slow, sink)
    run(top)
    jumps = [(offset, lost) for offset, lost in truth()[0] if offset < len(sink.data())]
    gaps = [(offset, loss) for offset, key, loss in told(sink) if key == "overflow"]
    assert jumps and len(sink.data()) == RATE // 2
    for offset, _ in jumps:
        assert any(at - gap["before"] <= offset <= at + gap["span"] for at, gap in gaps), (offset, gaps)
    assert sum(gap["lost_min"] for _, gap in gaps) <= sum(lost for _, lost in jumps)
    times = [offset for offset, key, _ in told(sink) if key == "rx_time"]
    ends = {at + gap["span"] for at, gap in gaps}
    assert times == sorted({end for end in ends if end < len(sink.data())} | {0})


def test_a_radio_is_set_anew_while_samples_flow():
    sim(rate=RATE)
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}?channels=voltage0_i,voltage0_q&frequency=1G", samples=RATE)
    sink, heard = blocks.vector_sink_c(), blocks.message_debug()
    top.connect(source, sink)
    top.msg_connect(source, "async_msgs", heard, "store")
    post = source.to_basic_block()._post
    post(pmt.intern("command"), pmt.dict_add(pmt.make_dict(), pmt.intern("freq"), pmt.from_double(2.4e9)))
    post(pmt.intern("command"), pmt.cons(pmt.intern("gain"), pmt.from_double(999)))
    run(top)
    frequencies = [(offset, value) for offset, key, value in told(sink) if key == "rx_freq"]
    assert frequencies[0] == (0, 1e9) and frequencies[-1][1] == 2.4e9
    said = [pmt.to_python(heard.get_message(i)) for i in range(heard.num_messages())]
    answers = [body for kind, body in said if kind == "answer"]
    assert answers[0]["error"] is None and answers[0]["tuning"]["frequency"] == 2.4e9
    assert answers[1]["error"]["name"] == "EINVAL"
    with pytest.raises(OSError, match="hardwaregain"):
        source.tune({"gain": 999})


def test_from_the_adc_to_the_dac_through_floats():
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}", samples=1 << 18)
    sink = iio_stream.sink(f"iio:{DAC}", ports=2)
    for port in range(2):
        top.connect((source, port), (sink, port))
    run(top)
    played = json.loads(sink.summary())
    assert played["samples"] == 1 << 18 and sink.format() == "ci16_le" and played["error"] is None
    assert played["route"][-1]["mechanism"] == "dmabuf"
    assert count("produced") >= 1 << 18
    no_gap()
