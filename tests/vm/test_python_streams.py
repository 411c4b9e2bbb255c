# SPDX-License-Identifier: MIT
"""Python programs with real devices: they transmit, fork, are interrupted, and run the README's snippet, both
from the build tree and from an environment into which pip has installed the package."""
import os
import pathlib
import re
import signal
import subprocess
import sys

import counts
import numpy as np
import pytest
from conftest import ADC, DAC, attached_dmabufs, finish, knob, run, sim
from playing import count, no_gap

import iio_stream as ios
from waiting import until

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALLED = ROOT / "build" / "pip" / "venv" / "bin" / "python"  # tests/package/test_pip.py creates it
FOUR = ios.Format.parse("ci16_le", 4)  # a sample is one word of the ramp


@pytest.fixture(autouse=True)
def fresh():
    sim()


def test_the_dac_reads_arrays_without_a_copy():
    place, seen = 0, {}
    with ios.sink(f"iio:{DAC}", format=FOUR, path="dmabuf", block_size="64Ki", blocks=8) as tx:
        assert tx.route[-1].mechanism == "dmabuf" and tx.route.copies == 0
        for _ in range(100):
            block = tx.take()
            ramp = block.array.reshape(-1).view("<u8")
            seen.setdefault(block.index, set()).add(ramp.__array_interface__["data"][0])
            ramp[:] = np.arange(place, place + len(block), dtype=np.uint64)
            place += len(block)
            del ramp
            tx.put(block)
    assert tx.summary.stats.samples == count("delivered") == place == 100 * 8192
    assert tx.summary.copies == 0 and all(len(addresses) == 1 for addresses in seen.values())
    no_gap()


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_the_dac_plays_written_arrays(path):
    with ios.sink(f"iio:{DAC}", format=FOUR, path=path, block_size="64Ki", blocks=8) as tx:
        for first in range(0, 40 * 8192, 5000):  # never a whole block
            samples = np.arange(first, min(first + 5000, 40 * 8192), dtype=np.uint64).view("<i2").reshape(-1, 4)
            assert tx.write(samples) == len(samples)
    assert tx.summary.stats.samples == count("delivered") == 40 * 8192
    no_gap()


def test_failed_preparations_leave_no_dmabuf_attached(tmp_path):
    # At the next attempt, the previous pool no longer exists, and its fd numbers are in use again.
    before = attached_dmabufs()
    session = ios.Session()
    session.add(f"iio:{ADC}?path=dmabuf", str(tmp_path / "a.ci16"), blocks=8, block_size="64Ki", samples=100_000)
    (tmp_path / "a.ci16").touch()
    for _ in range(4):
        with pytest.raises(FileExistsError):
            session.prepare()
    until(lambda: attached_dmabufs() - before <= 8, "only the last preparation's DMABUFs are attached")
    (tmp_path / "a.ci16").unlink()
    session.prepare()
    session.start()
    assert session.wait(30)
    assert session.pipelines[0].summary.error is None
    del session


def test_received_samples_can_be_transmitted():
    with ios.source(f"iio:{ADC}", bytes="4Mi", block_size="64Ki") as rx, \
            ios.sink(f"iio:{DAC}", format=rx.format, block_size="64Ki") as tx:
        for block in rx:
            tx.write(block)
    assert count("delivered") == (4 << 20) // 8
    no_gap()


def test_a_fork_leaves_the_device_to_its_parent():
    program = f"""
import os
import numpy as np
import iio_stream as ios
with ios.source("iio:{ADC}", path="dmabuf", bytes="8Mi", block_size="64Ki") as rx:
    first = next(rx)
    view = first.array
    child = os.fork()
    if child == 0:
        try:
            next(rx)
        except RuntimeError as error:
            print("child:", "fork" in str(error), view[1, 0], flush=True)
        del first, view
        raise SystemExit
    assert os.waitpid(child, 0)[1] == 0
    place = len(first)
    for block in rx:
        ramp = block.array.reshape(-1).view("<u8")
        assert (ramp == np.arange(place, place + len(ramp), dtype=np.uint64)).all()
        place += len(ramp)
    assert (view.reshape(-1).view("<u8") == np.arange(len(first), dtype=np.uint64)).all()
    print("parent:", place)
"""
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=120,
                          check=False)
    assert (done.returncode, done.stdout) == (0, f"child: True 1\nparent: {1 << 20}\n"), done.stderr


SOURCE = f'ios.source("iio:{ADC}", path="PATH", block_size="64Ki", timeout="1h")'
WAITS = {
    "next": f"with {SOURCE} as stream: next(stream)",
    "async": f"with {SOURCE} as stream: asyncio.run(read(stream))",
    "stream": f'ios.stream(ios.uri("iio:{ADC}", path="PATH"), "null:", block_size="64Ki", timeout="1h")',
}


@pytest.mark.parametrize("path,wait", counts.some([
    ("dmabuf", "next"), ("fileio", "next"), ("fileio", "async"), ("dmabuf", "async"), ("dmabuf", "stream"),
    ("fileio", "stream")]))
def test_control_c_ends_the_wait_for_a_device(path, wait):
    sim(rate=1000)  # a block takes 8 s
    text = ("import asyncio\nimport iio_stream as ios\nasync def read(rx):\n    async for _ in rx: pass\n"
            f"print('here', flush=True)\n{WAITS[wait].replace('PATH', path)}\n")
    process = subprocess.Popen([sys.executable, "-B", "-c", text], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    enabled = pathlib.Path("/sys/bus/iio/devices") / ios.device(ADC).id / "buffer0/enable"
    until(lambda: enabled.read_text() == "1\n" or process.poll() is not None, "the stream")
    assert process.poll() is None, process.communicate()
    os.kill(process.pid, signal.SIGINT)
    result = finish(process, 30)
    # An interrupted ios.stream() raises Interrupted, which is a KeyboardInterrupt.
    assert result.status in (1, -signal.SIGINT), result.err
    assert re.search(r"KeyboardInterrupt|session\.Interrupted", result.err), result.err
    assert enabled.read_text() == "0\n"
    knob("rate", 0)
    run(f"stream iio:{ADC} path={path} verify:ramp --samples 20000")


@pytest.mark.parametrize("python", [pathlib.Path("/usr/bin/python3"), INSTALLED], ids=["debian", "pip"])
def test_the_snippet_of_the_readme_runs_as_printed(python):
    if not python.exists():
        pytest.skip("tests/package/test_pip.py has not made the environment")
    environment = dict(os.environ)
    if python == INSTALLED:  # it must not use the build tree
        for name in ("PYTHONPATH", "LD_LIBRARY_PATH"):
            environment.pop(name)

    def said(program):
        return subprocess.run([python, "-B", "-c", program, f"iio:{ADC}"], capture_output=True, text=True,
                              timeout=300, check=True, env=environment).stdout

    snippet = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    told = said(snippet)
    assert "dmabuf" in told
    blocks = re.findall(r"^sample \d+: \((\d+), \d+\) of int16, complex64", told, re.MULTILINE)
    assert sum(int(number) for number in blocks) == 1_000_000
    holds = snippet.replace("        iq =", "        r = x.reshape(-1).view('u8')\n"
                            "        assert (r == np.arange(block.sample_index, block.sample_index + len(r))).all()\n"
                            "        iq =")
    told = said(f"import numpy as np\n{holds}\nimport iio_stream; print(iio_stream.__file__)")
    assert told.count("sample") == len(blocks)
    home = python.parents[1] if python == INSTALLED else ROOT / "build"
    assert str(home) in told.splitlines()[-1]
