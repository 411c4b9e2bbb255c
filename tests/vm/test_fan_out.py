# SPDX-License-Identifier: MIT
# guest: ordinary
# guest: --kernel 7.3 --disk 2Gi
"""One stream goes to two devices: one gets the blocks, the other gets copies, and each sample reaches both.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_fan_out.py
"""
import signal

import pytest
from conftest import ADC, DAC, DIRTY, KernelLog, knob, sim, start, stream
from converters import converter
from playing import RAMP, count, no_gap, ramp_file
from usb import FFS, board, end, gadget, host, listener

BYTES = 8 << 20


def ways(result):
    return [(hop["from"], hop["mechanism"], hop["copies"]) for hop in result.json["route"][1:]]


@pytest.mark.parametrize("dac_first", [False, True])
def test_a_dac_and_usb_take_one_stream(dac_first):
    sim()
    with gadget():
        sinks = [f"iio:{DAC}", FFS] if dac_first else [FFS, f"iio:{DAC}"]
        process = start("stream", f"iio:{ADC}", *sinks, f"--bytes {BYTES} --block-size 64Ki --json")
        result = host("verify:ramp")
        on_board = end(process)
    assert result.json["bytes"] == BYTES and result.json["sinks"][0]["report"]["mismatches"] == 0
    assert 8 * count("delivered") == BYTES
    no_gap()
    assert on_board.json["blocks_bad"]["error"] == 0 and on_board.json["copies"] == 1
    usb = [("block", "copy", 1), ("copied", "ffs-dmabuf", 0)]
    dac = [("block", "dmabuf", 0)]
    assert ways(on_board) == (dac + usb if dac_first else usb + dac)
    copy = next(hop for hop in on_board.json["route"] if hop["mechanism"] == "copy")
    assert f"iio:{DAC} has the blocks" in copy["reason"]


def test_two_dacs_play_one_stream():
    converter("ad9739a")
    try:
        result = stream(f"iio:{ADC} channels=voltage0_i iio:{DAC} channels=voltage0_i iio:ad9739a "
                        f"--bytes {BYTES} --block-size 64Ki")
        for device in (DAC, "ad9739a"):
            assert 2 * int(knob("delivered", device=device)) == BYTES
            assert knob("mismatches", device=device) == knob("check_gaps", device=device) == "0"
        assert ways(result) == [("block", "dmabuf", 0), ("block", "copy", 1), ("copied", "dmabuf", 0)]
    finally:
        sim()


def test_two_dacs_repeat_the_same_samples():
    converter("ad9739a")
    try:
        ramp_file(RAMP, bytes=256 << 10)
        result = stream(f"{RAMP} format=ri16_le iio:{DAC} channels=voltage0_i cyclic=on "
                        "iio:ad9739a cyclic=on --duration 2s", timeout=120)
        assert [sink["playback"]["repeats"] > 0 for sink in result.json["sinks"]] == [True, True]
        for device in (DAC, "ad9739a"):  # the only jumps are the jumps back to the beginning
            assert int(knob("check_repeats", device=device)) == int(knob("mismatches", device=device))
            assert knob("check_gaps", device=device) == "0"
    finally:
        sim()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_board_program_that_dies_during_both_leaves_no_kernel_warning(number):
    """Fences of two devices in one sync_file have crashed kernels when a process ended."""
    sim(rate=500_000)
    log = KernelLog()
    with gadget():
        process = board(f"iio:{DAC} --block-size 64Ki")
        receiver = listener("null:")
        process.send_signal(number)
        process.communicate(timeout=60)
        receiver.kill()
        receiver.communicate()
    assert count("delivered") > 0
    assert [line for line in log.news() if DIRTY.search(line)] == []
