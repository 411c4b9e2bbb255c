# SPDX-License-Identifier: MIT
"""Samples go from the host over USB to the DAC, with the kernel's own gadget and host stacks in between."""
import re

import pytest

from counts import USB_BYTES
from conftest import DAC, run, sim, start
from playing import RAMP as RAMP_FILE
from playing import RAW, count, no_gap, playback, ramp_file
from usb import FFS, Request, board, end, gadget, host, host_device, schemas
from usb_transmit import MI, RAMP, TAKES, check_dac, send, taker
from waiting import until


def test_every_sample_is_played_and_the_board_copies_none():
    sim()
    with gadget():
        process = taker()
        result = send("--bytes", str(USB_BYTES), timeout=900)
        on_board = end(process)
    check_dac(on_board, USB_BYTES)
    schemas.check("summary", result.json)
    schemas.check("summary", on_board.json)
    assert on_board.json["copies"] == 0
    assert [h["mechanism"] for h in on_board.json["route"]] == ["ffs-dmabuf", "dmabuf"]
    assert result.json["sinks"][0]["bytes"] == USB_BYTES
    assert result.json["route"][1]["mechanism"] == "usb-bulk"


def test_a_file_is_played_completely_over_usb():
    sim()
    ramp_file(RAMP_FILE, bytes=20000008)
    with gadget():
        process = taker()
        result = run("stream", RAMP_FILE, RAW, "usb: wait=30s --json", timeout=120)
        on_board = end(process)
    check_dac(on_board, 20000008)
    assert result.json["ended"] == "eof"


def test_the_board_makes_no_system_call_that_touches_samples(tmp_path):
    sim()
    trace = tmp_path / "trace"
    with gadget():
        traced = start("-f", "-o", trace, "-e", "trace=ioctl,mmap,read,write,pread64,pwrite64,io_submit,openat",
                       "iio-stream", "stream", TAKES, f"iio:{DAC}", "--block-size", "1Mi", "--json",
                       command="strace")
        send("--bytes 8Mi --block-size 1Mi")
        on_board = end(traced)
    check_dac(on_board, 8 * MI)
    lines = trace.read_text().splitlines()
    assert not [line for line in lines if "DMA_BUF_IOCTL_SYNC" in line or "_IOC_WRITE, 0x62, 0" in line]
    moved = [int(m[1]) for line in lines if (m := re.search(r"(?:read|write)(?:64)?\(.*= (\d+)$", line))]
    assert not [n for n in moved if n >= 64 << 10], "a read or write of the size of samples"
    assert all("aio_nbytes=1024" in line for line in lines if "io_submit(" in line)
    blocks = [line for line in lines if "mmap(" in line and "MAP_SHARED" in line and "1048576" in line]
    assert blocks == []


def test_every_sample_is_played_at_high_speed():
    sim()
    with gadget(speed="high"):
        process = taker()
        send("--bytes 8Mi")
        on_board = end(process)
    check_dac(on_board, 8 * MI)
    assert on_board.json["copies"] == 0


@pytest.mark.parametrize("sg,option,reason", [(0, "", "no scatter-gather"), (1, "path=read", "was given")])
def test_the_kernel_copies_if_dmabufs_are_refused(sg, option, reason):
    sim()
    with gadget(sg=sg):
        process = taker(options=option)
        send("--bytes 16000000")
        on_board = end(process)
    check_dac(on_board, 16000000)
    first = on_board.json["route"][0]
    assert first["mechanism"] == "ffs-read" and first["copies"] == 1
    assert reason in first["reason"]


@pytest.mark.parametrize("words", ["", "--block-size 100000", "--block-size 2Mi"])
def test_blocks_can_be_incomplete_and_differ_from_the_boards_size(words):
    sim()
    with gadget():
        process = taker("--block-size 256Ki")
        send("--bytes 3000000", words)
        check_dac(end(process), 3000000)


def test_a_slow_host_causes_underflows_but_loses_no_samples():
    sim(rate=1000000)
    with gadget():
        process = taker("--block-size 64Ki")
        send("--bytes 4Mi --block-size 64Ki", source="sim: pattern=ramp channels=4 rate=100k")
        on_board = end(process)
    check_dac(on_board, 4 * MI)
    assert playback(on_board)["underflows"] > 0


def test_streams_that_the_board_does_not_offer_are_refused():
    with gadget():
        process = taker(sink="null:")
        assert "the board does not send a stream" in run("stream usb: wait=30s null:", status=3).err
        assert "channels of ci16_le" in send("--bytes 1Mi", source="sim:", state=2).err
        send("--bytes 1Mi")
        end(process)
    with gadget():
        process = board("--bytes 4Mi", source="sim: rate=0")
        assert "the board does not accept a stream" in send(state=3).err
        host("null:")
        end(process)


def test_requests_only_reach_streams_of_the_boards_command_line():
    with gadget():
        process = taker(sink="null:")
        until(host_device)
        with Request() as request:
            until(lambda: request(0xc1, 1, 0, 1024))
            answered = {(kind, number, value)
                        for kind in (0xc1, 0x41) for number in range(256) for value in range(4)
                        if request(kind, number, value, 64 if kind == 0xc1 else 0)}
        process.terminate()
        end(process)
    told = {(0xc1, number, value) for number in (1, 4) for value in range(4)}
    assert answered == told | {(0xc1, 2, 1), (0xc1, 2, 2), (0x41, 3, 1)}  # and no stream has ended


@pytest.mark.parametrize("words", ["ffs:/x null:", "ffs:here format=ci16_le null:", "ffs:/x format=ci16_le path=write null:",
                                   "sim: usb:12"])
def test_wrong_arguments_are_usage_errors(words):
    run("stream", words, status=2)


def test_both_directions_can_stream_at_the_same_time():
    sim(rate=2000000)
    with gadget():
        process = board("--and", TAKES, f"iio:{DAC}")
        result = run("stream usb: wait=30s verify:ramp --and", RAMP, "usb: --bytes 32Mi --json", timeout=240)
        process.terminate()
        on_board = end(process, 120)
    received, sent = result.json["runs"]
    away, played = on_board.json["runs"]
    assert received["sinks"][0]["report"]["unreported"] == 0
    assert received["bytes"] == sent["bytes"] == played["bytes"] == 32 * MI == 8 * count("delivered")
    no_gap()
    assert played["ended"] == "eof" and away["ended"] == "signal"
    assert away["copies"] == played["copies"] == 0
    assert [h["mechanism"] for one in (away, played) for h in one["route"]] == [
        "dmabuf", "ffs-dmabuf", "ffs-dmabuf", "dmabuf"]


@pytest.mark.parametrize("first", ["to_host", "to_board"])
def test_one_direction_does_not_wait_for_the_other(first):
    with gadget():
        process = board("--and", TAKES, "null:", source="sim: rate=0")
        steps = [lambda: run("stream usb: wait=30s verify:ramp --bytes 4Mi --json"), lambda: send("--bytes 4Mi")]
        for step in steps if first == "to_host" else reversed(steps):
            assert step().json["bytes"] == 4 * MI
        process.terminate()
        away, taken = end(process).json["runs"]
    assert away["ended"] == "signal" and taken["ended"] == "eof" and taken["bytes"] == 4 * MI


@pytest.mark.parametrize("more", ["", "--and sim: pattern=ramp rate=1k " + FFS])
def test_the_boards_command_line_can_limit_how_much_it_receives(more):
    with gadget():
        process = start("stream", TAKES, "null:", more, "--bytes 4Mi --json")
        sent = send("--bytes 4Mi")
        assert sent.json["bytes"] == 4 * MI
        until(lambda: process.poll() is not None or more)
        process.terminate()
        end(process)


def test_a_mount_has_one_stream_in_each_direction():
    result = run("stream", TAKES, "null: --and", TAKES, "null:", status=2)
    assert "is used twice" in result.err
