# SPDX-License-Identifier: MIT
"""Unmodified programs for libiio 0.x that run in the guest: with `iio-stream run`, and as clients of
`iio-stream serve`."""
import numpy as np
from conftest import ADC, DAC

SAMPLE = 8  # four channels of 16 bits: a word of the ramp
CHANNELS = ["voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q"]


def python(text):
    return ["/usr/bin/python3", "-B", "-c", text]


def binding(uri, timeout_ms=5000):
    """Returns a program with Debian's Python binding: it captures, extracts one channel, and opens the device
    again."""
    return python(f"""
import sys
import iio
context = iio.Context("{uri}")
context.set_timeout({timeout_ms})
device = context.find_device("{ADC}")
for channel in device.channels:
    channel.enabled = True
buffer = iio.Buffer(device, 5000)  # not a multiple of a page
for _ in range(20):
    buffer.refill()
    sys.stdout.buffer.write(bytes(buffer.read()))
first = buffer.read()
one = device.channels[1]
wanted = [first[i * 8 + 2:i * 8 + 4] for i in range(5000)]
assert bytes(one.read(buffer, True)) == b"".join(wanted)
del buffer
second = iio.Buffer(device, 4096)  # the device is free again
second.refill()
assert len(second.read()) == 4096 * 8
del second
""")


def binding_out(uri, seconds=1):
    """Returns a program with Debian's Python binding that plays its stdin in buffers of 8192 samples."""
    return python(f"""
import sys
import time
import iio
context = iio.Context("{uri}")
device = context.find_device("{DAC}")
for channel in device.channels:
    channel.enabled = True
buffer = iio.Buffer(device, 8192)
data = sys.stdin.buffer.read()
for at in range(0, len(data), 65536):
    assert buffer.write(bytearray(data[at:at + 65536])) == 65536
    buffer.push()
time.sleep({seconds})  # libiio does not wait for pushed buffers
del buffer
""")


def flowgraph(uri, samples):
    """Returns a flowgraph with gr-iio's source."""
    return python(f"""
import sys
import numpy as np
from gnuradio import blocks, gr, iio
top = gr.top_block()
source = iio.device_source("{uri}", "{ADC}", {CHANNELS}, "{ADC}", [], 8192, 0)
sinks = [blocks.vector_sink_s() for _ in range(4)]
for port, sink in enumerate(sinks):
    top.connect((source, port), blocks.head(2, {samples}), sink)
top.run()
sys.stdout.buffer.write(np.array([sink.data() for sink in sinks], "<i2").T.tobytes())
""")


def flowgraph_out(uri):
    """Returns a flowgraph in which gr-iio's sink plays 40 buffers of 8192 samples of the ramp."""
    return python(f"""
import time
import numpy as np
from gnuradio import blocks, gr, iio
top = gr.top_block()
sink = iio.device_sink("{uri}", "{DAC}", {CHANNELS}, "{DAC}", [], 8192, 0)
words = np.arange(40 * 8192, dtype="<u8").view("<i2").reshape(-1, 4)
for port in range(4):
    top.connect(blocks.vector_source_s(words[:, port].tolist()), (sink, port))
top.run()
time.sleep(1)  # libiio does not wait for pushed buffers
""")


def ramp_of(data):
    """Returns the words of the data, and checks that they count without gaps."""
    words = np.frombuffer(data, np.uint64)
    assert len(words) > 0 and (words == np.arange(words[0], words[0] + len(words), dtype=np.uint64)).all()
    return words
