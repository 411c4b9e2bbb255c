# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""The powerdown of a transmitter's oscillator during a stream, and after each way in which a stream can end.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_powerdown.py

The simulator's attribute keeps the last written value. Some drivers power the oscillator up when their DAC
starts; here the tests do that.
"""
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from board_scans import load
from conftest import finish, iio_dir, interrupt, knob, run, sim, start, stream
from serving import URI, Serving
from waiting import until

DAC, PHY = "cf-ad9361-dds-core-lpc", "ad9361-phy"
UP, DOWN = "0", "1"
POWER_UP = f"attr.{PHY}/TX_LO/powerdown=0"
SIM = "sim: pattern=ramp rate=0"
NAME = f"{PHY}/out_altvoltage1/powerdown"


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim(board="pluto", rate=1_000_000)


@pytest.fixture(autouse=True)
def powered_down():
    put(DOWN)


def file():
    return iio_dir(PHY) / "out_altvoltage1_TX_LO_powerdown"


def state():
    return file().read_text().strip()


def put(value):
    file().write_text(value)


def plays():
    return (iio_dir(DAC) / "buffer0/enable").read_text().strip() == "1"


def begin(*words):
    """Starts a stream that plays until it is stopped. Its deadline is longer than the delays of a guest on
    a busy host."""
    process = start("stream", *(words or (SIM, f"iio:{DAC}")), "--timeout 30s --json")
    until(lambda: plays() or process.poll() is not None, "the DAC's start")
    assert process.poll() is None, process.communicate()
    return process


def stop(process, number=signal.SIGINT):
    interrupt(process, number)
    result = finish(process)
    assert result.status == 0, result.err
    return result


@pytest.mark.parametrize("found", [UP, DOWN])
def test_a_stream_changes_nothing_by_default(found):
    put(found)
    process = begin()
    assert state() == found
    reason = stop(process).json["route"][-1]["reason"] or ""
    assert state() == found
    assert (f"{NAME} is 1: an oscillator that is powered down transmits nothing" in reason) == (found == DOWN)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_signal_restores_the_powerdown_of_an_oscillator(number, path):
    process = begin(SIM, f"iio:{DAC} path={path}")
    put(UP)
    assert "powered down" not in (stop(process, number).json["route"][-1]["reason"] or "")
    assert state() == DOWN


def test_an_oscillator_that_an_option_powers_up_is_powered_down_at_the_end():
    process = begin(SIM, f"iio:{DAC} {POWER_UP}")
    assert state() == UP
    stop(process)
    assert state() == DOWN
    assert stream(SIM, f"iio:{DAC} {POWER_UP} --samples 65536").json["samples"] == 65536
    assert state() == DOWN


def test_rate_auto_applies_the_options_later(tmp_path):
    recording = tmp_path / "a.sigmf-meta"
    run("record sim: pattern=ramp rate=1M", recording, "--samples 65536")
    run("play", recording, f"iio:{DAC} {POWER_UP}")  # rate=auto
    assert state() == DOWN


def test_an_error_restores_the_powerdown():
    # The error occurs before the stream.
    run("stream", SIM, f"iio:{DAC} {POWER_UP} attr.{PHY}/no-such-attribute=1", status=2)
    assert state() == DOWN
    knob("dead_at", 100_000, device=DAC)
    result = run("stream", SIM, f"iio:{DAC} {POWER_UP} --timeout 1s --json", status=3)
    knob("dead_at", "off", device=DAC)
    assert result.json["ended"] == "error" and result.json["samples"] > 0
    assert state() == DOWN


def test_a_powerdown_by_another_program_is_kept():
    put(UP)
    process = begin()
    put(DOWN)
    stop(process)
    assert state() == DOWN


def test_powerdown_off_powers_up_the_oscillator_permanently():
    process = begin(SIM, f"iio:{DAC} powerdown=off")
    assert state() == UP
    stop(process)
    assert state() == UP


def test_powerdown_keep_never_changes_the_powerdown():
    process = begin(SIM, f"iio:{DAC} powerdown=keep")
    assert state() == DOWN
    put(UP)
    stop(process)
    assert state() == UP


def test_a_killed_stream_does_not_restore_the_powerdown():
    process = begin(SIM, f"iio:{DAC} {POWER_UP}")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert state() == UP
    stream(SIM, f"iio:{DAC} --samples 4096")  # a later stream keeps the state that it finds
    assert state() == UP


def test_a_driver_that_refuses_the_powerdown_is_an_error(tmp_path):
    shim = tmp_path / "fault_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, pathlib.Path(__file__).with_name("fault_shim.c"), "-ldl"],
                   check=True)
    env = dict(os.environ, LD_PRELOAD=str(shim), FAULT_WRITE="TX_LO_powerdown:13", FAULT_VALUE=DOWN)
    result = run("stream", SIM, f"iio:{DAC} {POWER_UP} --samples 4096", status=3, env=env)
    assert f"restore {NAME}: Permission denied" in result.err and "powerdown=keep" in result.err


def test_powerdown_off_is_refused_without_an_oscillator():
    load("daq2")
    try:
        result = run("stream", SIM, "iio:axi-ad9144-hpc powerdown=off", status=2)
        assert "powerdown=off: axi-ad9144-hpc has no oscillator whose powerdown can be read" in result.err
        for words in ("", "powerdown=restore", "powerdown=keep"):
            stream(SIM, f"iio:axi-ad9144-hpc channels=voltage0,voltage1 iq=on {words} --samples 4096")
    finally:
        sim(board="pluto", rate=1_000_000)


def test_a_python_sink_restores_the_powerdown_at_each_close():
    ios = pytest.importorskip("iio_stream")
    with ios.sink(f"iio:{DAC}") as tx:
        tx.write(bytes(1 << 20))
        until(plays, "the DAC's start")
        put(UP)
    assert state() == DOWN
    with pytest.raises(KeyError), ios.sink(f"iio:{DAC}", **{f"attr.{PHY}/TX_LO/powerdown": 0}) as tx:
        assert state() == UP
        raise KeyError
    assert state() == DOWN
    put(UP)
    with ios.sink(f"iio:{DAC}", powerdown="off") as tx:
        tx.write(bytes(1 << 20))
    assert state() == UP


WRITER = ["iio_writedev", "-b", "8192"]
need_writer = pytest.mark.skipif(shutil.which(WRITER[0]) is None, reason="libiio-utils is not installed")


def end_of(words):
    """Runs a program of libiio that plays zeros, and powers the oscillator up in the meantime."""
    with open("/dev/zero", "rb") as zeros:
        process = subprocess.Popen(words, stdin=zeros, stderr=subprocess.PIPE, text=True)
        until(lambda: plays() or process.poll() is not None, "the DAC's start")
        assert process.poll() is None, process.communicate()
        put(UP)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    until(lambda: not plays(), "the DAC's end")


@need_writer
def test_programs_of_libiio_control_the_powerdown_themselves():
    end_of(["iio-stream", "run", "--", *WRITER, "-u", "local:", DAC])
    assert state() == UP
    put(DOWN)
    with Serving("--allow", f"play:{DAC}"):
        end_of([*WRITER, "-u", URI, DAC])
    assert state() == UP


@need_writer
def test_the_powerdown_of_a_remote_device_is_restored():
    with Serving("--allow", f"play:{DAC}", "--allow", f"{PHY}/*"):
        process = begin(SIM, f"iio:{DAC} uri={URI} {POWER_UP}")
        assert state() == UP
        stop(process)
        assert state() == DOWN
