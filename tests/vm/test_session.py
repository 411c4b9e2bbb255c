# SPDX-License-Identifier: MIT
"""Several pipelines that start together, playback, and a thousand starts.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_session.py

Linux 6.12, 2048 MB. With --full, the counts of counts.py take half an hour.
"""
import json
import re
import subprocess

import counts
import pytest
from conftest import ADC, DAC, DISK, knob, run, sim, start, finish, stream

ADC2 = "iios-sim-adc2"
FORMAT = "format=ci16_le channel_names=4"
BLOCK = "--block-size 64Ki --blocks 16"
BLOCK_SAMPLES = (64 << 10) // 8


@pytest.fixture(autouse=True)
def fresh():
    sim(adcs=2)


def dac_played(samples):
    assert int(knob("delivered", device=DAC)) == samples
    assert int(knob("mismatches", device=DAC)) == 0
    assert int(knob("check_gaps", device=DAC)) == int(knob("check_repeats", device=DAC)) == 0


def test_two_adcs_and_a_dac_start_together():
    for _ in range(counts.SESSION_STARTS):
        result = stream(f"iio:{ADC} iio:{DAC} --and iio:{ADC2} verify:ramp {BLOCK} --samples 200000")
        first, second = result.json["runs"]
        assert first["samples"] == second["samples"] == 200_000
        assert [hop["mechanism"] for hop in first["route"]] == ["dmabuf", "dmabuf"]
        assert first["copies"] == 0
        report = second["sinks"][0]["report"]
        assert report["samples"] == 200_000 and report["gaps"] == report["mismatches"] == 0
        dac_played(200_000)


def test_three_pipelines_stream_on_three_devices():
    source = DISK / "tx.bin"
    run(f"record sim: pattern=ramp channels=4 rate=0 {source} overwrite=on --samples 200000")
    for _ in range(counts.SESSION_STARTS):
        result = stream(f"iio:{ADC} verify:ramp --and iio:{ADC2} verify:ramp --and file:{source} "
                        f"{FORMAT} iio:{DAC} {BLOCK} --samples 200000")
        runs = result.json["runs"]
        assert [r["samples"] for r in runs] == [200_000] * 3
        assert all(r["sinks"][0]["report"]["gaps"] == 0 for r in runs[:2])
        dac_played(200_000)


def test_the_sources_start_without_other_calls_in_between():
    """The time between the starts depends on the emulator; the calls in between are ours."""
    trace = DISK / "starts"
    subprocess.run(["strace", "-f", "--seccomp-bpf", "-e", "trace=openat,write,ioctl", "-o", trace, "iio-stream", "stream", f"iio:{ADC}", "null:", "--and",
                    f"iio:{ADC2}", "null:", *BLOCK.split(), "--samples", "50000"], check=True,
                   stdout=subprocess.DEVNULL, timeout=60)
    lines = trace.read_text().splitlines()
    enables = [i for i, line in enumerate(lines) if 'buffer0/enable", O_WRONLY' in line][:2]
    first_thread = lines[enables[0]].split()[0]
    # In addition, one check of each block is permitted: whether the driver had no memory for it.
    between = [line for line in lines[enables[0]:enables[1]]
               if line.startswith(first_thread + " ") and "SYNC_IOC_FILE_INFO" not in line]
    # The calls are open, write and close for the first source's file.
    assert len(between) <= 5, "\n".join(between)
    assert not any("ENQUEUE" in line or "0x69, 0x94" in line or "0x69, 0x92" in line for line in between)


def test_the_streams_start_almost_simultaneously():
    """The clocks of both ADCs run from the time when they are enabled. At the end of a fixed number of
    samples, the ADC that was started first may be ahead by the duration of a start, but not by that of a
    prepare (attaching takes longer)."""
    rate = 100_000
    sim(adcs=2, rate=rate)
    process = start(f"stream iio:{ADC} null: --and iio:{ADC2} null: {BLOCK} --json --duration 2s")
    skews = []
    while process.poll() is None:
        a, b, again = (int(knob("produced", device=name)) for name in (ADC, ADC2, ADC))
        if a > 0 and b > 0:
            skews.append(max(a - b, b - again, 0))  # without the samples that passed during the reading
    result = finish(process, 20)
    assert result.status == 0 and len(skews) > 3
    assert min(skews) < rate // 10, f"{min(skews)} samples apart at {rate}/s"


def test_a_failing_pipeline_ends_the_other_and_is_reported():
    sim(adcs=2, rate=100_000)
    knob("dead_at", 20_000, ADC2)
    result = run(f"stream iio:{ADC} verify:ramp --and iio:{ADC2} null: --block-size 16Ki --blocks 16 --timeout 1s "
                 "--duration 60s --json", status=3, timeout=20)
    first, second = result.json["runs"]
    assert first["error"] is None and first["samples"] > 0
    assert second["error"]["name"] == "ETIMEDOUT" and ADC2 in second["error"]["object"]


def test_the_same_device_in_two_pipelines_is_reported_as_in_use():
    result = run(f"stream iio:{ADC} null: --and iio:{ADC} null: --samples 9 --json", status=3)
    error = result.json["runs"][0]["error"]
    assert error["name"] == "EBUSY" and "in use by process" in error["message"]


def test_the_cpu_touches_no_sample_from_the_adc_to_the_dac():
    trace, out = DISK / "trace", DISK / "summary.json"
    samples = 2_000_000
    subprocess.run(["strace", "-f", "-y", "-e", "trace=ioctl,mmap,read,write,pread64,pwrite64", "-o", trace,
                    "iio-stream", "stream", f"iio:{ADC}", f"iio:{DAC}", "--samples", str(samples),
                    f"--json={out}"], check=True, timeout=120)
    summary = json.loads(out.read_text())
    assert summary["copies"] == 0 and summary["samples"] == samples
    dac_played(samples)
    lines = trace.read_text().splitlines()
    enqueued = [line for line in lines if "0x69, 0x94" in line and "resumed" not in line]
    assert len(enqueued) >= 2 * summary["blocks"]  # at both ends
    on_dmabufs = [line for line in lines if re.search(r"\(\d+<[^>]*dmabuf", line)]
    assert len(on_dmabufs) >= 2 * summary["blocks"]  # these are the fences, so strace does show DMABUFs
    assert not [line for line in on_dmabufs if "DMA_BUF_IOCTL_SYNC," in line or "_IOC_WRITE, 0x62, 0, 0x8" in line]
    assert not [line for line in lines if "mmap(" in line and "dmabuf" in line]
    assert not [line for line in lines if re.search(r"(read|write|pread64|pwrite64)\(.*, \d{6,}\)", line)]


def dac_played_all_of(samples, path):
    """Checks that the DAC played exactly these samples. Playback by DMABUFs ends with the last sample;
    write() pads the kernel's own block with zeros."""
    if path == "dmabuf":
        return dac_played(samples)
    padded = -(-samples // BLOCK_SAMPLES) * BLOCK_SAMPLES
    assert int(knob("delivered", device=DAC)) == padded
    assert int(knob("mismatches", device=DAC)) == padded - samples
    if padded != samples:
        assert int(knob("mismatch_at", device=DAC)) == samples
        assert int(knob("mismatch_got", device=DAC), 0) == 0
    return None


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_file_is_played_sample_by_sample(path):
    source = DISK / "play.bin"
    run(f"record sim: pattern=ramp channels=4 rate=0 {source} overwrite=on --samples 1000000")
    result = run(f"play file:{source} {FORMAT} iio:{DAC} path={path} {BLOCK} --json")
    assert result.json["ended"] == "eof" and result.json["samples"] == 1_000_000
    assert result.json["route"][-1]["mechanism"] == path
    dac_played_all_of(1_000_000, path)


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
@pytest.mark.parametrize("samples", [4, BLOCK_SAMPLES, BLOCK_SAMPLES + 4, 3 * BLOCK_SAMPLES + 4])
@pytest.mark.parametrize("rate", [0, 100_000])
def test_incomplete_last_blocks_are_played(path, samples, rate):
    knob("rate", rate, DAC)
    result = stream(f"sim: pattern=ramp channels=4 rate=0 iio:{DAC} path={path} {BLOCK} --samples {samples}")
    assert result.json["sinks"][0]["delivered_samples"] == samples
    dac_played_all_of(samples, path)


def rows_of_cycles(times, *words):
    done = subprocess.run(["lab-cycles", str(times), *words], capture_output=True, text=True, check=False,
                          timeout=60 + 2 * times)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", ["fresh", "same"])
@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_starts_and_stops_leak_nothing(kind, path):
    # At this rate even a busy machine can detect which block read() returns first; see docs/kernels.md.
    sim(rate=1_000_000)
    try:
        rows = rows_of_cycles(counts.START_STOP_CYCLES, kind, "20000", f"iio:{ADC}?path={path}", "verify:ramp")
    finally:
        sim()
    assert len(rows) == counts.START_STOP_CYCLES
    assert not [row for row in rows if row[4:] != [20_000, 0]]
    settled, last = rows[len(rows) // 3], rows[-1]
    assert last[0] == settled[0], "open files"
    assert last[1] <= settled[1] + 512, "resident KiB"
    assert last[2] <= settled[2] + 2, "mappings"
    # A work queue of the kernel drops detached blocks, so the blocks of one stream might still exist.
    assert max(row[3] for row in rows) <= 2 * 8, "DMABUFs"


def test_starts_and_stops_leak_no_kernel_memory():
    def kernel_kib():
        text = open("/proc/meminfo", encoding="ascii").read()
        return sum(int(re.search(key + r":\s+(\d+)", text).group(1)) for key in ("SUnreclaim", "KernelStack", "Percpu"))

    rows_of_cycles(10, "fresh", "20000", f"iio:{ADC}", "null:")
    before = kernel_kib()
    cycles = counts.START_STOP_CYCLES
    rows_of_cycles(cycles, "fresh", "20000", f"iio:{ADC}", f"iio:{DAC}")
    # A leak of 8 blocks of 16 KiB per cycle would be 128 KiB of page memory, and about 4 KiB of slab.
    assert kernel_kib() <= before + 1024 + 2 * cycles
