# SPDX-License-Identifier: MIT
"""Behavior of a USB stream to the host when one end, or the cable, misbehaves."""
import signal
import time

import pytest

from conftest import finish, sim
from usb import CABLE_EVENTS, board, end, gadget, held_by, host, listener, no_silent_loss, transfers, udc
from waiting import until


def test_another_host_program_continues_after_a_killed_one():
    sim()
    with gadget():
        process = board()
        for _ in range(3):
            killed = listener("null:")
            killed.kill()
            killed.communicate()
            udc("reset", 1)
        result = host("null: --bytes 8Mi")
        assert result.json["bytes"] == 8 << 20
        assert result.gaps["certain"] == 0
        process.terminate()
        report = end(process).json["sinks"][0]["report"]
    assert report["unheard_samples"] > 0 and report["failed_blocks"] == 0


def test_a_halted_endpoint_is_cleared_and_the_loss_is_reported():
    sim(rate=1000000)  # so slow that the ADC itself loses nothing in the meantime
    with gadget():
        process = board("--bytes 16Mi --block-size 256Ki")
        reader = listener("verify:ramp")
        udc("stall", "0x81")
        result = end(reader, 120)
        end(process)
    no_silent_loss(result)
    assert result.json["ended"] == "eof"
    lost = result.gaps["lost_min"]
    assert lost == result.gaps["lost_max"]
    assert result.json["samples"] + lost == (16 << 20) // result.json["sample_bytes"]


def test_a_failed_request_is_reported_as_the_loss_of_its_block():
    sim()
    with gadget(fail_at=5):
        process = board("--bytes 16Mi --block-size 256Ki")
        result = host("verify:ramp")
        report = end(process).json["sinks"][0]["report"]
    # The board does not detect the failure if the fence has signalled before it can be exported, but the host
    # does.
    assert report["failed_blocks"] <= 1
    no_silent_loss(result)
    assert result.gaps["certain"] >= 1
    assert result.json["samples"] + result.gaps["lost_min"] == (16 << 20) // result.json["sample_bytes"]


@pytest.mark.parametrize("happens", CABLE_EVENTS)
def test_a_new_stream_works_after_the_cable_was_unplugged(happens):
    sim()
    with gadget():
        process = board("--block-size 256Ki")
        reader = listener("verify:ramp")
        happens()
        # The stream ends with an error, or it has continued if the interface came back immediately.
        for _ in range(40):
            if reader.poll() is not None:
                break
            time.sleep(0.1)
        reader.terminate()
        first = finish(reader)
        assert first.status == 0 or (first.status == 3 and "the board is gone" in first.err), first.err
        no_silent_loss(first)
        result = host("null: --bytes 8Mi")
        assert result.json["bytes"] == 8 << 20 and result.gaps["certain"] == 0
        process.terminate()
        end(process)


def test_a_host_that_stops_reading_loses_samples_but_no_memory():
    sim(rate=500000)
    with gadget():
        process = board("--block-size 64Ki --blocks 8")
        reader = listener("verify:ramp")
        reader.send_signal(signal.SIGSTOP)
        time.sleep(1)
        before = held_by(process)
        time.sleep(4)
        files, resident = held_by(process)
        assert files == before[0] and resident <= before[1] + 256, (before, files, resident)
        reader.send_signal(signal.SIGCONT)
        before = transfers()
        until(lambda: transfers() > before + 20, "more blocks")
        reader.terminate()
        result = end(reader)
        process.terminate()
        on_board = end(process)
    no_silent_loss(result)
    assert result.gaps["certain"] >= 1
    assert on_board.gaps["certain"] >= 1


def test_both_programs_end_when_the_gadget_is_removed_mid_stream():
    sim()
    with gadget():
        process = board()
        reader = listener("verify:ramp")
    no_silent_loss(finish(reader))
    assert finish(process).json["ended"] == "signal"
