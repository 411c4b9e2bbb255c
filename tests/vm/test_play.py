# SPDX-License-Identifier: MIT
"""Files that a DAC plays completely, in a loop, cyclically, and at the recording's rate.

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_play.py
"""
import subprocess

import counts
import pytest
from conftest import DAC, DISK, finish, interrupt, knob, run, sim, start
from playing import PATHS, RAMP, RAW, SAMPLE, count, no_gap, play, playback, ramp_file
from waiting import until


@pytest.fixture(autouse=True)
def fresh():
    sim()


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


def test_samples_bypass_the_cpu_and_the_page_cache():
    ramp_file(RAMP, bytes="64Mi")
    trace = DISK / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=read,pread64,mmap", "-o", trace, "iio-stream", "play",
                    f"file:{RAMP}", *RAW.split(), f"iio:{DAC}", "--block-size", "1Mi"],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
    calls = [line for line in trace.read_text().splitlines() if "read" in line.split("(")[0]]
    large = [line for line in calls if line.rsplit("= ", 1)[-1].isdigit() and int(line.rsplit("= ", 1)[-1]) > 65536]
    assert not large, large[:3]
    no_gap()


def test_reading_starts_before_the_device_is_enabled():
    ramp_file(RAMP, bytes="4Mi")
    trace = DISK / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=io_uring_enter,openat", "-o", trace, "iio-stream", "play",
                    f"file:{RAMP}", *RAW.split(), "engine=io_uring", f"iio:{DAC}", "--block-size", "256Ki"],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
    lines = trace.read_text().splitlines()
    enable, = [i for i, line in enumerate(lines) if 'buffer0/enable", O_WRONLY' in line][:1]
    reads = [line for line in lines[:enable] if "io_uring_enter" in line]
    assert len(reads) >= 8, "too few blocks were requested before the DAC ran"


@pytest.mark.parametrize("at,lost", [(20_000, 777), (16_384, 40_000)])
def test_on_gap_zero_fill_plays_as_many_zeros_as_samples_were_lost(at, lost):
    """Samples are lost in the middle of a block, or between two blocks, where the loss is longer than several
    blocks. For the ramp, each zero is a step back, and the sample after the zeros, which is in its place, is
    a step forward."""
    sim(dac_rate=1_000_000)
    source = f"sim: pattern=ramp channels=4 rate=500k drop_at={at} drop={lost}"
    words = f"iio:{DAC} --on-gap zero-fill --block-size 64Ki --samples 100000"
    result = run("stream", source, words, "--json")
    assert result.json["gaps"]["lost_min"] == result.json["gaps"]["lost_max"] == lost
    played = result.json["route"][-1]
    assert played["mechanism"] == "fileio" and "zero-fill" in played["reason"]
    padding = count("delivered") - 100_000
    assert count("check_gaps") == 1 and count("check_repeats") == lost + padding
    assert count("mismatches") == 1 + lost + padding
    assert count("mismatch_at") == count("mismatch_expected") == at and count("mismatch_got") == 0
    error = run("stream", source, f"iio:{DAC} path=dmabuf", words.split(" ", 1)[1], "--json", status=3).json["error"]
    assert "zero-fill" in error["message"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("samples", [4, 8193, 100_004])
def test_a_recording_is_played_to_its_last_sample(path, samples):
    meta = DISK / "x.sigmf-meta"
    ramp_file(meta, samples=samples)
    sim(dac_rate=1_000_000)
    result = play(f"{meta} iio:{DAC} rate=1M path={path} --block-size 64Ki")
    assert result.json["samples"] == samples and result.json["ended"] == "eof"
    assert result.json["route"][-1]["mechanism"] == path
    assert count("delivered") >= samples
    assert count("mismatches") == (0 if path == "dmabuf" else count("delivered") - samples)


def test_zeros_complete_the_last_bus_word():
    file = DISK / "odd.bin"
    file.write_bytes(b"".join(i.to_bytes(8, "little") for i in range(1000)) + bytes([0xE8, 3]))  # 1000 = 0x3e8
    sim()
    result = play(f"file:{file} format=ri16_le iio:{DAC} channels=voltage0_i --block-size 64Ki")
    assert result.json["samples"] == 4001
    assert count("delivered") == 4004
    no_gap()


@pytest.mark.parametrize("path", PATHS)
def test_a_loop_is_seamless(path):
    """20,000 samples are not a multiple of the block, and 20,001 are not a multiple of the disk's sectors."""
    for samples in (16_384, 20_000, 20_001):
        ramp_file(RAMP, samples=samples)
        rounds = 20
        result = play(f"file:{RAMP} {RAW} loop=on iio:{DAC} path={path} --block-size 64Ki "
                      f"--samples {samples * rounds}")
        assert result.json["samples"] == samples * rounds
        padding = count("delivered") - samples * rounds  # each zero is a step back for the ramp
        assert path == "fileio" or padding == 0
        assert count("check_repeats") == count("mismatches") == rounds - 1 + padding
        assert count("check_gaps") == 0


@pytest.mark.parametrize("path,samples,rate", [
    ("dmabuf", 1, 100_000), ("dmabuf", 1000, 100_000), ("dmabuf", 8192, 200_000), ("dmabuf", 30_000, 200_000),
    ("fileio", 1000, 100_000), ("fileio", 30_000, 200_000)])
def test_cyclic_playback_is_seamless(path, samples, rate):
    """Cycles of one sample, of less than a block, of one block and of four: the DAC, which has no FIFO,
    misses no sample.

    This is cyclic playback in software; test_cyclic.py tests hardware that supports it.
    """
    sim(fifo=0, dac_rate=rate)
    ramp_file(RAMP, samples=samples)
    process = start(f"play file:{RAMP} {RAW} iio:{DAC} cyclic=software path={path} --block-size 64Ki --json")
    until(lambda: count("delivered") > samples * counts.CYCLES or process.poll() is not None,
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
        # Each restart is one jump back, and nothing else is wrong.
        assert count("check_repeats") == count("mismatches") == (count("delivered") - 1) // samples
        assert repeats == count("delivered") // samples - 1


def test_cyclic_playback_ends_with_the_duration():
    ramp_file(RAMP, samples=1000)
    knob("rate", 100_000, DAC)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=on --block-size 64Ki --duration 1s")
    assert result.json["ended"] == "duration" and result.json["seconds"] >= 1
    assert playback(result)["repeats"] >= 50


@pytest.mark.parametrize("path", PATHS)
def test_a_duration_uses_the_dacs_own_rate(path):
    """The rate of the file does not matter. The DAC's rate also determines the size of the blocks."""
    meta = DISK / "x.sigmf-meta"
    run(f"record sim: pattern=ramp channels=4 rate=2M {meta} overwrite=on --samples 800000")
    ramp_file(RAMP, samples=800_000)
    sim(dac_rate=200_000)
    for words in (f"{meta} iio:{DAC} rate=200k", f"file:{RAMP} {RAW} iio:{DAC}"):
        result = play(f"{words} path={path} --duration 1500ms")
        assert result.json["ended"] == "duration" and result.json["samples"] == 300_000, words
        padding = count("delivered") - 300_000  # write() plays whole blocks of the kernel
        assert padding == 0 or path == "fileio" and 0 <= padding < result.json["block_bytes"] // SAMPLE
        assert playback(result)["sample_rate"] == 200_000
    assert result.json["block_bytes"] == 64 << 10  # 41 ms; without a rate it would be 1 MiB


def test_samples_that_do_not_fit_into_the_blocks_are_not_repeated():
    ramp_file(RAMP, bytes="1Mi")
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=on --block-size 64Ki --blocks 8", status=2)
    assert "loop=on" in result.json["error"]["message"]


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


def test_an_impossible_rate_is_refused_and_both_rates_are_named():
    ramp_file(RAMP, samples=20_000)
    sim(dac_rate=1_000_000)
    result = play(f"file:{RAMP} {RAW} rate=3G iio:{DAC} --block-size 64Ki", status=2)
    message = result.json["error"]["message"]
    assert "3000000000" in message and "1000000" in message and DAC in message and "rate=" in message


def test_samples_of_another_format_are_refused_and_both_formats_are_named():
    meta = DISK / "two.sigmf-meta"
    run(f"record sim: channels=2 rate=1M {meta} overwrite=on --samples 20000")
    message = play(f"{meta} iio:{DAC} rate=1M", status=2).json["error"]["message"]
    assert "2 channels of ci16_le" in message and f"{DAC}'s (4 of ci16_le)" in message
