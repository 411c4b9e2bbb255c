# SPDX-License-Identifier: MIT
"""Exit statuses, and signals and limits that end a stream."""
import contextlib
import json
import os
import pathlib
import platform
import signal
import subprocess
import time

import pytest

from conftest import DEADLINE

# The first words of /proc/PID/syscall while write() to stdout blocks.
WRITE_STDOUT = [{"x86_64": "1", "aarch64": "64"}.get(platform.machine()), "0x1"]
ENDLESS = "stream sim: rate=1M null: --json --progress"


def running(process):
    """Waits until the stream is running, which its progress line shows."""
    assert process.stderr.read(1), "the command ended before the stream was running"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_stream_cleanly(start, number):
    process = start(ENDLESS)
    running(process)
    process.send_signal(number)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    summary = json.loads(out)
    assert summary["ended"] == "signal"
    assert summary["samples"] == summary["sinks"][0]["delivered_samples"]


def test_a_recording_is_complete_after_a_signal(start, iio, tmp_path):
    process = start("record sim: pattern=ramp rate=1M a.ci16 --json --progress --blocks 64")
    running(process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert (tmp_path / "a.ci16").stat().st_size == json.loads(out)["bytes"] > 0
    iio("verify --pattern ramp a.ci16")


def test_a_signal_ends_the_wait_for_a_peer(start, tmp_path):
    socket = tmp_path / "s"
    process = start(f"stream sim: zmq:ipc://{socket} wait=on --timeout 1h --json")
    deadline = time.monotonic() + DEADLINE
    while not socket.exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    summary = json.loads(out)
    assert summary["ended"] == "signal" and summary["error"] is None and summary["samples"] == 0


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_an_ignored_signal_stays_ignored(start, number):
    # nohup, or a shell script that runs the command in the background, starts the command like this.
    process = start(ENDLESS, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
    running(process)
    process.send_signal(number)
    ignored = pathlib.Path(f"/proc/{process.pid}/status").read_text().split("SigIgn:")[1].split()[0]
    assert int(ignored, 16) >> (number - 1) & 1
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and json.loads(out)["ended"] == "signal"


def test_a_repeated_sigterm_ends_the_stream_cleanly(start):
    """timeout(1) sends the signal to the command, and once more to the command's process group."""
    process = start(ENDLESS)
    running(process)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and json.loads(out)["ended"] == "signal"


def test_a_second_signal_ends_immediately_with_130(start):
    # The sink blocks for an hour, and so does the drain that the first signal starts.
    process = start("stream sim: rate=1M null: stall_at=1 stall_for=1h --timeout 1h --progress")
    running(process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 130


def test_a_second_signal_ends_immediately_even_while_the_summary_is_printed(start):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, bytes(4096))
    except BlockingIOError:
        os.set_blocking(writing, True)  # the pipe is full, so a program that prints blocks
    process = start("stream sim: rate=1M null: --json --progress", stdout=writing)
    running(process)
    process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + DEADLINE
    stuck = pathlib.Path(f"/proc/{process.pid}/syscall")
    while stuck.read_text().split()[:2] != WRITE_STDOUT:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 130
    os.close(reading)
    os.close(writing)


def test_a_stuck_sink_is_abandoned_at_its_deadline(start):
    process = start("stream sim: rate=1M null: stall_at=1 stall_for=1h --timeout 500ms --progress")
    running(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    assert b"no block was finished within the deadline" in err


def test_a_signal_ends_a_whole_sweep(start):
    process = start("bench sim: rate=1M --sweep blocks=4..64 --duration 1h --json --progress")
    running(process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert [run["ended"] for run in json.loads(out)["runs"]] == ["signal"]


def test_an_interrupted_verify_is_not_ok(start, tmp_path):
    with open(tmp_path / "big.ci16", "wb") as file:
        file.truncate(1 << 40)  # a hole that takes long enough to read
    process = start("verify big.ci16 --json")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1
    assert json.loads(out)["ok"] is False
    assert b"not read to the end" in err


@pytest.mark.parametrize("command, status", [
    ("stream sim: rate=0 null: --samples 10", 0),
    ("frobnicate", 2),
    ("stream", 2),
    ("stream sim:", 2),
    ("stream null: sim:", 2),
    ("stream sim: null: --nonsense", 2),
    ("stream sim: null: rate=fast", 2),
    ("stream sim: null: --max-gaps some", 2),
    ("stream sim: null: --samples 0", 2),
    ("stream sim: rate=0 unplug_at=5000 null:", 3),
    ("stream iio:no-such-device null:", 3),
    ("info no-such-device", 3),
    ("stream sim: rate=0 drop_at=5000 null: --on-gap stop", 4),
    ("record sim: no/such/folder/a.ci16 --bytes 1Ki", 5),
    ("play no-such-file.ci16 null:", 5),
    ("stream sim: rate=0 /dev/full --bytes 1Mi", 5),
])
def test_exit_statuses(iio, command, status):
    result = iio(command, status=status)
    if status != 4:  # a stream that ends at a gap on request has no error to report
        assert (result.err != "") == (status != 0)


def test_without_arguments_the_command_prints_the_help_and_exits_with_2(iio):
    assert "Usage: iio-stream COMMAND" in iio("", status=2).out
    assert "Usage: iio-stream COMMAND" in iio("--help").out


def test_a_device_error_takes_precedence_over_a_storage_error(iio):
    # A lost device (3) and a full disk (5) at the same time give 3.
    result = iio("stream sim: rate=0 unplug_at=1M null: --and sim: rate=0 /dev/full --json",
                 status=None)
    statuses = {run["error"]["name"] for run in result.json["runs"] if run["error"]}
    assert result.status == (3 if "ENODEV" in statuses else 5)


@pytest.mark.parametrize("limit, status, text", [
    ("--max-gaps 1", 0, ""), ("--max-gaps 0", 4, "1 gaps, more than max-gaps 0"),
    ("--max-lost 100", 0, ""), ("--max-lost 99", 4, "100 samples may be lost"),
    ("--min-rate 1", 0, ""), ("--min-rate 1000G", 4, "fewer than min-rate"),
])
def test_an_exceeded_threshold_is_exit_status_4(iio, limit, status, text):
    command = f"stream sim: rate=0 drop_at=5000 drop=100 null: --samples 10k --json {limit}"
    result = iio(command, status=status)
    assert text in result.err
    assert (result.json["error"] is None) == (status == 0)
    assert result.json["gaps"]["lost_max"] == 100


@pytest.mark.parametrize("limit, status, text", [
    ("--max-gaps 1 --max-lost 100", 0, ""), ("--max-gaps 0", 4, "1 gaps, more than max-gaps 0"),
    ("--max-lost 99", 4, "100 samples may be lost, more than max-lost 99"),
])
def test_verify_applies_thresholds_to_a_recording(iio, limit, status, text):
    iio("record sim: rate=0 drop_at=5000 drop=100 x.sigmf-meta --samples 10k")
    result = iio("verify x.sigmf-meta --json", limit, status=status)
    assert text in result.err and result.json["ok"] == (status == 0)
    assert status == 0 or "verify x.sigmf-meta: " in result.err
    assert result.json["samples"] == 10_000  # the whole recording was read first


def test_verify_counts_zeros_in_place_of_lost_samples_as_lost(iio):
    iio("record sim: rate=0 drop_at=5000 drop=100 x.sigmf-meta --samples 10k --on-gap zero-fill")
    assert "100 zeros in place of lost samples" in iio("verify x.sigmf-meta --max-lost 100").out
    result = iio("verify x.sigmf-meta --max-lost 99 --json", status=4)
    assert "100 samples may be lost" in result.err and result.json["recording"]["zeros"] == 100


def test_verify_says_that_an_error_ended_the_stream(iio):
    iio("record sim: rate=0 unplug_at=5000 x.sigmf-meta", status=3)
    assert "ended early by an error" in iio("verify x.sigmf-meta").out
    assert iio("verify x.sigmf-meta --json").json["recording"]["state"] == "interrupted"


def test_the_error_of_on_gap_stop_names_the_sample_before_the_gap(iio):
    result = iio("record sim: rate=0 drop_at=5000 drop=100 x.sigmf-meta --on-gap stop", status=4)
    assert "samples were lost after sample 5000; --on-gap stop ended the stream" in result.err


def test_max_lost_is_refused_for_a_raw_file(iio):
    iio("record sim: rate=0 x.ci16 --samples 10k")
    assert "x.ci16 does not record losses" in iio("verify x.ci16 --max-lost 0", status=2).err


def test_an_invalid_threshold_is_reported_before_the_stream_starts(iio, tmp_path):
    iio("record sim: rate=0 a.ci16 --bytes 1Ki --max-lost many", status=2)
    assert not (tmp_path / "a.ci16").exists()


def test_a_duration_is_exact_in_samples(iio):
    summary = iio("stream sim: rate=1M null: --duration 300ms --blocks 64 --json").json
    assert (summary["ended"], summary["samples"]) == ("duration", 300_000)


def test_a_duration_ends_by_the_clock_if_samples_trickle(start):
    # Samples arrive more slowly than the stated rate, but without a pause, so that no block becomes full.
    process = start("stream - format=ci16_le rate=1M null: --duration 500ms --block-size 4Mi --json",
                    stdin=subprocess.PIPE)
    deadline = time.monotonic() + DEADLINE
    with contextlib.suppress(BrokenPipeError):
        while process.poll() is None:
            assert time.monotonic() < deadline
            process.stdin.write(bytes(40))
            process.stdin.flush()
            time.sleep(0.001)
    process.stdin = None  # closed, or broken
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert json.loads(out)["ended"] == "duration"
