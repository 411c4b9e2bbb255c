# SPDX-License-Identifier: MIT
"""--events reports the events of a stream, one per line."""
import json
import os
import re
import socket
import subprocess
import sys

import pytest
from conftest import COMMAND, DEADLINE, REPOSITORY
from waiting import until

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
pytest.importorskip("jsonschema")
import schemas  # noqa: E402


def lines_of(text):
    events = [json.loads(line) for line in text.splitlines()]
    for event in events:
        schemas.check("event", event)
    return events


def brief(events, *keys):
    return [tuple(event[key] for key in ("event", *keys)) for event in events]


def test_a_recording_reports_its_parts_and_its_losses(iio, tmp_path):
    iio("record sim: rate=0 drop_at=600k drop=7 r.sigmf-meta rotate_bytes=1Mi --block-size 64Ki --samples 1M "
        "--events log")
    events = lines_of((tmp_path / "log").read_text())
    assert {(e["host"], e["pipeline"], e["source"].partition(":")[0]) for e in events} == {(socket.gethostname(), 0, "sim")}
    assert (events[0]["event"], events[0]["sample_bytes"], events[-1]["event"]) == ("started", 4, "ended")
    parts = [e for e in events if e["event"] == "part"]
    assert [e["file"] for e in parts] == sorted(p.name for p in tmp_path.glob("*.sigmf-meta"))
    assert [e["bytes"] for e in parts] == [p.stat().st_size for p in sorted(tmp_path.glob("*.sigmf-data"))]
    loss, = (e for e in events if e["event"] == "loss")
    assert (loss["sink"], loss["after_min"], loss["after_max"], loss["lost_min"], loss["lost_max"]) == (
        None, 600_000, 600_000, 7, 7)
    assert brief(events[-1:], "why", "samples", "lost_min", "lost_max", "error") == [
        ("ended", "samples", 1_000_000, 7, 7, None)]
    assert [e["time"][:19] for e in events] == sorted(e["time"][:19] for e in events)


def test_later_commands_append_to_the_events_file(iio, tmp_path):
    for _ in range(2):
        iio("stream sim: rate=0 null: --and sim: rate=0 null: --samples 1k --events log")
    assert brief(lines_of((tmp_path / "log").read_text()), "pipeline") == 2 * [
        ("started", 0), ("started", 1), ("ended", 0), ("ended", 1)]


def test_a_hyphen_sends_events_to_stderr(iio):
    result = iio("stream sim: rate=0 null: --samples 1k --quiet --events -")
    assert brief(lines_of(result.err)) == [("started",), ("ended",)]


def test_a_stream_that_cannot_start_reports_why(iio, tmp_path):
    iio("stream missing.ci16 format=ci16_le null: --events log", status=5)
    event, = lines_of((tmp_path / "log").read_text())
    assert event["event"] == "ended" and event["why"] == "error" and "missing.ci16" in event["error"]


def test_a_fifo_is_written_to_with_and_without_a_reader(iio, tmp_path):
    os.mkfifo(tmp_path / "log")
    words = "stream sim: rate=0 null: --samples 1k --quiet --events log"
    assert re.search("the last [1-9][0-9]+ bytes were never read", iio(words).err)
    with open(os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK)) as reader:
        assert iio(words).err == ""
        assert brief(lines_of(reader.read())) == [("started",), ("ended",)]


def test_events_that_cannot_be_written_are_reported_and_do_not_end_the_stream(iio):
    result = iio("stream sim: rate=0 null: --samples 1k --quiet --events /dev/full")
    assert result.err == ("iio-stream: --events /dev/full: No space left on device\n"
                          "iio-stream: --events /dev/full: 2 events were not written\n")


def test_an_unfinished_line_in_the_file_does_not_damage_new_lines(iio, tmp_path):
    (tmp_path / "log").write_text('{"event":"star')
    iio("stream sim: rate=0 null: --samples 1k --events log")
    half, *lines = (tmp_path / "log").read_text().splitlines()
    assert half == '{"event":"star' and brief(lines_of("\n".join(lines))) == [("started",), ("ended",)]


@pytest.mark.parametrize("happens", ["rename", "unlink"])
def test_a_new_file_is_started_after_the_old_one_was_renamed_or_removed(start, tmp_path, happens):
    process = start("stream sim: rate=1M null: --events log")
    until(lambda: (tmp_path / "log").exists() and (tmp_path / "log").stat().st_size)
    (tmp_path / "log").rename(tmp_path / "log.1") if happens == "rename" else (tmp_path / "log").unlink()
    process.terminate()
    process.communicate(timeout=DEADLINE)
    kinds = brief(lines_of((tmp_path / "log").read_text()))
    assert [kind for kind in kinds if kind != ("loss",)] == [("ended",)]  # a busy machine can lose samples


def test_a_full_stderr_does_not_block_the_recording(tmp_path):
    near, far = os.pipe()
    os.set_blocking(far, False)
    try:
        while os.write(far, bytes(4096)):
            pass
    except BlockingIOError:
        os.set_blocking(far, True)
    words = "record sim: rate=0 r.ci16 rotate_bytes=64Ki --block-size 16Ki --samples 1M --quiet --events -"
    subprocess.run([COMMAND, *words.split()], cwd=tmp_path, stderr=far, timeout=DEADLINE, check=True)
    os.close(near)
    os.close(far)
    assert sum(path.stat().st_size for path in tmp_path.glob("r.*")) == 4_000_000


@pytest.mark.parametrize("file", ["/dev/stdout", "/dev/fd/1"])
def test_a_pipe_can_be_given_by_its_device_name(iio, file):
    assert brief(lines_of(iio(f"stream sim: rate=0 null: --samples 1k --quiet --events {file}").out)) == [
        ("started",), ("ended",)]


@pytest.mark.parametrize("words", ["--events log --json=log", "--events ./log --metrics-file log",
                                   "--json=log --metrics-file log"])
def test_two_reports_in_one_file_are_refused(iio, words):
    assert "log is already used by this command" in iio("stream sim: null: --samples 9", words, status=2).err


@pytest.mark.parametrize("file, status, said", [
    ("nowhere/log", 5, "open nowhere/log: No such file or directory"), ("r.sigmf-data", 2, "--events=r.sigmf-data")])
def test_an_unusable_events_file_is_an_error_before_the_start(iio, tmp_path, file, status, said):
    assert said in iio(f"record sim: rate=0 r.sigmf-meta --samples 9 --events {file}", status=status).err
    assert not (tmp_path / "r.sigmf-meta").exists()
