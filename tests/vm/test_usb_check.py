# SPDX-License-Identifier: MIT
"""Blocks that arrive corrupted, which only `check=` detects."""
import pytest

from conftest import run, sim
from usb import FFS, board, end, gadget, host, no_silent_loss, udc
from usb_transmit import MI, RAMP, TAKES, send, taker

PRICE = "checksum: the CPU reads each block"
BLOCK = 256 << 10


def prices(result):
    return [hop["mechanism"] for hop in result.json["route"] if PRICE in (hop["reason"] or "")]


def checked_board(way="auto"):
    return board(f"path={way} check=crc32c --bytes 16Mi --block-size {BLOCK} --timeout 30s")


@pytest.mark.parametrize("way", ["dmabuf", "write"])
def test_every_sample_arrives_with_its_checksum(way):
    sim()
    with gadget():
        process = checked_board(way)
        result = host("verify:ramp")
        on_board = end(process)
    no_silent_loss(result)
    assert result.gaps["certain"] == 0 and result.json["bytes"] == 16 * MI
    assert prices(on_board) == [f"ffs-{way}"] and prices(result) == ["usb-bulk"]


def test_a_corrupted_block_is_reported_as_lost_samples():
    sim()
    with gadget(damage_at=9):
        process = checked_board()
        result = host("verify:ramp")
        end(process)
    no_silent_loss(result)
    samples = BLOCK // result.json["sample_bytes"]
    assert result.json["blocks_bad"]["error"] == 1
    assert result.gaps["certain"] == 1 and result.gaps["lost_min"] == result.gaps["lost_max"] == samples
    assert result.json["bytes"] == 16 * MI - BLOCK


def test_without_check_only_verifying_the_samples_reveals_corruption():
    sim()
    with gadget(damage_at=9):
        process = board(f"--bytes 16Mi --block-size {BLOCK}")
        result = host("verify:ramp", state=None)
        end(process)
    assert result.json["gaps"]["certain"] == 0 and result.json["blocks_bad"]["error"] == 0
    assert result.json["sinks"][0]["report"]["first"] is not None


def test_corrupted_blocks_to_the_board_are_reported_as_lost():
    sim()
    with gadget(damage_at=9):
        process = taker(options="check=crc32c --block-size 64Ki --timeout 30s", sink="verify:ramp")
        result = send("--bytes 4Mi --block-size 64Ki")
        on_board = end(process)
    no_silent_loss(on_board)
    samples = (64 << 10) // on_board.json["sample_bytes"]
    assert on_board.json["blocks_bad"]["error"] == 1
    assert on_board.gaps["lost_min"] == on_board.gaps["lost_max"] == samples
    assert prices(on_board) and prices(result)
    assert udc("failed") == "0"


def test_the_error_for_a_board_without_check_names_the_missing_option():
    sim()
    with gadget():
        process = board("--block-size 256Ki")
        refused = host("null:", source="usb: check=crc32c", state=2)
        assert "on the board: ffs:MOUNT check=crc32c" in refused.err
        process.terminate()
        end(process)


@pytest.mark.parametrize("words", [f"stream sim: {FFS} check=md5", "stream usb: check=on null:",
                                   f"stream {TAKES} check=crc null:", f"stream {RAMP} usb: check=sha"])
def test_wrong_values_of_check_are_usage_errors(words):
    assert "is not off or crc32c" in run(words, status=2).err
