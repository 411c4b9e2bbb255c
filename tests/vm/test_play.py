# SPDX-License-Identifier: MIT
"""Files that a DAC plays: whole, in a loop, cyclic, too slow, and at the wrong rate.

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_play.py
"""
import contextlib
import json
import os
import subprocess
import threading
import time

import counts
import pytest
from conftest import DAC, DISK, finish, interrupt, knob, run, sim, start

RAW = "format=ci16_le channels=4"
SAMPLE = 8  # four channels of 16 bits
RAMP = DISK / "ramp.bin"
PATHS = ["dmabuf", "fileio"]


@pytest.fixture(autouse=True)
def fresh():
    sim()


def count(name):
    return int(knob(name, device=DAC))


def ramp_file(path, **size):
    """Of the DAC's samples, so many bytes= or samples=."""
    (key, value), = size.items()
    run(f"record sim: pattern=ramp channels=4 rate=0 {path} overwrite=on --{key} {value}", timeout=300)


def play(*words, **options):
    return run("play", *words, "--json", **options)


def playback(result):
    return result.json["sinks"][0]["playback"]


def no_gap():
    assert count("check_gaps") == count("check_repeats") == count("mismatches") == 0


def wait_until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} has not come"
        time.sleep(0.02)


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "buffered"])
def test_a_large_file_arrives_without_a_gap(engine):
    size = counts.PLAY_BYTES if engine == "io_uring" else "32Mi"
    ramp_file(RAMP, bytes=size)
    result = play(f"file:{RAMP} {RAW} engine={engine} iio:{DAC}", timeout=600)
    summary = result.json
    assert summary["command"] == "play" and summary["ended"] == "eof"
    assert count("delivered") * SAMPLE == summary["bytes"] == RAMP.stat().st_size
    no_gap()
    read, played = summary["route"]
    assert played["mechanism"] == "dmabuf" and played["copies"] == 0
    if engine == "buffered":
        assert read["mechanism"] == "buffered" and read["copies"] == 1
    else:
        assert read["mechanism"] == f"{engine}-direct" and read["memory"] == "udmabuf"
        assert summary["copies"] == 0


def test_memory_that_the_disk_cannot_write_into_costs_one_copy():
    ramp_file(RAMP, bytes="8Mi")
    summary = play(f"file:{RAMP} {RAW} memory=heap:system iio:{DAC}").json
    assert summary["copies"] == 1 and "heap:system" in summary["route"][0]["reason"]
    assert count("delivered") * SAMPLE == 8 << 20
    no_gap()


def test_no_sample_goes_through_the_cpu_or_the_page_cache():
    ramp_file(RAMP, bytes="64Mi")
    trace = DISK / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=read,pread64,mmap", "-o", trace, "iio-stream", "play",
                    f"file:{RAMP}", *RAW.split(), f"iio:{DAC}", "--block-size", "1Mi"],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
    calls = [line for line in trace.read_text().splitlines() if "read" in line.split("(")[0]]
    large = [line for line in calls if line.rsplit("= ", 1)[-1].isdigit() and int(line.rsplit("= ", 1)[-1]) > 65536]
    assert not large, large[:3]
    no_gap()


def test_reading_begins_before_the_device_is_switched_on():
    ramp_file(RAMP, bytes="4Mi")
    trace = DISK / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=io_uring_enter,openat", "-o", trace, "iio-stream", "play",
                    f"file:{RAMP}", *RAW.split(), "engine=io_uring", f"iio:{DAC}", "--block-size", "256Ki"],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
    lines = trace.read_text().splitlines()
    enable, = [i for i, line in enumerate(lines) if 'buffer0/enable", O_WRONLY' in line][:1]
    reads = [line for line in lines[:enable] if "io_uring_enter" in line]
    assert len(reads) >= 8, "blocks that were asked for before the DAC ran"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("samples", [4, 8192, 8193, 100_004])
def test_a_recording_is_played_to_its_last_sample(path, samples):
    meta = DISK / "x.sigmf-meta"
    ramp_file(meta, samples=samples)
    sim(dac_rate=1_000_000)
    result = play(f"{meta} iio:{DAC} rate=1M path={path} --block-size 64Ki")
    assert result.json["samples"] == samples and result.json["ended"] == "eof"
    assert result.json["route"][-1]["mechanism"] == path
    assert count("delivered") >= samples
    assert count("mismatches") == (0 if path == "dmabuf" else count("delivered") - samples)


def test_ends_that_the_bus_does_not_take_are_followed_by_zeros():
    file = DISK / "odd.bin"
    file.write_bytes(b"".join(i.to_bytes(8, "little") for i in range(1000)) + bytes([0xE8, 3]))  # 1000 = 0x3e8
    sim()
    result = play(f"file:{file} format=ri16_le iio:{DAC} channels=voltage0_i --block-size 64Ki")
    assert result.json["samples"] == 4001
    assert count("delivered") == 4004
    no_gap()


@pytest.mark.parametrize("path", PATHS)
def test_a_loop_has_no_seam(path):
    """20,000 samples are no multiple of the block, and 20,001 none of the disk's sectors either."""
    for samples in (16_384, 20_000, 20_001):
        ramp_file(RAMP, samples=samples)
        rounds = 20
        result = play(f"file:{RAMP} {RAW} loop=on iio:{DAC} path={path} --block-size 64Ki "
                      f"--samples {samples * rounds}")
        assert result.json["samples"] == samples * rounds
        padding = count("delivered") - samples * rounds  # zeros: each is a step back for the ramp
        assert path == "fileio" or padding == 0
        assert count("check_repeats") == count("mismatches") == rounds - 1 + padding
        assert count("check_gaps") == 0


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("samples,rate", [(1, 20_000), (1000, 100_000), (8192, 200_000), (30_000, 200_000)])
def test_cyclic_repeats_without_a_seam(path, samples, rate):
    """Of one sample, of less than a block, of one, of four: the DAC, which has no FIFO, misses none."""
    sim(fifo=0, dac_rate=rate)
    ramp_file(RAMP, samples=samples)
    process = start(f"play file:{RAMP} {RAW} iio:{DAC} cyclic=on path={path} --block-size 64Ki --json")
    wait_until(lambda: count("delivered") > samples * counts.CYCLES or process.poll() is not None,
               f"repeat {counts.CYCLES}", 300)
    interrupt(process)
    result = finish(process)
    assert result.status == 0, result.err
    assert result.json["ended"] == "signal"
    assert result.json["sinks"][0]["delivered_samples"] == samples
    repeats = playback(result)["repeats"]
    assert repeats >= counts.CYCLES - 1 and count("check_gaps") == 0
    if path == "dmabuf":
        assert playback(result)["underflows"] == count("underflows") == 0
        # Each beginning anew is one jump back, and nothing else is amiss.
        assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // samples
        assert repeats == count("delivered") // samples - 1


def test_cyclic_ends_with_the_duration():
    ramp_file(RAMP, samples=1000)
    knob("rate", 100_000, DAC)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=on --block-size 64Ki --duration 1s")
    assert result.json["ended"] == "duration" and result.json["seconds"] >= 1
    assert playback(result)["repeats"] >= 50


def test_what_does_not_fit_is_not_repeated():
    ramp_file(RAMP, bytes="1Mi")
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=on --block-size 64Ki --blocks 8", status=2)
    assert "loop=on" in result.json["error"]["message"]


def feed(process, bytes_at_a_time, times, pause):
    """Writes so much, so often, with a pause between that no queue of blocks lasts for."""
    for i in range(times):
        if i:
            time.sleep(pause)
        first = i * bytes_at_a_time // 8
        words = b"".join(word.to_bytes(8, "little") for word in range(first, first + bytes_at_a_time // 8))
        process.stdin.write(words)
        process.stdin.flush()
    process.stdin.close()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fifo", [0, 64])
def test_an_underflow_is_counted_as_the_dac_counts_it(path, fifo):
    """A queue of 8 blocks of 8192 samples lasts 0.66 s at 100 kS/s: each pause of 2 s is an underflow."""
    sim(dac_rate=100_000, fifo=fifo)
    process = subprocess.Popen(["iio-stream", "play", "-", *RAW.split(), f"iio:{DAC}", f"path={path}",
                                "--block-size", "64Ki", "--blocks", "8", "--json"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    feeder = threading.Thread(target=feed, args=(process, 8 * 65536, 4, 2.0))
    feeder.start()
    wait_until(lambda: process.poll() is not None, "the end", 60)
    feeder.join()
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    assert process.returncode == 0, err
    summary = json.loads(out)
    assert summary["samples"] == 4 * 65536
    underflows = summary["sinks"][0]["playback"]["underflows"]
    assert underflows == count("underflows") == 3
    no_gap()
    assert "unknown rate" in err


@contextlib.contextmanager
def mapped_disk(name, table):
    """A small ext4 of its own with the ramp in it, on a device mapper's table of {device} and {sectors}."""
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


def test_a_slow_disk_is_an_underflow_each_time():
    """Each read takes 300 ms, one at a time, and a block lasts 82 ms: past the prefill each is late."""
    tool("modprobe", "-a", "loop", "dm-delay")
    blocks, prefill = 24, 8
    ramp_file(RAMP, bytes=blocks * 65536)
    sim(dac_rate=100_000)
    with mapped_disk("slow", "0 {sectors} delay {device} 0 300 {device} 0 0") as (file, _):
        result = play(f"file:{file} {RAW} depth=1 iio:{DAC} --block-size 64Ki --blocks {prefill}", timeout=120)
    assert result.json["samples"] == blocks * 8192
    assert playback(result)["underflows"] == count("underflows")
    assert blocks - prefill - 4 <= count("underflows") <= blocks - prefill
    no_gap()


@pytest.mark.parametrize("at", [0, 3, 12])
def test_a_block_that_the_dma_refuses_ends_the_stream(at):
    """Queued before the DAC runs, or while older blocks are still played."""
    ramp_file(RAMP, bytes=24 * 65536)
    sim(dac_rate=100_000)
    knob("refuse_at", at, DAC)
    error = play(f"file:{RAMP} {RAW} iio:{DAC} --block-size 64Ki --blocks 8", status=3).json["error"]
    assert error["name"] in ("ENOMEM", "EIO") and DAC in error["object"], error
    assert count("refused") == 1 and count("delivered") <= 24 * 8192


@pytest.mark.parametrize("path", PATHS)
def test_a_dac_that_goes_while_it_repeats_is_missed(path):
    ramp_file(RAMP, samples=1000)
    sim(dac_rate=100_000)
    process = start(f"play file:{RAMP} {RAW} iio:{DAC} cyclic=on path={path} --block-size 64Ki --json")
    wait_until(lambda: count("delivered") > 10_000, "the first repeats")
    knob("unplug", 1, DAC)
    result = finish(process, 20)
    knob("replug", 1, DAC)
    assert result.status == 3
    assert result.json["error"]["name"] == "ENODEV" and DAC in result.json["error"]["message"]


def test_a_file_cut_while_it_is_played_is_storages_fault():
    ramp_file(RAMP, bytes="8Mi")
    sim(dac_rate=100_000)
    process = start(f"play file:{RAMP} {RAW} depth=4 iio:{DAC} --block-size 64Ki --blocks 8 --json")
    wait_until(lambda: count("delivered") > 8192, "the first samples")
    os.truncate(RAMP, 4 << 20)
    result = finish(process)
    assert result.status == 5
    error = result.json["error"]
    assert error["operation"] == "read" and error["name"] == "ENODATA" and str(RAMP) in error["object"]
    assert count("delivered") * SAMPLE == 4 << 20
    no_gap()


def test_a_disk_that_fails_is_named():
    tool("modprobe", "-a", "loop", "dm-mod")
    ramp_file(RAMP, bytes="4Mi")
    sim(dac_rate=100_000)
    with mapped_disk("bad", "0 {sectors} linear {device} 0") as (file, sectors):
        process = start(f"play file:{file} {RAW} iio:{DAC} --block-size 64Ki --blocks 8 --json")
        wait_until(lambda: count("delivered") > 8192, "the first samples")
        tool("dmsetup", "suspend", "--noflush", "--nolockfs", "bad")
        tool("dmsetup", "load", "bad", "--table", f"0 {sectors} error")
        tool("dmsetup", "resume", "--noudevsync", "bad")
        result = finish(process)
    assert result.status == 5
    error = result.json["error"]
    assert error["operation"] == "read" and error["name"] == "EIO" and error["object"] == str(file)
    no_gap()


def test_the_device_plays_at_the_recordings_rate():
    meta = DISK / "x.sigmf-meta"
    run(f"record sim: pattern=ramp channels=4 rate=2M {meta} overwrite=on --samples 200000")
    sim(dac_rate=1_000_000)
    result = play(f"{meta} iio:{DAC}")
    assert playback(result)["sample_rate"] == 2_000_000 == int(knob("rate", device=DAC))
    assert result.err == ""
    no_gap()
    result = play(f"{meta} iio:{DAC} rate=500k")
    assert playback(result)["sample_rate"] == 500_000


def test_a_rate_that_cannot_be_is_refused_and_both_are_named():
    ramp_file(RAMP, samples=20_000)
    sim(dac_rate=1_000_000)
    result = play(f"file:{RAMP} {RAW} rate=3G iio:{DAC} --block-size 64Ki", status=2)
    message = result.json["error"]["message"]
    assert "3000000000" in message and "1000000" in message and DAC in message and "rate=" in message


def test_samples_of_another_format_are_refused_and_both_are_named():
    meta = DISK / "two.sigmf-meta"
    run(f"record sim: channels=2 rate=1M {meta} overwrite=on --samples 20000")
    message = play(f"{meta} iio:{DAC} rate=1M", status=2).json["error"]["message"]
    assert "2 channels of ci16_le" in message and f"{DAC}'s (4 of ci16_le)" in message
