# SPDX-License-Identifier: MIT
# guest: ordinary
# guest: --kernel 7.3 --disk 2Gi
"""Samples from the simulated ADC arrive in order through the kernel's own IIO and DMA drivers."""
import itertools
import re
import subprocess
from collections import Counter

import counts
import pytest
from conftest import ADC, DAC, DISK, knob, run, sim, stream

CHANNELS = ["voltage0_i", "voltage0_q", "voltage1_i", "voltage1_q"]
SCANS = ["s16", "s12", "s14l", "be16", "s32", "s24"]
SUBSETS = [",".join(subset) for n in range(1, 5) for subset in itertools.combinations(CHANNELS, n)]


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim()


@pytest.mark.parametrize("path,mechanism", [("auto", "dmabuf"), ("dmabuf", "dmabuf"),
                                            ("fileio", "fileio")])
def test_a_recording_contains_every_sample(path, mechanism):
    file = DISK / "a.ci16"
    result = run(f"record iio:{ADC} path={path} {file} overwrite=on --bytes {counts.RECORD_BYTES} --json")
    assert result.mechanism == mechanism
    assert result.json["error"] is None
    assert file.stat().st_size == result.json["bytes"]
    verdict = run(f"verify --pattern ramp {file} --json").json
    assert verdict["ok"] and verdict["bytes"] == result.json["bytes"]


@pytest.mark.parametrize("memory", ["heap:system", "udmabuf"])
def test_capture_works_with_each_memory(memory):
    result = stream(f"iio:{ADC} memory={memory} verify:ramp --bytes 32Mi")
    hop = result.json["route"][0]
    assert hop["memory"] == memory and hop["mechanism"] == "dmabuf" and hop["copies"] == 0


@pytest.mark.parametrize("scan", SCANS)
def test_every_subset_of_the_channels_is_captured_correctly(scan):
    sim(scan=scan, pattern="lanes")
    try:
        tried = SUBSETS[SCANS.index(scan) % counts.LANES_STEP::counts.LANES_STEP]
        for subset in tried:
            for path in ("dmabuf", "fileio") if subset in (tried[0], tried[-1]) else ("dmabuf",):
                result = stream(f"iio:{ADC} channels={subset} path={path} verify:lanes "
                                f"--samples {counts.LANES_SAMPLES}")
                report = result.json["sinks"][0]["report"]
                assert report["mismatches"] == 0 and report["swaps"] == 0 and report["gaps"] == 0
                assert result.json["channels"] == subset.split(",")
    finally:
        sim()


def test_samples_go_from_the_adc_to_the_dac_without_the_cpu():
    knob("reset", 1, DAC)
    result = stream(f"iio:{ADC} iio:{DAC} --bytes {counts.DAC_BYTES}", timeout=180)
    assert result.json["copies"] == 0
    assert [hop["mechanism"] for hop in result.json["route"]] == ["dmabuf", "dmabuf"]
    assert int(knob("delivered", device=DAC)) == result.json["samples"]
    assert int(knob("mismatches", device=DAC)) == 0


def test_blocks_between_devices_are_not_mapped_or_synced():
    trace = DISK / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=ioctl,mmap,read,write", "-o", trace, "iio-stream",
                    "stream", f"iio:{ADC}", f"iio:{DAC}", "--bytes", "32Mi"], check=True,
                   stdout=subprocess.DEVNULL)
    calls = trace.read_text()
    assert "DMA_BUF_IOCTL_SYNC" not in calls
    heap_blocks = set(re.findall(r"DMA_HEAP_IOCTL_ALLOC, \{[^}]*fd=(\d+)", calls))
    assert heap_blocks or "DMA_HEAP" in calls or "'H'" in calls or "0x48" in calls
    mapped = set(re.findall(r"mmap\([^)]*MAP_SHARED[^)]*, (\d+), 0\)", calls))
    assert not mapped, f"shared mappings of fds {mapped}"
    assert not re.search(r"(read|write)\(\d+, .{0,120}, (\d{6,})\)", calls), "large read or write"


def test_a_short_last_block_has_the_exact_length():
    for samples in (1, 7, 100_001):
        result = stream(f"iio:{ADC} verify:ramp --samples {samples}")
        assert result.json["samples"] == samples
        assert result.json["ended"] == "samples"
        assert result.json["sinks"][0]["report"]["samples"] == samples


def test_fileio_works_right_after_a_dmabuf_stream():
    """Uses a rate: without one, both blocks can always be full, and it is unknown which is the first."""
    sim(rate=1_000_000)
    try:
        for _ in range(3):
            stream(f"iio:{ADC} path=dmabuf null: --bytes 2Mi")
            result = stream(f"iio:{ADC} path=fileio verify:ramp --block-size 256Ki --bytes 2Mi", timeout=20)
            assert result.mechanism == "fileio"
    finally:
        sim()


@pytest.mark.parametrize("rate,seconds", [(1000, 2), (1_000_000, 1), (100_000_000, 1)])
def test_the_defaults_work_at_any_rate(rate, seconds):
    sim(rate=rate, pattern="stamp" if rate > 10_000_000 else "ramp", fifo=65536)
    try:
        sink = "null:" if rate > 10_000_000 else "verify:ramp"
        result = stream(f"iio:{ADC} {sink} --duration {seconds}s")
        assert result.json["ended"] == "duration"
        assert result.json["sample_rate"] == rate
        if rate <= 1_000_000:  # at higher rates the software simulates as much as it can
            assert result.json["samples"] == rate * seconds
            assert result.gaps["lost_max"] == 0
    finally:
        sim()


def test_a_counter_channel_shows_that_no_samples_are_lost():
    sim(counter=64, pattern="lanes")
    try:
        result = stream(f"iio:{ADC} counter=channel:count0 verify:lanes --samples 100000")
        assert result.gaps["evidence"] == ["counter"]
        assert result.gaps["certain"] == 0
    finally:
        sim()


def test_a_sweep_covers_every_size():
    sim(pattern="stamp")
    try:
        result = run(f"bench iio:{ADC} null: --sweep block-size=64Ki..8Mi,blocks=4..16 "
                     "--duration 100ms --json", timeout=120)
        runs = result.json["runs"]
        assert [r["block_bytes"] for r in runs[::3]] == [65536 << n for n in range(8)]
        assert all(r["error"] is None and r["blocks"] > 0 for r in runs)
        plain = run(f"bench iio:{ADC} path=fileio null: --sweep block-size=1Mi --duration 200ms --json")
        assert plain.json["runs"][0]["route"][0]["mechanism"] == "fileio"
    finally:
        sim()


@pytest.mark.parametrize("blocks,size", [(8, "64Ki"), (16, "1Mi")])
def test_each_block_takes_few_system_calls_and_is_attached_once(blocks, size):
    turns = 400
    bytes_in_all = turns * (64 << 10 if size == "64Ki" else 1 << 20)
    trace = DISK / "calls"
    subprocess.run(["strace", "-f", "-o", trace, "iio-stream", "bench", f"iio:{ADC}", "null:", "--block-size",
                    size, "--blocks", str(blocks), "--bytes", str(bytes_in_all), "--quiet"], check=True)
    lines = trace.read_text().splitlines()
    attach = [line for line in lines if "0x69, 0x92, 0x4" in line and "resumed" not in line
              and "-1 EBADF" not in line]
    assert len(attach) == blocks
    # While the buffer is enabled, there are only the calls for the blocks.
    marks = [i for i, line in enumerate(lines) if "buffer0/enable\", O_WRONLY" in line]
    # The control thread makes its calls per second and not per block, so their number depends on how slow the
    # tracer is.
    within = [line for line in lines[marks[0]:marks[-1]] if "resumed" not in line]
    movers = {line.split()[0] for line in within if "0x69, 0x94" in line}
    assert len(movers) == 1
    within = [line for line in within if line.split()[0] in movers]
    count = Counter(re.match(r"\d+ +(\w+)", line)[1] for line in within)
    enqueued = sum("0x69, 0x94" in line for line in within)
    # Each block is enqueued, its fence is exported and read, and the fence's file is closed.
    assert turns - blocks <= enqueued <= turns + blocks
    assert count["ioctl"] <= 3 * turns + 50 and count["close"] <= turns + 50, count
    # Under strace on a busy machine the queue can run empty before each block. Then the program
    # reads the rate to bound the loss, and the threads wake each other. Each wake-up takes one write and one
    # read.
    assert count["pread64"] <= 2 * turns and count["write"] <= turns + 50 and count["read"] <= turns + 100, count
    assert count["poll"] <= 2 * turns + 50, count
    others = count.total() - sum(count[name] for name in ("ioctl", "close", "pread64", "write", "read", "poll"))
    assert others <= 100, count
