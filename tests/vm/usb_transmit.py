# SPDX-License-Identifier: MIT
"""Shared by the tests of the transmit direction, in which a board receives and a host sends."""
from conftest import DAC, interrupt, knob, run, start
from playing import count, no_gap
from usb import FFS, end, moved, udc
from waiting import until

MI = 1 << 20
TAKES = f"{FFS} format=ci16_le channel_names=4"
RAMP = "sim: pattern=ramp channels=4 rate=0"


def taker(*words, sink=f"iio:{DAC}", options="", **more):
    """Starts the board's program, which receives the host's samples."""
    return start("stream", TAKES, options, sink, *words, "--json", **more)


def send(*words, source=RAMP, timeout=120, state=0):
    """Runs the host's program until it ends."""
    return run("stream", source, "usb: wait=30s", *words, "--json", timeout=timeout, status=state)


def sender(*words, source=RAMP):
    """Starts a program on the host, and returns it in the middle of its stream.

    Its rate is 60 MB/s in a guest on a quiet machine. The stream has no end of its own, so the program
    still sends when a slow guest performs the next step of the test."""
    process = start("stream", source, "usb: wait=30s", *words, "--json")
    until(lambda: int(udc("bytes")) > 2 * MI or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def end_sender(process, nbytes=8 * MI):
    """Ends a program on the host after that many more bytes. Returns its summary."""
    before = moved()
    until(lambda: moved() > before + nbytes or process.poll() is not None, "more blocks", 120)
    interrupt(process)
    summary = end(process).json
    assert summary["ended"] == "signal"
    return summary


def check_dac(on_board, nbytes):
    told = f"{on_board.out}\n{on_board.err}\n{knob('summary', device=DAC)}"
    assert on_board.json["ended"] == "eof", told
    assert on_board.json["bytes"] == nbytes == 8 * count("delivered"), told
    assert on_board.gaps["certain"] == on_board.gaps["possible"] == 0, told
    no_gap()
