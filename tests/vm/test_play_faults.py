# SPDX-License-Identifier: MIT
"""Files that a DAC plays while something fails: samples run out, the disk is slow or fails, the file is
truncated, the DMA refuses a block, or the DAC disappears.

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_play_faults.py
"""
import contextlib
import json
import os
import subprocess
import threading
import time

import pytest
from conftest import DAC, DISK, finish, knob, sim, start
from playing import PATHS, RAMP, RAW, SAMPLE, count, no_gap, play, playback, ramp_file
from waiting import until


@pytest.fixture(autouse=True)
def fresh():
    sim()


def feed(process, bytes_at_a_time, times, pause):
    """Writes this many bytes, this many times, with pauses that are longer than a queue of blocks lasts."""
    for i in range(times):
        if i:
            time.sleep(pause)
        first = i * bytes_at_a_time // 8
        words = b"".join(word.to_bytes(8, "little") for word in range(first, first + bytes_at_a_time // 8))
        try:
            process.stdin.write(words)
            process.stdin.flush()
        except BrokenPipeError:  # the program has ended
            return
    process.stdin.close()


def play_in_parts(path, blocks, times, pause, *options, status=0):
    """Plays blocks repeatedly, with pauses between them, and returns the summary and stderr."""
    process = subprocess.Popen(["iio-stream", "play", "-", *RAW.split(), f"iio:{DAC}", f"path={path}",
                                "--block-size", "64Ki", "--blocks", str(blocks), "--json", *options],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    feeder = threading.Thread(target=feed, args=(process, blocks * 65536, times, pause))
    feeder.start()
    until(lambda: process.poll() is not None, "the end", 60)
    feeder.join()
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    assert process.returncode == status, err
    summary = json.loads(out)
    assert summary["samples"] == times * blocks * 8192 or summary["ended"] == "gap"
    return summary, err


@pytest.mark.parametrize("path,fifo", [("dmabuf", 0), ("dmabuf", 64), ("fileio", 0)])
def test_underflows_match_the_count_of_the_dac(path, fifo):
    """A queue of 8 blocks of 8192 samples lasts 0.66 s at 100 kS/s, so each pause of 1.5 s is an
    underflow."""
    sim(dac_rate=100_000, fifo=fifo)
    summary, err = play_in_parts(path, 8, 4, 1.5)
    underflows = summary["sinks"][0]["playback"]["underflows"]
    assert underflows == count("underflows") >= 3  # more if the host is too slow to fill the queue in time
    no_gap()
    assert "unknown rate" in err


def test_an_underflow_while_write_copies_is_counted():
    """Now and then, one of the kernel's two blocks of 2 ms is played before the other has been filled.

    The program misses underflows that begin between its last check and the write of the block's last sample.
    """
    ramp_file(RAMP, bytes="16Mi")
    sim(dac_rate=4_000_000, fifo=0)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} path=fileio --block-size 64Ki --blocks 8")
    assert count("underflows") * 2 // 3 - 2 <= playback(result)["underflows"] <= count("underflows")
    no_gap()


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_an_underflow_counts_as_a_gap_for_the_limits(path):
    sim(dac_rate=100_000, fifo=0)
    stopped, _ = play_in_parts(path, 8, 4, 1.5, "--on-gap", "stop", status=4)
    assert stopped["ended"] == "gap" and stopped["samples"] < 4 * 8 * 8192
    assert stopped["sinks"][0]["playback"]["underflows"] >= 1
    limited, err = play_in_parts(path, 8, 2, 1.5, "--max-gaps", "0", status=4)
    assert limited["ended"] == "eof" and "underflows, more than max-gaps 0" in err
    play_in_parts(path, 8, 2, 1.5, "--max-gaps", "10")


def test_an_underflow_that_the_register_shows_first_is_counted_once():
    """Each block lasts for most of the time between two checks of the register, and is evaluated at its
    end."""
    sim(dac_rate=12_000, fifo=0)
    summary, _ = play_in_parts("dmabuf", 4, 3, 3.5)
    assert summary["sinks"][0]["playback"]["underflows"] == count("underflows") == 2
    no_gap()


@contextlib.contextmanager
def mapped_disk(name, table):
    """Mounts a small separate ext4 file system with the ramp in it, on a device-mapper table of {device} and
    {sectors}."""
    image, mount, sectors = DISK / f"{name}.img", DISK / name, (16 << 20) // 512
    with open(image, "wb") as file:
        file.truncate(sectors * 512)
    loop = tool("losetup", "-f", "--show", image).strip()
    try:
        tool("mkfs.ext4", "-q", loop)
        tool("dmsetup", "create", name, "--noudevsync", "--table", table.format(device=loop, sectors=sectors))
        tool("dmsetup", "mknodes")
        mount.mkdir(exist_ok=True)
        tool("mount", f"/dev/mapper/{name}", mount)
        tool("cp", RAMP, mount / "a.bin")
        os.sync()
        yield mount / "a.bin", sectors
    finally:
        subprocess.run(["umount", mount], check=False)
        subprocess.run(["dmsetup", "remove", "--noudevsync", name], check=False)
        subprocess.run(["losetup", "-d", loop], check=False)


def tool(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def test_a_slow_disk_causes_underflows_with_write():
    """The kernel has two blocks of 82 ms, and each read takes 420 ms, so all blocks but the first are
    late."""
    tool("modprobe", "-a", "loop", "dm-delay")
    ramp_file(RAMP, bytes=8 * 65536)
    sim(dac_rate=100_000)
    with mapped_disk("slow", "0 {sectors} delay {device} 0 420 {device} 0 0") as (file, _):
        result = play(f"file:{file} {RAW} depth=1 iio:{DAC} path=fileio --block-size 64Ki --blocks 4", timeout=120)
    assert playback(result)["underflows"] == count("underflows") == 7
    no_gap()


def test_a_slow_disk_causes_an_underflow_for_each_late_block():
    """Each read takes 420 ms, one at a time, and a block lasts 82 ms, so the blocks after the prefill are
    late.

    Only the first of them is still in time, by 150 ms. The second is 180 ms late, which is 140 ms more than
    the DAC's FIFO bridges. The program does not know the size of that FIFO.
    """
    tool("modprobe", "-a", "loop", "dm-delay")
    blocks, prefill = 16, 8
    ramp_file(RAMP, bytes=blocks * 65536)
    sim(dac_rate=100_000)
    with mapped_disk("slow", "0 {sectors} delay {device} 0 420 {device} 0 0") as (file, _):
        result = play(f"file:{file} {RAW} depth=1 iio:{DAC} --block-size 64Ki --blocks {prefill}", timeout=120)
    assert result.json["samples"] == blocks * 8192
    assert playback(result)["underflows"] == count("underflows")
    assert blocks - prefill - 4 <= count("underflows") <= blocks - prefill
    no_gap()


@pytest.mark.parametrize("at", [0, 3, 12])
def test_a_block_that_the_dma_refuses_ends_the_stream(at):
    """The block is queued before the DAC runs, or while older blocks are still played. If the DAC does not
    run yet, the start is attempted six times."""
    ramp_file(RAMP, bytes=24 * 65536)
    sim(dac_rate=100_000)
    knob("refuse_at", at, DAC)
    error = play(f"file:{RAMP} {RAW} iio:{DAC} --block-size 64Ki --blocks 8", status=3).json["error"]
    assert error["name"] in ("ENOMEM", "EIO") and DAC in error["object"], error
    assert count("refused") == (1 if at == 12 else 6) and count("delivered") <= 24 * 8192


def test_blocks_that_are_refused_briefly_at_the_start_are_played_completely():
    """Descriptors come from a pool that is too small after boot, and that grows after it has run out."""
    ramp_file(RAMP, bytes=24 * 65536)
    sim(dac_rate=100_000)
    for name, value in (("refuse_at", 2), ("refuse_count", 5), ("refuse_most", 8)):
        knob(name, value, DAC)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} --block-size 64Ki --blocks 8")
    assert count("refused") == 8 and count("delivered") == 24 * 8192
    assert playback(result)["underflows"] == count("underflows") == 0
    assert "started 3 times" in result.json["route"][-1]["reason"]
    no_gap()


@pytest.mark.parametrize("path", PATHS)
def test_a_dac_that_disappears_during_cyclic_playback_is_an_error(path):
    ramp_file(RAMP, samples=1000)
    sim(dac_rate=100_000)
    process = start(f"play file:{RAMP} {RAW} iio:{DAC} cyclic=on path={path} --block-size 64Ki --json")
    until(lambda: count("delivered") > 10_000, "the first repeats")
    knob("unplug", 1, DAC)
    result = finish(process, 20)
    knob("replug", 1, DAC)
    assert result.status == 3
    assert result.json["error"]["name"] == "ENODEV" and DAC in result.json["error"]["message"]


def test_a_file_that_is_truncated_during_playback_is_a_storage_error():
    ramp_file(RAMP, bytes="8Mi")
    sim(dac_rate=100_000)
    process = start(f"play file:{RAMP} {RAW} depth=4 iio:{DAC} --block-size 64Ki --blocks 8 --json")
    until(lambda: count("delivered") > 8192, "the first samples")
    os.truncate(RAMP, 4 << 20)
    result = finish(process)
    assert result.status == 5
    error = result.json["error"]
    assert error["operation"] == "read" and error["name"] == "ENODATA" and str(RAMP) in error["object"]
    assert count("delivered") * SAMPLE == 4 << 20
    no_gap()


def test_the_error_of_a_failing_disk_names_the_file():
    tool("modprobe", "-a", "loop", "dm-mod")
    ramp_file(RAMP, bytes="4Mi")
    sim(dac_rate=100_000)
    with mapped_disk("bad", "0 {sectors} linear {device} 0") as (file, sectors):
        process = start(f"play file:{file} {RAW} iio:{DAC} --block-size 64Ki --blocks 8 --json")
        until(lambda: count("delivered") > 8192, "the first samples")
        tool("dmsetup", "suspend", "--noflush", "--nolockfs", "bad")
        tool("dmsetup", "load", "bad", "--table", f"0 {sectors} error")
        tool("dmsetup", "resume", "--noudevsync", "bad")
        result = finish(process)
    assert result.status == 5
    error = result.json["error"]
    assert error["operation"] == "read" and error["name"] == "EIO" and error["object"] == str(file)
    no_gap()
