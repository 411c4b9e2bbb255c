# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""The cost for the board of a block from the ADC to USB: instructions, counted by the guest's clock, with a
controller that completes each request immediately and discards it."""
import json
import pathlib
import subprocess

import pytest
from conftest import ADC, DISK, start
from usb import FFS, GADGETS, RUN, UDC, ask_for_stream, end, gadget, udc

YARDSTICK = pathlib.Path(__file__).resolve().parents[2] / "build/tests/bench/ffs-transfer"
BLOCKS = 8
# Ratio to the capture plus a TRANSFER with the header, the poll of ep0 and the status that each block needs.
# The measured ratios are 0.83 to 1.10. docs/performance.md also has the ratio to a bare TRANSFER.
LIMIT = 1.2
SIZES = {"256Ki": (262144, 4000), "1Mi": (1 << 20, 4000), "8Mi": (8 << 20, 4000)}


def transfers(size, turns, *whole):
    """Returns the nanoseconds of this many TRANSFERs, alone or with everything that accompanies the TRANSFER
    of a block."""
    with gadget():
        udc("blackhole", 1)
        output = subprocess.run(
            [YARDSTICK, RUN / "ffs", GADGETS / "iio-stream/UDC", UDC, str(size), str(BLOCKS), str(turns),
             *whole],
            stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
    return int(output)


def to_null(size, turns, *options):
    return bench(size, turns, options, "null:", lambda: None)[0]


def to_usb(way, size, turns, options=(), sink=""):
    with gadget():
        udc("blackhole", 1)
        took, route = bench(size, turns, options, f"{FFS} {sink}", ask_for_stream)
    assert route[-1] == way
    return took


def per_block(measure, turns):
    """Returns the cost of a long stream minus that of a short one, per block. This excludes the start and the
    end, which mostly wait (io_destroy() waits tens of milliseconds for the kernel's RCU)."""
    few = turns // 5
    return (measure(turns) - measure(few)) / (turns - few)


def bench(size, turns, options, sink, ask):
    """Returns the nanoseconds of a stream of that many blocks, and the mechanisms of its route."""
    file = DISK / "summary"
    process = start(f"bench iio:{ADC} {' '.join(options)} {sink} --block-size {size} --blocks {BLOCKS} "
                    f"--bytes {size * turns} --quiet --json={file}")
    ask()
    end(process, 120)
    summary = json.loads(file.read_text())
    assert summary["blocks"] == turns
    return summary["seconds"] * 1e9, [hop["mechanism"] for hop in summary["route"]]


@pytest.mark.parametrize("name", SIZES)
def test_a_block_costs_little_more_than_its_capture_and_transfer(name):
    size, turns = SIZES[name]
    memory = "path=dmabuf memory=heap:system"
    captured = per_block(lambda n: to_null(size, n, memory), turns)
    transferred = per_block(lambda n: transfers(size, n), turns)
    whole = per_block(lambda n: transfers(size, n, "whole"), turns)
    sent = per_block(lambda n: to_usb("ffs-dmabuf", size, n, [memory]), turns)
    ratio = sent / (captured + whole)
    beside = ""
    if size <= 1 << 20:  # fileio's blocks cannot be larger than 4 MiB
        written = per_block(lambda n: to_usb("ffs-write", size, n, ["path=fileio"], "path=write"),
                            turns // 20)
        beside = f"; by read() and write() {written:.0f}"
    print(f"\n{name}: {sent:.0f} instructions per block; to null {captured:.0f}, a TRANSFER "
          f"{transferred:.0f}: {sent / (captured + transferred):.3f}; with header, ep0 and status "
          f"{whole:.0f}: {ratio:.3f}{beside}")
    assert ratio <= LIMIT
