# SPDX-License-Identifier: MIT
"""The sink passes samples on unchanged, in blocks that end at the ends of bursts and packets."""
import json

import numpy as np
import pmt
import pytest
from conftest import Heard, Received, finish, ramp, run
from gnuradio import blocks, gr, iio_stream

COUNT = 50_000


def shorts(values):
    """Returns a source of sc16 with the given values."""
    return blocks.vector_source_i(np.ascontiguousarray(values).view(np.int32).reshape(-1).tolist(), False)


def sent(sink, *sources):
    """Runs sources into the ports of a sink. Returns the summary."""
    top = gr.top_block()
    for port, source in enumerate(sources):
        top.connect(source, (sink, port))
    run(top)
    return json.loads(sink.summary())


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("type", ["sc16", "fc32"])
def test_a_sink_gets_the_samples_of_a_source(type, ports):
    source = iio_stream.source(f"sim:?rate=0&channels={2 * ports}", type, samples=COUNT)
    sink = iio_stream.sink("verify:ramp", type, ports, format="ci16_le")
    summary = sent(sink, *((source, port) for port in range(ports)))
    assert summary["samples"] == COUNT and summary["gaps"]["certain"] == 0 and summary["ended"] == "eof"
    assert summary["error"] is None and summary["sample_format"] == "ci16_le"


def test_verify_detects_a_wrong_sample():
    values = ramp(2 * COUNT).copy()
    values[5000] += 1
    summary = sent(iio_stream.sink("verify:ramp", "sc16"), shorts(values))
    assert summary["sinks"][0]["report"]["mismatches"] == 1
    assert "wrong data at sample 2500" in summary["error"]["message"]


@pytest.mark.parametrize("scan", ["le:s16/16>>0", "le:s12/16>>4", "le:s14/16>>0", "be:s16/16>>0",
                                  "le:s24/32>>8"])
def test_floats_are_converted_to_every_scan_type_with_saturation(tmp_path, scan):
    values = np.array([0, 0.5, -0.5, 1, -1, 2, -2, 0.25], dtype=np.float32)
    path = tmp_path / "out.bin"
    sent(iio_stream.sink(f"file:{path}", format=f"{scan},{scan}"),
         blocks.vector_source_c((values + 1j * values[::-1]).tolist(), False))
    got = Received(f"file:{path}?format={scan},{scan}&rate=1", "fc32").ports[0]
    bits = int(scan[4:6])
    wanted = np.clip(values, -1, 1 - 2.0 ** (1 - bits)).astype(np.float32)
    assert (got.real == wanted).all() and (got.imag == wanted[::-1]).all()


def test_vectors_and_real_ports_arrive(tmp_path):
    path = tmp_path / "out.bin"
    values = np.arange(3000, dtype=np.int16)
    sent(iio_stream.sink(f"file:{path}", "s16", 2, 10),
         *(blocks.vector_source_s(part.tolist(), False, 10) for part in (values, -values)))
    assert (np.fromfile(path, "<i2").reshape(-1, 2) == np.stack([values, -values], axis=1)).all()


def tag(offset, key, value):
    made = gr.tag_t()
    made.offset, made.key, made.value = offset, pmt.intern(key), value
    return made


def blocks_of(tags, **options):
    source = blocks.vector_source_c([0] * 1000, False, 1, tags)
    return sent(iio_stream.sink("null:", **options), source)


def test_a_burst_is_sent_at_its_end():
    ends = [tag(offset, "tx_eob", pmt.PMT_T) for offset in (0, 99, 499)]
    assert blocks_of(ends)["blocks"] == 4 and blocks_of([])["blocks"] == 1
    assert blocks_of([tag(5, "tx_eob", pmt.PMT_F)])["blocks"] == 1


def test_a_packet_is_sent_at_its_end():
    lengths = [tag(0, "length", pmt.from_long(100)), tag(100, "length", pmt.from_long(400))]
    summary = blocks_of(lengths, length_tag="length")
    assert summary["blocks"] == 3 and summary["samples"] == 1000
    assert blocks_of(lengths)["blocks"] == 1


def test_a_file_that_cannot_be_written_ends_the_flowgraph_with_a_message():
    sink = iio_stream.sink("file:/dev/full?direct=off", "sc16")
    top = gr.top_block()
    top.connect(blocks.null_source(4), sink)
    heard = Heard(top, sink)
    top.start()
    finish(top)
    assert [error["name"] for error in heard("error")] == ["ENOSPC"]
    assert heard("ended")[0]["error"]["name"] == "ENOSPC"


def test_a_flowgraph_can_be_run_again(tmp_path):
    sink = iio_stream.sink("verify:ramp", "sc16")
    source = iio_stream.source("sim:?rate=0", "sc16", samples=COUNT)
    top = gr.top_block()
    top.connect(source, sink)
    for _ in range(3):
        run(top)
        assert json.loads(sink.summary())["samples"] == COUNT


@pytest.mark.parametrize("arguments,words", [
    (("sim:",), "sim"), (("nul:",), "did you mean 'null:'"), (("null:", "fc32", 0), "at least one port"),
    (("null:", "fc32", 1, 1, "ci17"), "ci17"), (("file:/nowhere/at/all.ci16",), "/nowhere/at/all"),
    (("file:/nowhere/at/all.cf32", "sc16", 1, 1, "ci16_le"), "convert=cf32_le")])
def test_an_invalid_sink_is_a_clear_error(arguments, words):
    with pytest.raises((ValueError, OSError), match=words):
        iio_stream.sink(*arguments)
