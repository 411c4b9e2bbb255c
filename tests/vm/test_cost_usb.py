# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""What a block from the ADC to USB costs the board: instructions, counted by the guest's clock, with
a controller that takes each request at once and throws it away."""
import json
import pathlib
import subprocess

import pytest
from conftest import ADC, DISK, start
from usb import FFS, GADGETS, RUN, UDC, ask_for_stream, end, gadget, udc

YARDSTICK = pathlib.Path(__file__).resolve().parents[2] / "build/tests/bench/ffs-transfer"
BLOCKS = 8
# The aim is 1.15; 1.97 to 2.39 was measured. docs/performance.md says what is known of the rest.
LIMIT = 2.7
SIZES = {"256Ki": (262144, 4000), "1Mi": (1 << 20, 2000), "8Mi": (8 << 20, 300)}


def transfers(size, turns):
    """Nanoseconds of so many TRANSFERs alone."""
    with gadget():
        udc("blackhole", 1)
        output = subprocess.run(
            [YARDSTICK, RUN / "ffs", GADGETS / "iio-stream/UDC", UDC, str(size), str(BLOCKS), str(turns)],
            capture_output=True, text=True, check=True, timeout=120).stdout
    return int(output)


def to_null(size, turns, *options):
    return bench(size, turns, options, "null:", lambda: None)


def to_usb(size, turns, options=(), sink=""):
    with gadget():
        udc("blackhole", 1)
        return bench(size, turns, options, f"{FFS} {sink}", ask_for_stream)


def bench(size, turns, options, sink, ask):
    """Nanoseconds of a stream of so many blocks, and how they went."""
    file = DISK / "summary"
    process = start(f"bench iio:{ADC} {' '.join(options)} {sink} --block-size {size} --blocks {BLOCKS} "
                    f"--bytes {size * turns} --quiet --json={file}")
    ask()
    end(process, 120)
    summary = json.loads(file.read_text())
    assert summary["blocks"] == turns
    return summary["seconds"] * 1e9, [hop["mechanism"] for hop in summary["route"]]


@pytest.mark.parametrize("name", SIZES)
def test_a_block_costs_little_more_than_its_capture_and_its_transfer(name):
    size, turns = SIZES[name]
    memory = "path=dmabuf memory=heap:system"
    captured, _ = to_null(size, turns, memory)
    transferred = transfers(size, turns)
    sent, route = to_usb(size, turns, [memory])
    assert route == ["dmabuf", "ffs-dmabuf"]
    least = captured + transferred
    beside = ""
    if size <= 1 << 20:  # fileio's blocks cannot be larger than 4 MiB
        few = turns // 20
        written, route = to_usb(size, few, ["path=fileio"], "path=write")
        assert route == ["fileio", "ffs-write"]
        beside = f"; by read() and write() {written / few:.0f}"
    print(f"\n{name}: {sent / turns:.0f} instructions per block; to null {captured / turns:.0f}, a TRANSFER "
          f"{transferred / turns:.0f}: {sent / least:.3f}{beside}")
    assert sent / least <= LIMIT
