# SPDX-License-Identifier: MIT
"""Tests `iio-stream serve` on the emulated ZCU102, whose network card (Linux's macb) has scatter-gather, with
a client on the host.

`script/cross arm64` builds the programs."""
import json
import pathlib
import re
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counts  # noqa: E402

pytestmark = [pytest.mark.skipif(not counts.FULL, reason="needs --full: emulates a board"), pytest.mark.timeout(1800)]

SIZE = 16 << 20  # bytes that the client reads
PIECE = 1 << 20
SECONDS = 120    # how long the server runs, not including the board's boot


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as any_one:
        return any_one.getsockname()[1]


def connected(port, board):
    """Returns a connection to the server. Before the server listens, a connection is refused or closed
    without an answer."""
    while board.poll() is None:
        try:
            line = socket.create_connection(("127.0.0.1", port), timeout=60)
            line.sendall(b"VERSION\r\n")
            if line.recv(4096):
                return line, line.makefile("rb")
        except ConnectionError:
            pass
        time.sleep(1)
    raise AssertionError(board.communicate()[1][-4000:])


def samples(line, answers):
    """Returns the samples that READBUF yields from all four channels of the simulator's ADC."""
    line.sendall(b"PRINT\r\n")
    xml = answers.read(int(answers.readline()) + 1).decode()
    adc = re.search(r'<device id="(iio:device\d+)" name="iios-sim-adc"', xml)[1]
    line.sendall(f"OPEN {adc} {PIECE // 8} 0000000f\r\n".encode())
    assert int(answers.readline()) == 0
    got = bytearray()
    while len(got) < SIZE:
        line.sendall(f"READBUF {adc} {PIECE}\r\n".encode())
        end, first = len(got) + PIECE, True
        while len(got) < end:
            size = int(answers.readline())
            assert size > 0, size
            if first:
                answers.readline()
            got += answers.read(size)
            first = False
    line.sendall(f"CLOSE {adc}\r\n".encode())
    assert int(answers.readline()) == 0
    return np.frombuffer(got, "<u8")


@pytest.mark.parametrize("way,mechanism,copies", [("auto", "send in place", 0), ("copy", "send", 1)])
def test_the_blocks_are_sent_in_place_or_copied_as_requested(way, mechanism, copies):
    port = free_port()
    with subprocess.Popen([ROOT / "script" / "vm", "--arch", "zcu102", "--sim", "rate=100000", "--forward", str(port), "--",
                           "iio-stream", "serve", "--listen", "*", "--send", way, "--json", "--duration", f"{SECONDS}s"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as board:
        line, answers = connected(port, board)
        with line, answers:
            words = samples(line, answers)
        out, err = board.communicate(timeout=900)
    assert board.returncode == 0, err[-4000:]
    steps = np.diff(words.astype(np.int64))
    assert len(words) == SIZE // 8 and (steps >= 1).all()
    [reader] = json.loads(out)["readers"]
    assert int((steps - 1).sum()) == reader["dropped_samples"]
    assert (reader["hop"]["mechanism"], reader["hop"]["copies"]) == (mechanism, copies), reader
