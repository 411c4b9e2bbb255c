# SPDX-License-Identifier: MIT
"""The setters of the blocks on endpoints that are not radios: they report the error and do not end the
flowgraph. tests/vm/test_gnuradio.py tests them on a radio."""
import math

import pytest
from conftest import Heard
from gnuradio import blocks, gr, iio_stream
from waiting import until

SETTERS = [("set_frequency", 2.4e9, ("frequency", 2.4e9)), ("set_sample_rate", 1e6, ("rate", 1e6)),
           ("set_gain", 40, ("gain", 40.0)), ("set_bandwidth", 5e6, ("bandwidth", 5e6)),
           ("set_settings", {"agc": "slow_attack"}, {"agc": "slow_attack"})]


def running(block):
    """Starts a flowgraph with the block, and returns it and the block's messages."""
    top = gr.top_block()
    if isinstance(block, iio_stream.source):
        top.connect(block, blocks.null_sink(8))
    else:
        top.connect(blocks.null_source(8), blocks.throttle(8, 1e6), block)
    heard = Heard(top, block)
    top.start()
    return top, heard


def progress(block):
    return block.nitems_written(0) if isinstance(block, iio_stream.source) else block.nitems_read(0)


@pytest.mark.parametrize("make, scheme", [(lambda: iio_stream.source("sim:?rate=1M"), "sim"),
                                          (lambda: iio_stream.sink("null:"), "null")])
def test_a_setter_that_fails_returns_false_and_the_flowgraph_continues(make, scheme):
    block = make()
    top, heard = running(block)
    for number, (name, value, command) in enumerate(SETTERS, 1):
        assert getattr(block, name)(value) is False
        until(lambda wanted=number: len(heard("answer")) == wanted, "an answer")
        answer = heard("answer")[-1]
        assert answer["command"] == command
        assert f"{scheme}: cannot be tuned" in answer["error"]["message"]
    before = progress(block)
    until(lambda: progress(block) > before, "more samples")
    top.stop()
    top.wait()
    assert heard("error") == []


def test_a_setter_logs_its_error(capfd):
    iio_stream.source("sim:").set_gain(40)
    until(lambda: "sim: cannot be tuned" in "".join(capfd.readouterr()), "a line of the log")


def test_a_setter_without_a_value_changes_nothing():
    block = iio_stream.source("sim:?rate=1M")
    top, heard = running(block)
    assert all(getattr(block, name)(None) for name, *_ in SETTERS[:4])
    assert block.set_settings({}) and block.set_settings({"gain": None})
    assert not block.set_gain(1)  # its answer is the first one
    until(lambda: heard("answer"), "an answer")
    assert len(heard("answer")) == 1
    top.stop()
    top.wait()


@pytest.mark.parametrize("value", [math.nan, math.inf, -1e9])
def test_a_value_that_is_not_possible_is_an_error_and_not_an_exception(value):
    for name, *_ in SETTERS[:4]:
        assert getattr(iio_stream.source("sim:"), name)(value) is False


def test_a_setters_argument_must_be_a_number():
    source = iio_stream.source("sim:")
    with pytest.raises(TypeError, match="hertz='2.4G' is not a number"):
        source.set_frequency("2.4G")
    with pytest.raises(TypeError, match="has no argument 'freq'"):
        source.set_frequency(freq=1)
