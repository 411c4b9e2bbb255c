# SPDX-License-Identifier: MIT
"""`iio-stream serve` lets clients play on a DAC. The clients are Debian's unmodified programs for libiio 0.x.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_serve_play.py

The simulated DAC counts the samples that it plays, and the wrong samples.
"""
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from conftest import ADC, DAC, attached_dmabufs, knob, sim, truth
from libiio_programs import SAMPLE, binding_out, flowgraph_out, python, ramp_of
from playing import count, no_gap
from serving import URI, Line, Serving, device_id, need_clients, readdev, said
from waiting import until

pytestmark = need_clients()

BLOCK = 8192  # samples


@pytest.fixture(autouse=True)
def fresh():
    # Rates that clients in an emulated machine can handle, however busy its host is.
    sim(rate=100_000, dac_rate=100_000)


@pytest.fixture
def server():
    with Serving("--allow", f"play:{DAC}") as one:
        yield one


def ramp(samples):
    return np.arange(samples, dtype="<u8").tobytes()


def writedev(*words, samples=0):
    return ["iio_writedev", "-u", URI, "-T", "10000", "-b", str(BLOCK), "-s", str(samples), *words, DAC]


def player_of(server):
    player, = server.end()["players"]
    return player


@pytest.mark.parametrize("blocks", [1, 64])
def test_iio_writedev_plays_every_sample(server, blocks):
    said(writedev(samples=blocks * BLOCK), input=ramp(blocks * BLOCK))
    until(lambda: count("delivered") == blocks * BLOCK, "the last sample")
    no_gap()
    player = player_of(server)
    assert player["samples"] == player["played"] == blocks * BLOCK and player["ended"]
    assert player["route"][-1]["mechanism"] == "dmabuf" and all(hop["copies"] == 0 for hop in player["route"])
    assert attached_dmabufs() == 0


def test_the_python_binding_plays_every_sample(server):
    said(binding_out(URI), input=ramp(40 * BLOCK))
    until(lambda: count("delivered") == 40 * BLOCK, "the last sample")
    no_gap()


def test_gr_iios_sink_plays_every_sample(server):
    said(flowgraph_out(URI))
    until(lambda: count("delivered") == 40 * BLOCK, "the last sample")
    no_gap()


def test_a_subset_of_the_channels_can_be_played(server):
    words = python(f"""
import time
import iio
device = iio.Context("{URI}").find_device("{DAC}")
for name in ("voltage0_i", "voltage0_q"):
    next(channel for channel in device.channels if channel.id == name).enabled = True
buffer = iio.Buffer(device, 1001)  # not a multiple of a DMA word
for _ in range(9):
    assert buffer.write(bytearray(1001 * 4)) == 1001 * 4
    buffer.push()
time.sleep(2)  # the server only waits for a second
del buffer
""")
    said(words)
    player = player_of(server)
    assert player["channels"] == ["voltage0_i", "voltage0_q"] and player["samples"] == 9 * 1001
    assert 9 * 1001 <= count("delivered") <= 9 * 1001 + 1


@pytest.mark.parametrize("samples", [BLOCK, 500])
def test_a_cyclic_buffer_repeats(server, samples):
    process = subprocess.Popen(["iio_writedev", "-u", URI, "-c", "-b", str(samples), DAC], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        process.stdin.write(ramp(samples))
        process.stdin.flush()
        until(lambda: count("delivered") > 20 * samples or process.poll() is not None, "the twentieth round")
        assert process.poll() is None, process.stderr.read()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    player = player_of(server)
    assert player["cyclic"] and player["samples"] == samples and player["underflows"] == 0
    # Each round steps back to its start, and so do the rounds of the block that was cut off.
    seams = count("check_repeats")
    assert count("check_gaps") == 0 and count("mismatches") == seams
    assert 0 <= seams - (count("delivered") - 1) // samples <= -(-BLOCK // samples)


def test_playback_that_is_not_allowed_is_refused():
    with Serving("--allow", "play:other*", "--allow", "*/*") as server:
        done = subprocess.run(writedev(samples=BLOCK), input=ramp(BLOCK), capture_output=True, timeout=60, check=False)
        assert done.returncode != 0 and b"ermission" in done.stderr
        assert server.end()["refused"] == [f"play:{DAC}"]
    assert f"--allow play:{DAC} permits it" in server.result.err


def test_only_one_client_at_a_time_can_play():
    with Serving("--allow", "play:*") as server:
        dac = device_id(DAC)
        one, two = Line(), Line()
        assert one.ask(f"OPEN {dac} {BLOCK} 0000000f") == 0
        assert two.ask(f"OPEN {dac} {BLOCK} 0000000f") == -16
        assert one.ask(f"OPEN {dac} {BLOCK} 0000000f") == -16
        assert one.ask(f"CLOSE {dac}") == 0
        assert two.ask(f"OPEN {dac} {BLOCK} 0000000f") == 0
        one.close()
        two.close()
        assert len(server.end()["players"]) == 2


def test_impossible_lengths_are_refused_and_the_connection_continues(server):
    dac = device_id(DAC)
    line = Line()
    assert line.ask(f"WRITEBUF {dac} 8") == -9  # not open
    assert line.ask(f"OPEN {dac} {1 << 62} 0000000f") == 0  # in pieces
    assert line.ask(f"WRITEBUF {dac} {1 << 40}") == -22
    assert line.ask(f"WRITEBUF {dac} -1") == -22
    assert line.ask(f"CLOSE {dac}") == 0
    assert line.ask(f"OPEN {dac} {1 << 62} 0000000f CYCLIC") == -12
    assert line.ask(f"OPEN {dac} 512 0000000f CYCLIC") == 0
    assert line.ask(f"WRITEBUF {dac} 4104") == -22  # more than the buffer
    assert line.ask(f"CLOSE {dac}") == 0
    assert line.ask(f"OPEN {dac} 512 0000000f") == 0
    assert line.ask(f"WRITEBUF {dac} 4099") == 0  # the bytes of the incomplete sample are discarded
    line.say(ramp(512) + b"123")
    assert line.number() == 4099
    assert line.ask(f"CLOSE {dac}") == 0
    line.close()
    assert count("delivered") == 512
    no_gap()


def test_a_client_that_is_lost_within_a_block_releases_the_device(server):
    """Another client continues to read in the meantime."""
    data = []
    reader = threading.Thread(target=lambda: data.append(said(readdev(400_000))))
    reader.start()
    dac = device_id(DAC)
    for _ in range(5):
        line = Line()
        assert line.ask(f"OPEN {dac} {BLOCK} 0000000f") == 0
        assert line.ask(f"WRITEBUF {dac} {BLOCK * SAMPLE}") == 0
        line.say(bytes(10_001))
        line.close()
    process = subprocess.Popen(writedev(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.stdin.write(ramp(8 * BLOCK))
    process.stdin.flush()
    until(lambda: count("delivered") > BLOCK, "the first block")
    process.kill()
    process.communicate()
    time.sleep(2)  # until its data have been played, or a second has passed
    said(writedev(samples=8 * BLOCK), input=ramp(8 * BLOCK))
    reader.join()
    assert len(ramp_of(data[0])) == 400_000 and truth()[1] == 0
    stats = server.end()
    assert stats["devices"][0]["gaps"]["lost_max"] == 0 and len(stats["players"]) == 7
    assert stats["players"][-1]["played"] == 8 * BLOCK


def test_underflows_are_reported(server):
    dac = device_id(DAC)
    line = Line()
    assert line.ask(f"OPEN {dac} 1024 0000000f") == 0
    for burst in range(2):
        for _ in range(4):
            assert line.ask(f"WRITEBUF {dac} 8192") == 0
            line.say(bytes(8192))
            assert line.number() == 8192
        until(lambda wanted=(burst + 1) * 4096: count("delivered") >= wanted, "a burst")
    assert line.ask(f"CLOSE {dac}") == 0
    line.close()
    assert player_of(server)["underflows"] > 0
    assert "underflows" in server.result.err


def test_a_stalled_dac_times_out(server):
    knob("dead_at", 2 * BLOCK, device=DAC)
    done = subprocess.run(["iio_writedev", "-u", URI, "-T", "2000", "-b", str(BLOCK), "-s", str(64 * BLOCK), DAC],
                          input=ramp(64 * BLOCK), capture_output=True, timeout=60, check=False)
    assert b"rror" in done.stderr or b"imed out" in done.stderr, done.stderr


def test_clients_can_read_and_play_at_the_same_time(server):
    player = subprocess.Popen(writedev(samples=40 * BLOCK), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    threading.Thread(target=lambda: player.communicate(ramp(40 * BLOCK))).start()
    data = said(readdev(300_000, device=ADC))
    assert len(ramp_of(data)) == 300_000 and truth() == ([], 0)
    assert player.wait(60) == 0
    until(lambda: count("delivered") == 40 * BLOCK, "the last sample")
    no_gap()
