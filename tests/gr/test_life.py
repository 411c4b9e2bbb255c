# SPDX-License-Identifier: MIT
"""Start, end and errors of flowgraphs. No flowgraph hangs, and each reports why it ended."""
import json
import os
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from conftest import BUILD, DEADLINE, Heard, finish
from counts import FLOWGRAPH_LOCKS, FLOWGRAPH_RESTARTS
from gnuradio import blocks, gr, iio_stream
from waiting import until

LIVE = "sim:?pattern=ramp&rate=1M"


def flowgraph(source, item=8):
    top = gr.top_block()
    sink = blocks.null_sink(item)
    top.connect(source, sink)
    return top, sink


def held():
    """Returns the numbers of threads and file descriptors of this process."""
    return [len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")]


def no_more_than(before):
    """Waits, because the kernel can list a joined thread for a moment."""
    until(lambda: all(now <= then for now, then in zip(held(), before, strict=True)),
          f"no more threads and descriptors than {before}")


def test_repeated_starts_and_stops_leak_nothing():
    source = iio_stream.source(LIVE, buffer_size=4096)
    top, _ = flowgraph(source)
    before = None
    for number in range(FLOWGRAPH_RESTARTS):
        top.start()
        if number % 4 == 0:
            until(lambda: source.nitems_written(0) > 0, "a sample")
        top.stop()
        top.wait()
        if number == 2:
            before = held()
    no_more_than(before)
    assert json.loads(source.summary())["ended"] == "signal"


def test_other_blocks_can_be_connected_while_the_flowgraph_is_locked():
    source = iio_stream.source(LIVE, buffer_size=4096)
    top, sink = flowgraph(source)
    top.start()
    before = None
    for number in range(FLOWGRAPH_LOCKS):
        until(partial(sink.nitems_read, 0), "a sample")
        top.lock()
        top.disconnect(source, sink)
        sink = blocks.null_sink(8)
        top.connect(source, sink)
        top.unlock()
        if number == 2:
            before = held()
    no_more_than(before)
    top.stop()
    top.wait()


def test_two_sources_can_run_at_the_same_time():
    top = gr.top_block()
    sources = [iio_stream.source(LIVE, samples=50_000) for _ in range(2)]
    sinks = [blocks.vector_sink_c() for _ in range(2)]
    for source, sink in zip(sources, sinks, strict=True):
        top.connect(source, sink)
    top.start()
    finish(top)
    assert sinks[0].data() == sinks[1].data() and len(sinks[0].data()) == 50_000


def test_a_device_that_is_gone_ends_the_flowgraph_with_a_message():
    source = iio_stream.source(f"{LIVE}&unplug_at=20000")
    top, sink = flowgraph(source)
    heard = Heard(top, source)
    top.start()
    finish(top)
    error, = heard("error")
    assert error["name"] == "ENODEV" and "unplug" in error["message"]
    ended, = heard("ended")
    assert ended["ended"] == "error" and ended["error"]["name"] == "ENODEV"
    assert sink.nitems_read(0) == json.loads(source.summary())["samples"] <= 20000


def test_a_silent_source_can_be_stopped(tmp_path):
    source = iio_stream.source(f"zmq:ipc://{tmp_path}/nowhere?format=cf32_le&pattern=pull")
    top, _ = flowgraph(source)
    top.start()
    time.sleep(0.2)
    stopping = threading.Thread(target=lambda: (top.stop(), top.wait()), daemon=True)
    stopping.start()
    stopping.join(DEADLINE)
    assert not stopping.is_alive()


def test_failing_to_prepare_again_ends_the_flowgraph_with_a_message(tmp_path):
    path = tmp_path / "a.ci16"
    path.write_bytes(bytes(40_000))
    source = iio_stream.source(f"file:{path}?rate=1M")
    top, sink = flowgraph(source)
    heard = Heard(top, source)
    top.start()
    finish(top)
    path.unlink()
    top.start()
    finish(top)
    assert [error["name"] for error in heard("error")] == ["ENOENT"]


@pytest.mark.parametrize("arguments,kind,words", [
    (("iio:nowhere",), (OSError, ValueError), "there is no IIO device|nowhere"),
    (("sim:?patern=ramp",), ValueError, "did you mean 'pattern'"),
    (("simm:",), ValueError, "did you mean 'sim:'"),
    (("null:",), ValueError, "null"),
    (("sim:", "fc64"), ValueError, "did you mean 'fc32'"),
    (("sim:", "fc32", 0), ValueError, "vlen=0"),
    (("sim:", "fc32", 1, "marks"), ValueError, "did you mean 'mark'"),
    (("sim:?channels=3&format=ri16_le",), ValueError, "not I/Q pairs"),
    (("/nowhere/at/all.ci16?rate=1",), FileNotFoundError, "/nowhere/at/all.ci16")])
def test_an_invalid_source_is_a_clear_error(arguments, kind, words):
    with pytest.raises(kind, match=words):
        iio_stream.source(*arguments)


def test_a_port_that_is_not_connected_is_a_clear_error():
    top, _ = flowgraph(iio_stream.source("sim:?channels=4"))
    with pytest.raises(RuntimeError, match="output ports"):
        top.start()


def test_the_parameters_of_gr_iio_make_an_endpoint():
    assert iio_stream.endpoint_of("ip:1.2.3.4", "cf-ad9361-lpc", ["voltage0", "voltage1"]) == \
        "iio:cf-ad9361-lpc?channels=voltage0,voltage1&uri=ip:1.2.3.4"
    assert iio_stream.endpoint_of("", "a") == "iio:a"


@pytest.mark.parametrize("make, words", [
    (lambda: iio_stream.source(3), "source(): endpoint=3 is not text"),
    (lambda: iio_stream.source("sim:", vlen=-1), "vlen=-1 is not a whole number"),
    (lambda: iio_stream.source("sim:", vlen=1.5), "vlen=1.5"),
    (lambda: iio_stream.source("sim:", samples="many"), "samples='many'"),
    (lambda: iio_stream.source("sim:", vlne=2), "no argument 'vlne'"),
    (lambda: iio_stream.source("sim:", endpoint="sim:"), "given twice"),
    (lambda: iio_stream.sink("null:", sample_rate=None), "sink(): sample_rate=None is not a number"),
])
def test_the_error_of_a_wrong_argument_is_readable(make, words):
    with pytest.raises(TypeError) as caught:
        make()
    assert words in str(caught.value) and "incompatible" not in str(caught.value)


WRONG = [None, 3, -1, 1.5, 2**70, float("nan"), "x", "\udcff", b"x", [], {}, {"gain": "\udcff"}, {"\udcff": 1}, object(),
         (1, 2), 1j, np.int8(3), np.zeros(3), int]
CALLS = {
    "source": ({"endpoint": "sim:"}, "type vlen on_gap packet_len buffer_size buffers samples stats_interval"),
    "sink": ({"endpoint": "null:"}, "type ports vlen format sample_rate length_tag buffer_size buffers stats_interval"),
    "endpoint_of": ({"uri": "", "device": "adc"}, "channels"),
    "with_options": ({"endpoint": "sim:", "options": {}}, ""),
    "tune": ({"options": {}}, ""), "format": ({}, ""), "summary": ({}, ""), "sample_rate": ({}, ""),
    "set_settings": ({"options": {}}, ""), "set_frequency": ({"hertz": 1e9}, ""),
    "set_sample_rate": ({"rate": 1e6}, ""), "set_gain": ({"decibels": 40}, ""), "set_bandwidth": ({"hertz": 1e6}, "")}


@pytest.mark.parametrize("name", CALLS)
def test_errors_never_mention_cpp(name):
    of = iio_stream if hasattr(iio_stream, name) else iio_stream.source("sim:")
    right, others = CALLS[name]
    calls = [((wrong, wrong), {}) for wrong in WRONG] + [((), {}), ((), {"nonsense": 1}), ((1,) * 20, {})]
    calls += [((), {**right, key: wrong}) for key in [*right, *others.split()] for wrong in WRONG]
    for values, named in calls:
        try:
            getattr(of, name)(*values, **named)
        except (TypeError, ValueError, OSError) as error:
            for foreign in ("incompatible", "Unable to cast", "Invoked with", "pybind", "std::", "io_signature"):
                assert foreign not in str(error), (name, values, named, str(error))


@pytest.mark.parametrize("make, words", [
    (lambda: iio_stream.source("sim:", vlen=2**40), "vlen=1099511627776: an item has less than 2 GiB"),
    (lambda: iio_stream.sink("null:", vlen=2**30), "vlen=1073741824"),
    (lambda: iio_stream.source("sim:", buffer_size=2**62), "buffer_size=4611686018427387904 exceeds"),
    (lambda: iio_stream.sink("null:", buffer_size=2**62), "buffer_size=4611686018427387904 exceeds"),
    (lambda: iio_stream.sink("null:", sample_rate=-1), "sample_rate=-1"),
    (lambda: iio_stream.sink("null:", sample_rate=float("nan")), "sample_rate=nan")])
def test_the_error_of_an_invalid_number_has_its_name_and_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("options, words", [
    ({"gain": [1, 2]}, "gain=[1, 2] is not a number or text"),
    ({3: "x"}, "the option 3 is not text"),
])
def test_the_error_of_a_wrong_option_is_readable(options, words):
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        iio_stream.with_options("iio:adc", options)


def test_numpy_scalars_are_options_and_arguments():
    made = iio_stream.with_options("iio:adc", {"gain": np.float64(40), "rate": np.int32(5), "cyclic": np.bool_(True),
                                               "agc": np.str_("slow")})
    assert made == "iio:adc?agc=slow&cyclic=on&gain=40.0&rate=5"
    iio_stream.source("sim:", vlen=np.int64(2), samples=np.uint32(3), stats_interval=np.float32(0))


def test_an_option_that_is_none_is_left_out():
    """The Companion's blocks pass None for a parameter that is empty."""
    assert iio_stream.with_options("iio:adc?rate=5", {"gain": None, "agc": "slow"}) == "iio:adc?agc=slow&rate=5"
    assert iio_stream.with_options("iio:adc?gain=3", {"gain": None}) == "iio:adc?gain=3"


def test_the_docstrings_of_the_blocks_are_complete():
    for thing in (iio_stream.source, iio_stream.sink):
        for argument in ("endpoint", "type", "vlen", "buffer_size", "stats_interval"):
            assert f"\n{argument} " in thing.__doc__
        for unit in ("samples per item", "samples per block", "; 0: about 10 ms",
                     "seconds between messages to stats; 0: no messages"):
            assert unit in thing.__doc__
        for method, unit in (("set_frequency", "in Hz"), ("set_sample_rate", "samples per second"),
                             ("set_gain", "in dB"), ("set_bandwidth", "in Hz")):
            text = getattr(thing, method).__doc__
            assert unit in text and "Returns False" in text and "any thread" in text
        for method in ("format", "tune", "set_settings", "summary"):
            assert len(getattr(thing, method).__doc__.splitlines()[-2:]) == 2 and "." in getattr(thing, method).__doc__
    assert "samples per second" in iio_stream.sink.__doc__


TOGETHER = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from gnuradio import blocks, iio_stream

def open_ours():
    for _ in range(1000):
        iio_stream.source("sim:?rate=0", buffers=2, buffer_size=64)

def make_others():
    for _ in range(60_000):
        blocks.null_sink(8)

threads = [threading.Thread(target=work) for work in [open_ours] * 4 + [make_others] * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("whole")
"""


def test_several_threads_can_make_blocks():
    """The interpreter lock protects the tables of pybind11, and opening a source releases the lock."""
    done = subprocess.run([sys.executable, "-B", "-c", TOGETHER, BUILD / "gr"], capture_output=True, text=True,
                          timeout=5 * DEADLINE, check=False)
    assert done.returncode == 0 and done.stdout.endswith("whole\n"), (done.returncode, done.stderr[-2000:])


def test_a_slow_source_delivers_a_part_of_a_block(tmp_path):
    """The source is a FIFO that stays open and contains less than a block."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with open(path, "r+b", buffering=0) as pipe:
        top, sink = gr.top_block(), blocks.vector_sink_i()
        top.connect(iio_stream.source(f"file:{path}?format=ci16_le", "sc16"), sink)
        top.start()
        for count in 100, 107:
            pipe.write(np.arange(count - len(sink.data()), dtype="<i4").tobytes())
            until(lambda wanted=count: len(sink.data()) == wanted)
        top.stop()
        top.wait()
    assert list(sink.data()) == [*range(100), *range(7)]
