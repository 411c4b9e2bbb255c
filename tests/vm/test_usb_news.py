# SPDX-License-Identifier: MIT
"""The messages that a board sends to its host in addition to the samples."""
import json
import struct

import pytest
from conftest import ADC, finish, iio_dir, knob, sim
from usb import Request, board, end, endpoints_in, gadget, listener
from usb_transmit import send, taker
from waiting import until


# The kernel never releases a block that is enqueued while the device disappears (docs/lab-findings.md).
@pytest.mark.leaves_dmabufs
def test_the_host_receives_the_reason_for_the_end_of_a_stream():
    sim(rate=200_000)
    with gadget():
        process = board("--block-size 64Ki")
        reader = listener("verify:ramp")
        knob("unplug", 1)
        on_board, result = finish(process, 60), finish(reader, 60)
    knob("replug", 1)
    until(lambda: iio_dir(ADC), "the device is back")
    assert on_board.status == result.status == 3
    assert on_board.json["error"]["name"] == "ENODEV"
    assert result.json["error"]["name"] == "EREMOTEIO"
    assert on_board.json["error"]["message"] in result.json["error"]["message"]
    report = result.json["sinks"][0]["report"]
    assert report["mismatches"] == report["unreported"] == 0
    assert result.json["samples"] > 0


def test_the_board_is_informed_that_a_hosts_stream_was_interrupted():
    with gadget():
        process = taker(sink="verify:ramp")
        result = send(source="sim: pattern=ramp channels=4 rate=1M unplug_at=200000", state=3)
        on_board = finish(process, 60)
    assert on_board.status == 3 and on_board.json["error"]["name"] == "EREMOTEIO"
    assert on_board.json["samples"] == result.json["samples"] > 0
    assert on_board.json["sinks"][0]["report"]["unreported"] == 0


def next_news(request):
    _, news = endpoints_in()
    return json.loads(request.read(news, 512))


def test_the_end_is_reported_after_unread_messages():
    blocks, nbytes = 24, 32 << 10
    sim(rate=500_000, fifo=400_000, drop_at=5000, drop=77, drop_every=4096)
    with gadget():
        process = board(f"--block-size 32Ki --bytes {blocks * nbytes}", source=f"iio:{ADC} counter=header:8/4Ki")
        with Request() as request:
            until(lambda: request(0xc1, 2, 0, 12), "START")
            samples, _ = endpoints_in()
            for _ in range(blocks):
                assert len(request.read(samples, 1024)) == 100
                assert len(request.read(samples, nbytes)) == nbytes
            news = [next_news(request) for _ in range(9)]
            assert len(request.read(samples, 1024)) == 100
        result = end(process)
    assert result.json["blocks"] == blocks and [one["event"] for one in news] == 8 * ["overflow"] + ["stop"]
    assert news[-1]["dropped"] > 0


def test_unread_loss_messages_are_limited_and_the_rest_is_counted():
    sim(rate=500_000, fifo=400_000, drop_at=5000, drop=77, drop_every=4096)
    with gadget():
        process = board("--block-size 32Ki --blocks 64", source=f"iio:{ADC} counter=header:8/4Ki")
        with Request() as request:
            until(lambda: request(0xc1, 2, 0, 12), "START")
            until(lambda: int(knob("delivered")) > 48 * 4096, "most of the blocks")
            news = [next_news(request) for _ in range(8)]
            until(lambda: request(0xc1, 2, 0, 12), "another START")
            later = next_news(request)
            carried, = struct.unpack_from("<Q", request.read(endpoints_in()[0], 1024), 72)
            until(lambda: request(0x41, 3, 0, 0), "STOP")
        process.terminate()
        end(process)
    assert {one["event"] for one in news} == {"overflow"}
    assert len({one["stream_id"] for one in news}) == 1
    assert [one["lost_min"] for one in news] == [one["lost_max"] for one in news]
    assert all(one["lost_min"] % 77 == 0 and one["lost_min"] > 0 for one in news), news
    assert [one["sequence"] for one in news] == sorted(one["sequence"] for one in news)
    assert all("dropped" not in one for one in news)
    assert later["event"] == "overflow" and later["dropped"] > 8
    # Earlier blocks are skipped, but their losses are reported.
    assert carried > 8 * 77 and carried % 77 == 0
