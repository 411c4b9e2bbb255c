# SPDX-License-Identifier: MIT
"""Devices that disappear, stall or are in use: each stream ends in time, with a complete error description.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_faults.py

Linux 6.12, 2048 MB. Each test reloads the simulator.
"""
import datetime
import errno
import fcntl
import json
import os
import signal
import struct
import subprocess
import time

import pytest
from conftest import ADC, DAC, DISK, finish, iio_dir, knob, run, sim, start, stream, truth
from errors import account, failing
from waiting import until

RATE = 200_000  # 10 ms for a block of 16 KiB, which a busy emulator can handle
IIO_BUFFER_GET_FD = 0xC0046991
SMALL = "--block-size 16Ki --blocks 16"


@pytest.fixture(autouse=True)
def fresh():
    sim(rate=RATE)
    yield
    if knob("plugged") == "0":
        knob("replug", 1)


def streaming(*words):
    """Starts a stream, and returns it when it has begun to deliver."""
    process = start("stream", *words, "--json")
    until(lambda: int(knob("delivered")) >= RATE // 10, "the first samples")
    return process


def recording(file, *words):
    """Starts a recording, and returns it when it has samples. With fileio, the kernel delivers some samples
    earlier, while the program tests the order of the kernel's blocks."""
    process = start("stream", *words, "--json")
    journal = file.with_name(f"{file.name}.journal")
    until(lambda: journal.exists() and b'"bytes":' in journal.read_bytes(), "the first samples")
    return process


def works_again(path):
    """Checks that a new stream works. It has no rate, so that nothing is lost on a busy machine."""
    knob("rate", 0)
    knob("dead_at", "off")
    assert stream(f"iio:{ADC} path={path} verify:ramp --samples 50000").mechanism == path


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_an_unplugged_device_ends_the_stream_and_earlier_samples_are_kept(path):
    file = DISK / "unplugged.bin"
    # The kernel never frees a block that is queued between the unplugging and the program's detection of it.
    # Blocks of 100 ms make that unlikely.
    knob("rate", RATE // 10)
    process = recording(file, f"iio:{ADC} path={path} {file} overwrite=on null: {SMALL}")
    knob("unplug", 1)
    result = finish(process, 10)
    account(result, 3, "ENODEV", "gone", "/dev/iio:device")
    assert result.json["samples"] > 0
    assert file.stat().st_size == result.json["bytes"]
    if path == "dmabuf":
        assert result.json["blocks_bad"]["cancelled"] > 0
    knob("replug", 1)
    until(lambda: iio_dir(ADC), "the device is back")
    works_again(path)


# The kernel never releases a block that is enqueued while the device disappears (docs/lab-findings.md).
@pytest.mark.leaves_dmabufs
def test_an_unplugged_dac_ends_the_stream():
    process = start("stream", f"sim: pattern=ramp channels=4 rate={RATE} iio:{DAC} {SMALL} --json")
    until(lambda: int(knob("delivered", device=DAC)) > RATE // 10, "the first samples")
    knob("unplug", 1, DAC)
    account(finish(process, 10), 3, "ENODEV", "gone", DAC)
    knob("replug", 1, DAC)


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_stream_whose_dma_never_completes_ends_at_the_deadline(path):
    knob("dead_at", 20_000)
    before = time.monotonic()
    result = failing(f"iio:{ADC} path={path} verify:ramp {SMALL} --timeout 500ms", status=3,
                     name="ETIMEDOUT", words=[ADC, "500 ms"])
    assert time.monotonic() - before < 8
    assert 0 < result.json["samples"] <= 20_000
    assert "--timeout" in result.json["error"]["hint"]
    works_again(path)


def test_a_stream_whose_dma_never_starts_ends_at_the_deadline():
    knob("dead_at", 0)
    for path in ("dmabuf", "fileio"):
        result = failing(f"iio:{ADC} path={path} null: {SMALL} --timeout 300ms", status=3,
                         name="ETIMEDOUT", words=[ADC])
        assert result.json["samples"] == 0


@pytest.mark.parametrize("duration", ["500ms", "1500ms"])
@pytest.mark.parametrize("path, faults", [("dmabuf", {"dead_at": 0}), ("fileio", {"dead_at": 0}),
                                          ("fileio", {"refuse_at": 0, "refuse_count": 2})])
def test_a_duration_without_any_samples_is_a_timeout(path, faults, duration):
    """read() is restarted, either within the duration or at its end."""
    for name, value in faults.items():
        knob(name, value)
    result = failing(f"iio:{ADC} path={path} null: {SMALL} --duration {duration}", status=3, name="ETIMEDOUT",
                     words=[ADC, "no block arrived"])
    assert result.json["samples"] == 0 and knob("delivered") == "0"


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_duration_on_a_slow_device_delivers_all_its_samples(path):
    """The first block is not full when the time is up."""
    knob("rate", 40)
    result = stream(f"iio:{ADC} path={path} verify:ramp --duration 1s --block-size 512 --blocks 4", timeout=30)
    assert result.json["ended"] == "duration" and result.json["samples"] == 40


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_buffer_that_another_process_disables_is_reported_as_disabled(path):
    file = DISK / "disabled.bin"
    process = recording(file, f"iio:{ADC} path={path} {file} overwrite=on {SMALL} --timeout 1s")
    enable = iio_dir(ADC) / "buffer0/enable"
    enable.write_text("0")
    result = finish(process, 10)
    error = account(result, 3, "ECANCELED", "another process disabled the buffer")
    assert "/enable" in error["hint"]
    assert file.stat().st_size == result.json["bytes"] > 0


def test_blocks_queued_but_never_started_are_returned():
    """The first pipeline has already queued its blocks when the second one fails to start."""
    file = DISK / "taken.bin"
    file.touch()
    failing(f"iio:{ADC} path=dmabuf null: --and sim: {file} --samples 9000", status=5, name="EEXIST",
            words=[file])
    works_again("dmabuf")


def test_a_dac_that_another_process_disables_is_reported_as_disabled():
    process = start("stream", f"sim: pattern=ramp channels=4 rate={RATE} iio:{DAC} {SMALL} --json")
    until(lambda: int(knob("delivered", device=DAC)) > RATE // 10, "the first samples")
    (iio_dir(DAC) / "buffer0/enable").write_text("0")
    account(finish(process, 10), 3, "ECANCELED", "another process disabled the buffer", DAC)


def test_the_error_for_a_device_in_use_names_its_process():
    process = streaming(f"iio:{ADC} null: {SMALL} --duration 60s")
    try:
        result = failing(f"iio:{ADC} null: --samples 1000", status=3, name="EBUSY",
                         words=["in use", f"process {process.pid} iio-stream"])
        assert iio_dir(ADC).name in result.json["error"]["object"]
        told = run(f"info {ADC}").out  # info works in the meantime, and reports it
        assert str(process.pid) in told and "unknown whether it takes DMABUFs" in told
        buffer, = run(f"info {ADC} --json").json["devices"][0]["buffers"]
        assert buffer["dmabuf"] is None and "in use" in buffer["reason"]
    finally:
        process.terminate()
        first = finish(process, 10)
    assert first.status == 0 and first.json["ended"] == "signal"  # the second stream did not disturb it


def test_a_buffer_that_was_left_enabled_can_be_used():
    # A killed program or a shell can leave a buffer enabled. If its file can be opened, no program uses it.
    folder = iio_dir(ADC)
    (folder / "scan_elements/in_voltage0_i_en").write_text("1")
    (folder / "buffer0/length").write_text("2048")
    for path in ("dmabuf", "fileio"):
        (folder / "buffer0/enable").write_text("1")
        works_again(path)
        knob("rate", RATE)
    (iio_dir(DAC) / "scan_elements/out_voltage0_i_en").write_text("1")
    (iio_dir(DAC) / "buffer0/enable").write_text("1")
    stream(f"sim: pattern=ramp channels=4 rate=0 iio:{DAC} --samples 20000")
    assert knob("mismatches", device=DAC) == "0"


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_streams_start_after_a_killed_stream(path):
    for _ in range(3):
        knob("rate", RATE)
        process = streaming(f"iio:{ADC} path=dmabuf null: {SMALL}")
        process.kill()
        process.communicate()
        works_again(path)


def test_a_legacy_holder_of_the_device_is_named():
    """The holder is a program other than ours, which got the buffer by GET_FD."""
    device = f"/dev/{iio_dir(ADC).name}"
    fd = os.open(device, os.O_RDWR)
    buffer = -1
    try:
        answer = fcntl.ioctl(fd, IIO_BUFFER_GET_FD, struct.pack("i", 0))
        buffer = struct.unpack("i", answer)[0]
        failing(f"iio:{ADC} null: --samples 1000", status=3, name="EBUSY",
                words=[device, f"process {os.getpid()} "])
    finally:
        os.close(fd)
        if buffer >= 0:
            os.close(buffer)


def test_fileio_starts_right_after_dmabufs():
    for _ in range(5):
        stream(f"iio:{ADC} path=dmabuf null: --samples 50000")
        result = stream(f"iio:{ADC} path=fileio verify:ramp --samples 50000", timeout=20)
        assert result.mechanism == "fileio"


def test_the_error_for_a_missing_device_suggests_a_similar_name():
    error = failing("iio:iios-sim-acd null: --samples 9", status=3, name="ENODEV",
                    words=["iios-sim-acd"]).json["error"]
    assert ADC in error["hint"]
    failing("iio:iios-sim-phy null: --samples 9", status=3, name="ENODEV",
            words=["iios-sim-phy", "no such buffer"])
    failing(f"iio:{ADC} buffer=3 null: --samples 9", status=3, name="ENODEV", words=["buffer 3"])


def test_the_wrong_direction_is_a_usage_error():
    failing(f"iio:{DAC} null: --samples 9", status=2, name="EINVAL", words=[DAC, "output"])
    failing(f"sim: channels=4 iio:{ADC} --samples 9", status=2, name="EINVAL", words=[ADC, "input"])
    failing(f"sim: channels=2 iio:{DAC} --samples 9", status=2, name="EINVAL",
            words=[DAC, "channels"])


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_failing_streams_leak_nothing_in_a_program_that_continues(path):
    knob("dead_at", 20_000)
    cycles = subprocess.run(["lab-cycles", "6", "fresh", "100000", f"iio:{ADC}?path={path}", "null:"],
                            capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [[int(word) for word in line.split()] for line in cycles.splitlines()]
    assert [row[5] for row in rows] == [errno.ETIMEDOUT] * 6
    files, _, mappings, dmabufs, _, _ = rows[1]
    for row in rows[2:]:
        assert row[0] == files and row[3] <= dmabufs and row[2] <= mappings + 2, cycles


def test_a_transfer_that_ends_early_is_only_visible_in_the_pattern():
    """The kernel does not report partial transfers to users of DMABUFs. Only the data show the old bytes
    after the transfer."""
    sim(short_at=5, short_bytes=4096)
    result = run(f"stream iio:{ADC} path=dmabuf verify:ramp --samples 100000 --block-size 64Ki --blocks 4 --json",
                 status=1)
    report = result.json["sinks"][0]["report"]
    assert report["mismatches"] + report["repeats"] + report["gaps"] >= 1
    assert result.json["error"]["operation"] == "verify"


def test_a_program_that_was_stopped_reports_each_loss_exactly():
    sim(rate=RATE, fifo=4096, counter=32, pattern="lanes")
    process = start(f"stream iio:{ADC} counter=channel:count0 verify:lanes --duration 4s --block-size 24Ki "
                    "--blocks 8 --json")
    until(lambda: int(knob("delivered")) > RATE // 2, "the first samples")
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)
    result = finish(process, 30)
    assert result.status == 0, result.err
    jumps = [jump for jump in truth()[0] if jump[0] < result.json["samples"]]
    lost = sum(samples for _, samples in jumps)
    assert lost > RATE // 2
    assert (result.gaps["certain"], result.gaps["lost_min"], result.gaps["lost_max"]) == (len(jumps), lost, lost)
    assert result.json["sinks"][0]["report"]["unreported"] == 0


def test_a_step_of_the_clock_does_not_affect_a_stream(tmp_path):
    sim(rate=RATE, fifo=4096)
    file = tmp_path / "a.sigmf-meta"
    process = start(f"stream iio:{ADC} {file} verify:ramp --samples {2 * RATE} --block-size 16Ki --blocks 32 --json")
    until(lambda: int(knob("delivered")) > RATE // 2, "the first samples")
    began = time.clock_gettime(time.CLOCK_REALTIME)
    time.clock_settime(time.CLOCK_REALTIME, began + 3600)
    try:
        result = finish(process, 30)
    finally:
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) - 3600)
    assert result.status == 0 and result.json["samples"] == 2 * RATE
    assert result.gaps["certain"] == result.gaps["possible"] == 0
    assert 1 < result.json["seconds"] < 60
    capture, = json.loads(file.read_text())["captures"]
    told = datetime.datetime.fromisoformat(capture["core:datetime"].replace("Z", "+00:00")).timestamp()
    assert abs(told - began) < 60


def test_a_deadline_that_passes_while_the_program_is_stopped_does_not_end_the_stream():
    """Simulates a busy machine that stops the program. The converter stalls a little longer than the
    program."""
    sim(rate=RATE, fifo=4096, stall_at=RATE // 2, stall_ms=1800)
    process = start(f"stream iio:{ADC} null: --samples {RATE} --block-size 16Ki --blocks 32 --timeout 900ms --json")
    try:
        until(lambda: int(knob("delivered")) > RATE // 2 - 4096, "the stall")
        time.sleep(0.2)
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.3)
    finally:
        process.send_signal(signal.SIGCONT)
    result = finish(process)
    assert result.status == 0 and result.json["samples"] == RATE
