# SPDX-License-Identifier: MIT
"""Shared parts of the tests of the GNU Radio blocks. These tests run on any host, without hardware, and use
the blocks in build/:

    /usr/bin/python3 -m pytest -q tests/gr
"""
import os
import pathlib
import sys
import threading

import numpy as np
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("IIO_STREAM_BUILD", REPOSITORY / "build")).resolve()
DEADLINE = 60  # time limit of each flowgraph in seconds, sufficient for a busy machine

sys.path.insert(0, str(BUILD / "gr"))
sys.path.insert(0, str(REPOSITORY / "tests"))
os.environ.setdefault("GR_CONF_CONTROLPORT_ON", "False")

import pmt  # noqa: E402
from gnuradio import blocks, gr, iio_stream  # noqa: E402

assert pathlib.Path(iio_stream.__file__).is_relative_to(BUILD), f"{iio_stream.__file__} is not the module in build/"

#: A vector sink and the dtype of its data, for each type of port.
SINKS = {"fc32": (blocks.vector_sink_c, np.complex64), "sc16": (blocks.vector_sink_i, np.int32),
         "f32": (blocks.vector_sink_f, np.float32), "s16": (blocks.vector_sink_s, np.int16)}


def finish(top, deadline=DEADLINE):
    """Waits for a flowgraph to end on its own."""
    waiter = threading.Thread(target=top.wait, daemon=True)
    waiter.start()
    waiter.join(deadline)
    if waiter.is_alive():
        top.stop()
        waiter.join(deadline)
        pytest.fail(f"the flowgraph did not end within {deadline} s")


def run(top):
    top.start()
    finish(top)


class Heard:
    """The messages of a port of a block, as Python objects."""

    def __init__(self, top, block, port="async_msgs"):
        self._debug = blocks.message_debug()
        top.msg_connect(block, port, self._debug, "store")

    def __call__(self, what=None):
        """Returns all messages, or the dictionaries of one kind of async_msgs."""
        found = [pmt.to_python(self._debug.get_message(i)) for i in range(self._debug.num_messages())]
        return found if what is None else [body for kind, body in found if kind == what]


class Received:
    """Runs a source until it ends, and holds its output: the data of each port, the tags of the first port,
    and the messages."""

    def __init__(self, endpoint, type="fc32", vlen=1, ports=1, **options):
        self.top = gr.top_block()
        self.source = iio_stream.source(endpoint, type, vlen, **options)
        make, dtype = SINKS[type]
        sinks = [make(vlen) for _ in range(ports)]
        for port, sink in enumerate(sinks):
            self.top.connect((self.source, port), sink)
        self.said = Heard(self.top, self.source)
        run(self.top)
        self.ports = [np.array(sink.data(), dtype) for sink in sinks]
        if type == "sc16":
            self.ports = [data.view(np.int16).reshape(-1, 2) for data in self.ports]
        self.tags = sorted(((tag.offset, pmt.to_python(tag.key), pmt.to_python(tag.value))
                            for tag in sinks[0].tags()), key=lambda tag: tag[:2])
        self.tags_of_ports = [sorted((tag.offset, pmt.to_python(tag.key)) for tag in sink.tags())
                              for sink in sinks]

    def tagged(self, key):
        return [(offset, value) for offset, name, value in self.tags if name == key]


def ramp(count):
    """Returns the first values of a ramp of ci16_le, in memory order."""
    return np.arange((count + 3) // 4, dtype="<u8").view("<i2")[:count]
