# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""The cost of a block in Python: instructions, counted by the guest's clock, compared with the same loop in
C++ (tests/bench/reader.cpp), and with reading through libiio."""
import pathlib
import subprocess
import time

import iio  # noqa: F401  # imported before the programs are timed
import pytest
from conftest import ADC

import iio_stream as ios

CPP_LOOP = pathlib.Path(__file__).resolve().parents[2] / "build/tests/bench/reader"
SOURCE = f"iio:{ADC}?memory=heap:system&path=dmabuf"
BLOCKS = 8
SIZES = {"64Ki": (65536, 4000), "1Mi": (1 << 20, 2000)}
BAR = 25_000

TURNS = 256  # blocks of 1 MiB in the programs below
GIB = 1 << 30
# Programs as a user would write them: arrays of shape (samples, channels), and complex numbers with a full
# scale of 1.0.
OURS = """
import iio_stream as ios
with ios.source(f"iio:{device}", block_size="1Mi", blocks=8, bytes=turns << 20) as rx:
    for block in rx:
        x = block.%s
"""
LIBIIO = """
import iio, numpy as np
adc = iio.LocalContext().find_device(device)
channels = [channel for channel in adc.channels if channel.scan_element and not channel.output]
for channel in channels:
    channel.enabled = True
adc.set_kernel_buffers_count(8)
buffer = iio.Buffer(adc, (1 << 20) // adc.sample_size)
for _ in range(turns):
    buffer.refill()
    x = np.frombuffer(buffer.read(), np.int16).reshape(-1, len(channels))
"""
COMPLEX = """\
    iq = (x[:, 0::2] + np.complex64(1j) * x[:, 1::2]) / np.float32(32768)
"""
PROGRAMS = {
    "iio_stream, array": OURS % "array",
    "iio_stream, iq()": OURS % "iq()",
    "libiio, array": LIBIIO,
    "libiio, complex": LIBIIO + COMPLEX,
}


def cpp_nanoseconds(size, turns):
    output = subprocess.run([CPP_LOOP, SOURCE, str(size), str(BLOCKS), str(turns)], capture_output=True,
                            text=True, check=True, timeout=120).stdout
    return int(output)


def python_nanoseconds(size, turns):
    with ios.source(SOURCE, block_size=size, blocks=BLOCKS, bytes=size * (turns + 1)) as rx:
        assert rx.route[0].mechanism == "dmabuf"
        next(rx)
        begin, seen = time.monotonic_ns(), 0
        for block in rx:
            seen += block.array.nbytes
        taken = time.monotonic_ns() - begin
    assert seen == size * turns
    return taken


@pytest.mark.parametrize("name", SIZES)
def test_a_block_costs_little_more_in_python_than_in_cpp(name):
    size, turns = SIZES[name]
    cpp, python = cpp_nanoseconds(size, turns) / turns, python_nanoseconds(size, turns) / turns
    print(f"\n{name}: {python:.0f} instructions per block in Python, {cpp:.0f} in C++: {python - cpp:.0f} more")
    assert python - cpp <= BAR


@pytest.fixture(scope="module")
def table():
    """Returns {program: (million instructions per GiB, number of lines)}. The instructions are the process's
    own, user and kernel."""
    rows = {}
    for name, text in PROGRAMS.items():
        names = {"device": ADC, "turns": TURNS}
        program = compile(text, name, "exec")
        before = time.process_time()
        exec(program, names)
        own = (time.process_time() - before) * 1e3 * GIB / (TURNS << 20)
        names.clear()  # ends libiio's stream
        rows[name] = own, text.strip().count("\n") + 1
        print(f"\n{name}: {own:.1f} M instructions per GiB, {rows[name][1]} lines")
    return rows


@pytest.mark.parametrize("ours,theirs", [("iio_stream, array", "libiio, array"),
                                         ("iio_stream, iq()", "libiio, complex")])
def test_our_programs_are_cheaper_and_shorter_than_with_libiio(table, ours, theirs):
    assert table[theirs][0] > 3 * table[ours][0] > 0
    assert table[theirs][1] > 2 * table[ours][1]
