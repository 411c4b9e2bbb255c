# SPDX-License-Identifier: MIT
"""Our GNU Radio blocks with the kernel's own converters: DMABUFs in a flowgraph, losses, and retuning.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_gnuradio.py
"""
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest
from conftest import ADC, DAC, iio_dir, knob, let_go_of, sim, truth
from counts import FLOWGRAPH_BYTES, pick
from playing import count, no_gap
from usb import board, end, gadget, host_device

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", str(ROOT / "build")) + "/gr")
pytest.importorskip("gnuradio.gr")

import pmt  # noqa: E402
from gnuradio import blocks, gr, iio_stream  # noqa: E402
from waiting import until  # noqa: E402

RATE = 250_000  # slow enough for an emulator on a busy machine
PHY = "iios-sim-phy"
DEADLINE = pick(600, 3600)


@pytest.fixture(autouse=True)
def fresh():
    sim()


def finish(top):
    waiter = threading.Thread(target=top.wait, daemon=True)
    waiter.start()
    waiter.join(DEADLINE)
    if waiter.is_alive():
        top.stop()
        waiter.join(60)
        pytest.fail(f"the flowgraph did not end within {DEADLINE} s")


def run(top):
    top.start()
    finish(top)


def listened(endpoint, **options):
    """Starts a flowgraph, and returns it and its source's messages when it has begun to deliver."""
    top, heard = gr.top_block(), blocks.message_debug()
    source = iio_stream.source(endpoint, "sc16", **options)
    for port in range(2):
        top.connect((source, port), blocks.null_sink(4))
    top.msg_connect(source, "async_msgs", heard, "store")
    top.start()
    until(lambda: source.nitems_written(0) > 0)
    return top, heard


def said(heard, wanted):
    """Returns the messages of one kind, in order."""
    messages = (pmt.to_python(heard.get_message(i)) for i in range(heard.num_messages()))
    return [body for kind, body in messages if kind == wanted]


def gone_with_a_message(heard, name):
    [error] = said(heard, "error")
    [ended] = said(heard, "ended")
    assert error["name"] == "ENODEV" and "gone" in error["message"] and name in error["object"], error
    assert ended["ended"] == "error" and ended["error"]["name"] == "ENODEV"


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


def test_every_sample_goes_over_usb_and_through_a_flowgraph():
    with gadget():
        process = board("--bytes", str(FLOWGRAPH_BYTES))
        top = gr.top_block()
        source = iio_stream.source("usb:?wait=30s", "sc16")
        sink = iio_stream.sink("verify:ramp", "sc16", 2, format="ci16_le")
        for port in range(2):
            top.connect((source, port), (sink, port))
        run(top)
        on_board = end(process).json
    took, gave = json.loads(source.summary()), json.loads(sink.summary())
    assert took["bytes"] == gave["bytes"] == FLOWGRAPH_BYTES and took["ended"] == "eof"
    assert gave["error"] is None and gave["gaps"]["certain"] == took["gaps"]["possible"] == 0
    assert on_board["copies"] == 0 and took["route"][0]["mechanism"] == "usb-bulk"


# The kernel never releases a block that is queued while the device disappears (docs/lab-findings.md).
@pytest.mark.leaves_dmabufs
@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_an_unplugged_adc_ends_the_flowgraph_with_a_message(path):
    sim(rate=RATE)
    top, heard = listened(f"iio:{ADC}?path={path}", buffer_size=RATE // 10)
    knob("unplug", 1)
    finish(top)
    knob("replug", 1)
    gone_with_a_message(heard, "/dev/iio:device")


def test_an_unplugged_usb_cable_ends_the_flowgraph_with_a_message():
    sim(rate=RATE)
    with gadget():
        process = board("--block-size 64Ki")
        top, heard = listened("usb:?wait=30s")
        (host_device() / "authorized").write_text("0")
        finish(top)
        gone_with_a_message(heard, "1d6b:0104")
        process.terminate()
        process.communicate(timeout=60)  # no host takes its remaining blocks, and it reports that


@pytest.mark.leaves_dmabufs
def test_an_unplugged_dac_ends_the_flowgraph_with_a_message():
    sim(dac_rate=RATE)
    top, heard = gr.top_block(), blocks.message_debug()
    sink = iio_stream.sink(f"iio:{DAC}", "sc16", 2, buffer_size=8192, buffers=4)
    for port in range(2):
        top.connect(blocks.null_source(4), (sink, port))
    top.msg_connect(sink, "async_msgs", heard, "store")
    top.start()
    until(lambda: count("delivered") > RATE // 10)
    knob("unplug", 1, DAC)
    finish(top)
    knob("replug", 1, DAC)
    gone_with_a_message(heard, DAC)


def test_a_failed_test_does_not_block_the_simulator_for_the_next_test():
    sim(rate=RATE)

    def fails():
        top, heard = listened(f"iio:{ADC}")
        assert said(heard, "error"), "the flowgraph runs and has reported no error"

    with pytest.raises(AssertionError) as caught:
        fails()
    with pytest.raises(subprocess.CalledProcessError):
        sim()  # the flowgraph still runs: the exception keeps it alive
    let_go_of(caught.value)
    sim()


def test_two_devices_stream_in_one_flowgraph():
    sim(adcs=2)
    samples = 1 << 18
    top = gr.top_block()
    sources = [iio_stream.source(f"iio:{device}", "s16", samples=samples) for device in (ADC, f"{ADC}2")]
    sinks = [iio_stream.sink("verify:ramp", "s16", 4, format="ci16_le") for _ in sources]
    for source, sink in zip(sources, sinks, strict=True):
        for port in range(4):
            top.connect((source, port), (sink, port))
    run(top)
    for sink in sinks:
        gave = json.loads(sink.summary())
        assert gave["samples"] == samples and gave["gaps"]["certain"] == 0 and gave["error"] is None


def test_a_loss_is_within_the_interval_of_its_tag():
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


def test_a_radio_can_be_retuned_while_samples_flow():
    sim(rate=RATE)
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}?channels=voltage0_i,voltage0_q&frequency=1G", samples=2 * RATE)
    sink, heard = blocks.vector_sink_c(), blocks.message_debug()
    top.connect(source, sink)
    top.msg_connect(source, "async_msgs", heard, "store")
    post = source.to_basic_block()._post
    top.start()
    until(lambda: source.nitems_written(0) > 0)
    post(pmt.intern("command"), pmt.dict_add(pmt.make_dict(), pmt.intern("freq"), pmt.from_double(2.4e9)))
    post(pmt.intern("command"), pmt.cons(pmt.intern("gain"), pmt.from_double(999)))
    finish(top)
    frequencies = [(offset, value) for offset, key, value in told(sink) if key == "rx_freq"]
    assert frequencies[0] == (0, 1e9) and frequencies[-1][1] == 2.4e9
    answers = said(heard, "answer")
    assert answers[0]["error"] is None and answers[0]["tuning"]["frequency"] == 2.4e9
    assert answers[1]["error"]["name"] == "EINVAL"
    with pytest.raises(OSError, match="hardwaregain"):
        source.tune({"gain": 999})


def phy(name):
    return (iio_dir(PHY) / name).read_text().split()[0]


def test_setters_tune_a_running_receiver():
    sim(rate=RATE)
    top, heard = gr.top_block(), blocks.message_debug()
    source = iio_stream.source(f"iio:{ADC}?channels=voltage0_i,voltage0_q&frequency=1G")
    sink = blocks.vector_sink_c()
    top.connect(source, sink)
    top.msg_connect(source, "async_msgs", heard, "store")

    def tagged(key):
        return [value for _, name, value in told(sink) if name == key]

    top.start()
    until(lambda: tagged("rx_freq") == [1e9])
    assert source.set_frequency(2.4e9) and source.set_gain(12) and source.set_bandwidth(300e3)
    assert phy("out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert float(phy("in_voltage0_hardwaregain")) == 12 and phy("in_voltage_rf_bandwidth") == "300000"
    until(lambda: tagged("rx_freq")[-1] == 2.4e9)
    assert source.set_sample_rate(2 * RATE) and phy("in_voltage_sampling_frequency") == str(2 * RATE)
    until(lambda: tagged("rx_rate")[-1] == 2 * RATE)
    assert source.sample_rate() == 2 * RATE
    assert source.set_gain(999) is False and float(phy("in_voltage0_hardwaregain")) == 12
    delivered = len(sink.data())
    until(lambda: len(sink.data()) > delivered)  # the error has not ended the flowgraph
    top.stop()
    top.wait()
    answers = said(heard, "answer")
    assert [answer["error"] is None for answer in answers] == [True] * 4 + [False]
    assert answers[0]["tuning"]["frequency"] == 2.4e9 and answers[1]["tuning"]["gain"] == 12
    assert answers[4]["error"]["name"] == "EINVAL" and said(heard, "error") == []


def test_setters_tune_a_running_transmitter():
    sim(dac_rate=RATE)
    top = gr.top_block()
    sink = iio_stream.sink(f"iio:{DAC}", "sc16", 2, buffer_size=8192, buffers=4)
    for port in range(2):
        top.connect(blocks.null_source(4), (sink, port))
    top.start()
    until(lambda: count("delivered") > RATE // 10)
    assert sink.set_frequency(900e6) and sink.set_gain(-10.25) and sink.set_bandwidth(2e6)
    assert phy("out_altvoltage1_TX_LO_frequency") == "900000000" and phy("out_voltage_rf_bandwidth") == "2000000"
    assert float(phy("out_voltage0_hardwaregain")) == -10.25
    delivered = count("delivered")
    assert sink.set_gain(999) is False
    until(lambda: count("delivered") > delivered + RATE // 10)
    top.stop()
    top.wait()
    assert json.loads(sink.summary())["error"] is None


def test_samples_go_from_the_adc_through_floats_to_the_dac():
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


def test_a_counter_reveals_each_loss_exactly():
    sim(rate=RATE, fifo=1 << 20, counter=32, pattern="lanes", drop_at=30_000, drop=777, drop_every=40_001)
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}?channels=voltage0_i,voltage0_q,count0&counter=channel:count0",
                               buffer_size=4096, samples=RATE // 2)
    sink = blocks.vector_sink_c()
    top.connect((source, 0), sink)
    for port in range(1, source.output_signature().min_streams()):
        top.connect((source, port), blocks.null_sink(source.output_signature().sizeof_stream_item(port)))
    run(top)
    jumps = [(offset, lost) for offset, lost in truth()[0] if offset < RATE // 2]
    gaps = [(offset, loss) for offset, key, loss in told(sink) if key == "overflow"]
    assert len(jumps) >= 3 and [lost for _, lost in jumps] == [777] * len(jumps)
    assert [(gap["lost_min"], gap["lost_max"], gap["evidence"]) for _, gap in gaps] == [(777, 777, "counter")] * len(jumps)
    for (offset, _), (at, gap) in zip(jumps, gaps, strict=True):
        assert at - gap["before"] <= offset <= at + gap["span"], (offset, at, gap)


def test_a_dac_that_runs_dry_sends_messages():
    sim(dac_rate=RATE, fifo=0)
    top, heard = gr.top_block(), blocks.message_debug()
    sink = iio_stream.sink(f"iio:{DAC}", "sc16", 2, buffer_size=4096, buffers=4)
    for port in range(2):
        top.connect(blocks.null_source(4), blocks.throttle(4, RATE / 4), blocks.head(4, RATE // 2), (sink, port))
    top.msg_connect(sink, "async_msgs", heard, "store")
    run(top)
    told_of = said(heard, "underflow")
    summary = json.loads(sink.summary())
    missed = summary["sinks"][0]["playback"]["underflows"]
    assert missed >= count("underflows") > 3, "each block takes four times as long to arrive as to play"
    assert told_of and told_of[-1]["total"] == sum(one["count"] for one in told_of) <= missed
    assert summary["error"] is None and summary["samples"] == RATE // 2


def test_commands_reach_every_part_of_the_radio():
    sim(rate=RATE)
    top = gr.top_block()
    source = iio_stream.source(f"iio:{ADC}?channels=voltage0_i,voltage0_q", samples=RATE)
    sink, heard = blocks.vector_sink_c(), blocks.message_debug()
    top.connect(source, sink)
    top.msg_connect(source, "async_msgs", heard, "store")
    settings = {"rate": RATE * 2.0, "gain": 12.0, "bandwidth": 300e3, f"attr.{PHY}/in_voltage0/hardwaregain": "31"}
    for name, value in settings.items():
        source.to_basic_block()._post(pmt.intern("command"), pmt.cons(pmt.intern(name), pmt.to_pmt(value)))
    run(top)
    answers = said(heard, "answer")
    assert [answer["error"] for answer in answers] == [None] * 4, answers
    assert answers[0]["tuning"]["rate"] == RATE * 2 and answers[1]["tuning"]["gain"] == 12
    assert answers[2]["tuning"]["bandwidth"] == 300e3 and answers[3]["tuning"]["gain"] == 31
    assert (iio_dir(PHY) / "in_voltage0_hardwaregain").read_text().split()[0] == "31.000000"
    rates = [value for _, key, value in told(sink) if key == "rx_rate"]
    assert (rates[0], rates[-1]) == (RATE, RATE * 2), rates
