# SPDX-License-Identifier: MIT
"""Unmodified programs for libiio 0.x with `iio-stream run`: Debian's utilities, and Debian's Python binding.
Tests that also run each program without `iio-stream run` expect the same data."""
import os
import pathlib
import re
import socket
import subprocess

import counts
import numpy as np
import pytest
from conftest import ADC, DAC, attached_dmabufs, sim, truth
from libiio_programs import SAMPLE, binding, binding_out, flowgraph, flowgraph_out, ramp_of
from playing import count, no_gap
from waiting import until

RUN = ["iio-stream", "run", "--"]
BOTH = pytest.mark.parametrize("by", counts.pick([RUN], [[], RUN]))  # [] runs the program without iio-stream
HERE = pathlib.Path(__file__).resolve().parent
COMPAT = pathlib.Path(__file__).resolve().parents[2] / "build" / "compat"

@pytest.fixture(autouse=True)
def fresh():
    sim()


def answers():
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", 30431)) == 0


def said(words, **options):
    done = subprocess.run(words, capture_output=True, timeout=120, check=False, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done


def largest_read(calls):
    return max(int(count) for count in re.findall(r" read\(.* = (\d+)$", calls.read_text(), re.M))


@pytest.mark.parametrize("samples", [131072, 8192, 500])
def test_iio_readdev_captures_by_dmabuf(tmp_path, samples):
    wanted = 2 << 20
    calls = tmp_path / "calls"
    done = said(["strace", "-f", "-o", calls, "-e", "trace=read,ioctl,openat", *RUN, "iio_readdev", "-u", "local:",
                 "-T", "5000", "-b", str(samples), "-s", str(wanted), ADC])
    assert len(done.stdout) == wanted * SAMPLE and ramp_of(done.stdout)[0] == 0
    assert calls.read_text().count("_IOC(_IOC_WRITE, 0x69, 0x94,") > 8  # IIO_DMABUF_ENQUEUE
    assert largest_read(calls) < 8192  # only reads of text and of libraries
    assert truth() == ([], 0)


@BOTH
def test_the_python_binding_refills_reads_channels_and_restarts(by):
    data = said([*by, *binding("local:")]).stdout
    assert len(data) == 20 * 5000 * SAMPLE
    ramp_of(data)
    assert attached_dmabufs() == 0


@BOTH
def test_the_python_binding_plays(by):
    data = np.arange(40 * 8192, dtype=np.uint64).tobytes()
    said([*by, *binding_out("local:")], input=data)
    assert count("delivered") == 40 * 8192
    no_gap()


@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_a_burst_of_few_buffers_is_played_while_the_program_continues(buffers):
    """The device does not have to wait for a fourth buffer. With libiio alone, the last one or two of so few
    buffers wait for more."""
    said([*RUN, *binding_out("local:", seconds=4)], input=np.arange(buffers * 8192, dtype=np.uint64).tobytes())
    assert count("delivered") == buffers * 8192
    no_gap()


@BOTH
def test_iio_writedev_plays_its_input(by):
    data = np.arange(64 * 8192, dtype=np.uint64).tobytes()
    subprocess.run([*by, "iio_writedev", "-u", "local:", "-T", "5000", "-b", "8192", "-s", str(64 * 8192), DAC],
                   input=data, timeout=120, check=True, capture_output=True)
    assert count("delivered") >= 60 * 8192  # both drop the last queued buffers
    assert count("mismatches") == 0


@BOTH
def test_gr_iios_source_delivers_every_sample(by):
    # GNU Radio prints text before the samples.
    data = said([*by, *flowgraph("local:", 400_000)]).stdout[-400_000 * SAMPLE:]
    assert len(ramp_of(data)) == 400_000


@BOTH
def test_gr_iios_sink_plays_every_sample(by):
    said([*by, *flowgraph_out("local:")])
    assert count("delivered") == 40 * 8192
    no_gap()


@BOTH
def test_iiod_serves_one_client_after_the_other(by):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    server = subprocess.Popen([*by, "iiod"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        until(answers, "iiod's first answer")
        for _ in range(16):
            data = said(["iio_readdev", "-u", "ip:127.0.0.1", "-T", "10000", "-b", "8192", "-s", "65536", ADC]).stdout
            assert len(ramp_of(data)) == 65536
        assert by == [] or str(COMPAT) in pathlib.Path(f"/proc/{server.pid}/maps").read_text()
    finally:
        server.kill()
        server.wait()


def metrics(file):
    """Returns the counters of one device."""
    found = re.findall(r'^iio_stream_(\w+)_total{device="iio:device\d+"} (\d+)$', file.read_text(), re.M)
    assert len(found) == len(dict(found)) > 5
    return {name: int(value) for name, value in found}


def test_losses_are_reported(tmp_path):
    sim(rate=500_000, drop_at=200_000, drop=1000, drop_every=200_000, drop_xflow=1)
    file = tmp_path / "m.prom"
    done = said([*RUN[:2], "--metrics-file", file, "--", "iio_readdev", "-u", "local:", "-b", "65536", "-s", str(1 << 20),
                 ADC])
    assert len(done.stdout) == (1 << 20) * SAMPLE
    jumps, lost = truth()
    *_, last = re.findall(rb"iio-stream: iio:device\d+: \d+ gaps?, \d+ possible; (\d+)(?: to (\d+|\?))? samples lost",
                          done.stderr)
    least, most = int(last[0]), last[1] or last[0]
    within = sum(number for at, number in jumps if at < 1 << 20)  # the device continued for a while
    assert within > 0 and least <= lost and (most == b"?" or within <= int(most)), (done.stderr, jumps)
    counted = metrics(file)
    assert counted["samples"] >= 1 << 20 and counted["lost_samples_min"] == least
    assert counted["gaps_certain"] + counted["gaps_possible"] > 0


@pytest.mark.parametrize("way,status", [("return", 0), ("exit", 0), ("_exit", 0), ("_Exit", 0), ("signal", -15)])
def test_losses_are_reported_however_the_program_ends(tmp_path, way, status):
    """The program does not call iio_buffer_destroy(). A loss is detected within a second."""
    program, file, rate = tmp_path / "unfinished", tmp_path / "m.prom", 500_000
    subprocess.run(["cc", "-o", program, HERE / "unfinished.c", "-liio"], check=True)
    sim(rate=rate, drop_at=100_000, drop=1000, drop_every=100_000, drop_xflow=1)
    samples = 3 * rate // 2
    done = subprocess.run([*RUN[:2], "--metrics-file", file, "--", program, ADC, str(samples), way],
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    jumps, lost = truth()
    *_, last = re.findall(rb"iio-stream: iio:device\d+: \d+ gaps?, \d+ possible; (\d+)(?: to (\d+|\?))? samples lost",
                          done.stderr)
    least, most = int(last[0]), last[1] or last[0]
    known = sum(number for at, number in jumps if at < samples - rate)
    assert known > 0 and least <= lost and (most == b"?" or known <= int(most)), (done.stderr, jumps)
    counted = metrics(file)
    assert counted["lost_samples_min"] == least and counted["gaps_certain"] + counted["gaps_possible"] > 0


def test_metrics_cover_all_successive_buffers_of_a_device(tmp_path):
    file = tmp_path / "m.prom"
    said([*RUN[:2], "--metrics-file", "m.prom", "--",
          "sh", "-c", 'cd /; exec "$@"', "sh", *binding("local:")], cwd=tmp_path)
    assert metrics(file)["samples"] >= 20 * 5000 + 4096


def test_an_unwritable_metrics_file_is_an_immediate_error(tmp_path):
    done = subprocess.run([*RUN[:2], "--metrics-file", tmp_path / "no" / "m.prom", "--", "true"], capture_output=True,
                          check=False)
    assert done.returncode == 5 and b"no/m.prom" in done.stderr


def test_path_off_uses_libiios_own_path(tmp_path):
    calls = tmp_path / "calls"
    said(["strace", "-f", "-o", calls, "-e", "trace=read,openat", "iio-stream", "run", "--path", "off", "--", "iio_readdev",
          "-u", "local:", "-b", "8192", "-s", "65536", ADC])
    assert largest_read(calls) >= 8192


def test_install_prints_an_equivalent_command():
    lines = said(["iio-stream", "run", "--install"]).stdout.decode()
    profile = re.search(r"^export LD_LIBRARY_PATH=.*$", lines, re.M)[0]
    program = "import iio; iio.Context('local:'); print(open('/proc/self/maps').read())"
    maps = said(["sh", "-c", f'{profile}; exec /usr/bin/python3 -c "$0"', program]).stdout.decode()
    assert str(COMPAT / "libiio.so.0") in maps
    folder = re.search(r"^Environment=LD_LIBRARY_PATH=(.*)$", lines, re.M)[1]
    assert (pathlib.Path(folder) / "libiio.so.0").exists() and os.path.isabs(folder)


def test_a_buffer_whose_size_overflows_is_refused():
    """The buffer's size in bytes does not fit into 64 bits. Truncated, it can be as small as 0 or 80."""
    program = ("import ctypes, errno, iio; adc = iio.Context('local:').find_device('iios-sim-adc')\n"
               "for channel in adc.channels: channel.enabled = channel.scan_element\n"
               "for samples in (2**61 + 10, 2**62 + 20, 2**63, 2**64 - 1):\n"
               "    try: iio.Buffer(adc, samples)\n"
               "    except OSError as error: assert error.errno == errno.ERANGE, error\n"
               "    else: raise AssertionError(samples)\n")
    said(["iio-stream", "run", "--", "/usr/bin/python3", "-c", program])
