# SPDX-License-Identifier: MIT
"""Behavior of a USB stream to the board when one end, or the cable, misbehaves."""
import signal
import struct
import time

import pytest

from conftest import DISK, finish, interrupt, run, sim, start
from usb import CABLE_EVENTS, end, gadget, set_configuration, udc, until_streamed_through
from usb_transmit import MI, TAKES, send, sender, taker
from waiting import until


def test_a_signal_on_the_host_ends_both_programs():
    sim()
    with gadget():
        process = taker(sink="verify:ramp")
        host = sender()
        interrupt(host)
        sent = end(host)
        on_board = end(process)
    assert sent.json["ended"] == "signal" and on_board.json["ended"] == "eof"
    assert on_board.json["bytes"] == sent.json["sinks"][0]["bytes"] > 0
    assert on_board.json["sinks"][0]["report"]["gaps"] == 0


def test_another_host_program_is_synchronized_after_a_killed_one():
    sim()
    path = DISK / "taken.bin"
    with gadget():
        process = taker(sink=f"file:{path} overwrite=on")
        for _ in range(2):
            killed = sender()
            killed.kill()
            killed.communicate()
            udc("reset", 1)
        send("--bytes 8Mi")
        on_board = end(process)
    taken = path.read_bytes()
    path.unlink()
    assert len(taken) == on_board.json["bytes"] > 8 * MI
    words = struct.unpack(f"<{MI}Q", taken[-8 * MI:])
    assert words == tuple(range(MI))
    gaps = on_board.gaps
    assert gaps["certain"] + gaps["possible"] == 2 and gaps["lost_max"] is None


def test_a_halted_endpoint_is_cleared_and_nothing_is_lost():
    sim()
    with gadget():
        process = taker("--block-size 256Ki", sink="verify:ramp")
        host = sender("--bytes 64Mi --block-size 256Ki")
        udc("stall", "0x02")
        end(host, 120)
        on_board = end(process)
    checked = on_board.json["sinks"][0]["report"]
    assert checked["gaps"] == checked["repeats"] == checked["reorders"] == 0, checked
    assert on_board.json["bytes"] == 64 * MI


@pytest.mark.parametrize("number", [0, 5, 63], ids=["the_first", "in_the_middle", "the_last"])
def test_a_failed_request_is_reported_and_counted(number):
    sim()
    with gadget(fail_at=number):
        process = taker("--block-size 256Ki", sink="verify:ramp")
        send("--bytes 16Mi --block-size 256Ki")
        on_board = end(process)
    checked = on_board.json["sinks"][0]["report"]
    assert checked["unreported"] == checked["repeats"] == checked["reorders"] == 0, checked
    assert on_board.json["blocks_bad"]["error"] == int(udc("failed")) == 1, on_board.out
    assert on_board.json["samples"] + on_board.gaps["lost_min"] == 16 * MI // 8, on_board.out


@pytest.mark.parametrize("happens", CABLE_EVENTS)
def test_a_new_stream_works_after_the_cable_was_unplugged(happens):
    sim()
    with gadget():
        process = taker("--block-size 256Ki", sink="null:")
        first = sender()
        happens()
        time.sleep(3)
        # The stream ends with an error, or it has continued if the interface came back immediately.
        goes_on = first.poll() is None
        if goes_on:
            interrupt(first)
        result = finish(first)
        assert result.status == (0 if goes_on else 3), result.err
        if not goes_on:
            assert "the board is gone" in result.err
            send("--bytes 8Mi")
        on_board = end(process)
    assert on_board.json["ended"] == "eof" and on_board.json["bytes"] > 2 * MI
    assert on_board.gaps["certain"] + on_board.gaps["possible"] == (0 if goes_on else 1)


def test_a_new_configuration_between_two_blocks_loses_nothing():
    """The host has no pending transfer that could fail. It must not wait for a board that waits for the
    host."""
    sim()
    with gadget():
        process = taker("--block-size 256Ki", sink="verify:ramp")
        host = start("stream sim: pattern=ramp channels=4 rate=64k usb: wait=30s --bytes 3Mi --block-size 256Ki --json")
        until(lambda: int(udc("bytes")) >= MI // 4 + 100)
        set_configuration()
        assert end(host).json["bytes"] == 3 * MI
        on_board = end(process)
    checked = on_board.json["sinks"][0]["report"]
    assert checked["gaps"] == checked["repeats"] == checked["reorders"] == 0, checked
    assert on_board.json["bytes"] == 3 * MI


def test_a_board_that_ends_mid_stream_ends_the_hosts_stream():
    sim()
    with gadget():
        process = taker(sink="null:")
        host = sender()
        process.terminate()
        assert end(process).json["ended"] == "signal"
        result = finish(host)
    assert result.status == 3 and "the board is gone" in result.err


def test_a_board_that_disappears_before_it_received_the_end_is_reported(tmp_path):
    """The board's controller has acknowledged every sample, but its program has not written the last
    samples."""
    sim()
    path = tmp_path / "taken.bin"
    with gadget():
        process = taker("--block-size 256Ki --blocks 2", sink=f"file:{path}")
        host = start("stream sim: pattern=ramp channels=4 rate=64k usb: wait=30s --bytes 768Ki --block-size 256Ki --json")
        until(lambda: path.exists() and path.stat().st_size >= MI // 4)
        time.sleep(0.2)  # both of the board's blocks are requested again
        process.send_signal(signal.SIGSTOP)
        until(lambda: int(udc("bytes")) >= 3 * (MI // 4 + 100))
        time.sleep(0.5)
        assert host.poll() is None
        process.kill()
        process.communicate()
        result = finish(host)
    assert path.stat().st_size < 3 * MI // 4
    assert "went away before it had received the end" in str(result.json["route"]), result.out


def test_a_board_that_reads_nothing_until_the_deadline_is_an_error():
    with gadget():
        process = taker(sink="null: stall_at=1 stall_for=40s")
        result = send("--timeout 1s", state=3, timeout=60)
        assert "the board took nothing" in result.err
        process.kill()
        process.communicate()


def test_a_missing_host_is_an_error():
    with gadget():
        result = run("stream", TAKES, "wait=2s null: --timeout 1s", status=3)
    assert "no program on the host has begun to send" in result.err or "no host" in result.err


def test_a_signal_ends_the_wait_for_a_host():
    with gadget():
        process = taker(sink="null:")
        until_streamed_through()
        process.send_signal(signal.SIGTERM)
        result = end(process)
    assert result.json["ended"] == "signal" and result.json["samples"] == 0
