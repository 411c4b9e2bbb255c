# SPDX-License-Identifier: MIT
"""zmq: exchanges samples with GNU Radio's own zeromq blocks."""
import contextlib
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import BUILD, DEADLINE, ramp
from gnuradio import blocks, gr, zeromq
from waiting import until

COUNT = 100_000
COMMAND = str(BUILD / "iio-stream")


def finished(process):
    try:
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.mark.parametrize("pattern,block", [("pub", zeromq.sub_source), ("push", zeromq.pull_source)])
def test_gnu_radio_receives_samples_from_zmq(tmp_path, pattern, block):
    address = f"ipc://{tmp_path}/samples"
    top = gr.top_block()
    source, head, sink = block(gr.sizeof_short, 2, address), blocks.head(4, COUNT), blocks.vector_sink_s(2)
    top.connect(source, head, sink)
    top.start()
    sender = subprocess.Popen([COMMAND, "stream", "sim:", "pattern=ramp", "rate=2M", f"zmq:{address}", f"pattern={pattern}",
                               "wait=on", "on-full=block", "--samples", str(COUNT), "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert finished(sender)["samples"] == COUNT
    until(lambda: len(sink.data()) == 2 * COUNT, "the last sample")
    top.stop()
    top.wait()
    assert (np.array(sink.data()) == ramp(2 * COUNT)).all()


def test_gnu_radio_receives_samples_from_zmq_with_an_index(tmp_path):
    address = f"ipc://{tmp_path}/samples"
    top = gr.top_block()
    source = zeromq.sub_source(gr.sizeof_short, 2, address, 100, False, -1, "iio-stream:index")
    head, sink = blocks.head(4, COUNT), blocks.vector_sink_s(2)
    top.connect(source, head, sink)
    top.start()
    sender = subprocess.Popen([COMMAND, "stream", "sim:", "pattern=ramp", "rate=2M", f"zmq:{address}", "index=on", "wait=on",
                               "on-full=block", "--samples", str(COUNT), "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert finished(sender)["samples"] == COUNT
    until(lambda: len(sink.data()) == 2 * COUNT, "the last sample")
    top.stop()
    top.wait()
    assert (np.array(sink.data()) == ramp(2 * COUNT)).all()


@contextlib.contextmanager
def gnu_radio_sends(block, address):
    """Sends 2 * COUNT floats repeatedly, as complex numbers.

    The sender is a separate process that can be killed. push_sink polls for room and then sends without a
    deadline. If its last receiver leaves in between, it never ends, and neither does the flowgraph.
    """
    program = """
import sys
import numpy as np
from gnuradio import blocks, gr, zeromq
block, address, count = sys.argv[1:]
top = gr.top_block()
values = np.arange(2 * int(count), dtype=np.float32).view(np.complex64).tolist()
top.connect(blocks.vector_source_c(values, True),
            getattr(zeromq, block)(gr.sizeof_gr_complex, 1, address, 100, False))
top.run()
"""
    process = subprocess.Popen([sys.executable, "-c", program, block, address, str(COUNT)])
    try:
        yield
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(DEADLINE)


@pytest.mark.parametrize("pattern,block", [("sub", "pub_sink"), ("pull", "push_sink")])
def test_zmq_receives_samples_from_gnu_radio(tmp_path, pattern, block):
    address, path = f"ipc://{tmp_path}/samples", tmp_path / "got.cf32"
    receiver = subprocess.Popen([COMMAND, "stream", f"zmq:{address}", f"pattern={pattern}", "format=cf32_le",
                                 str(path), "--samples", str(COUNT), "--timeout", "30s", "--json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with gnu_radio_sends(block, address):
        summary = finished(receiver)
    values = np.arange(2 * COUNT, dtype=np.float32).view(np.complex64)
    got = np.fromfile(path, np.complex64)
    assert summary["samples"] == len(got) == COUNT
    first = int(got[0].real) // 2  # a subscriber can connect late
    assert (got == np.roll(values, -first)).all() and (pattern == "sub" or first == 0)
