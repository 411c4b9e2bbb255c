# SPDX-License-Identifier: MIT
"""Recordings, pipes and standard streams."""
import json
import os
import subprocess
import threading
import time

import pytest

from conftest import COMMAND, DEADLINE, ramp


def test_a_recording_holds_every_sample_and_verifies(iio, tmp_path):
    summary = iio("record sim: rate=0 a.ci16 --bytes 4Mi --json").json
    assert summary["sinks"][0]["bytes"] == 4 << 20
    assert (tmp_path / "a.ci16").read_bytes() == ramp(1 << 20)
    assert "every sample in place" in iio("verify --pattern ramp a.ci16").out


def test_the_lanes_pattern_verifies_only_with_the_right_number_of_channels(iio):
    iio("record sim: rate=0 pattern=lanes channels=4 a.bin --bytes 1Mi")
    iio("verify --pattern lanes a.bin format=ci16_le channel_names=4")
    assert "lanes" in iio("verify --pattern lanes a.bin format=ci16_le channel_names=2", status=1).err


def test_one_wrong_byte_is_detected(iio, tmp_path):
    iio("record sim: rate=0 a.ci16 --bytes 1Mi")
    with open(tmp_path / "a.ci16", "r+b") as file:
        file.seek(500_000)
        file.write(b"\xff")
    result = iio("verify --pattern ramp a.ci16 --json", status=1)
    assert result.json["ok"] is False
    assert result.err


def test_a_truncated_recording_is_detected(iio, tmp_path):
    iio("record sim: rate=0 a.ci16 --bytes 1Mi")
    with open(tmp_path / "a.ci16", "r+b") as file:
        file.truncate((1 << 20) - 2)
    assert iio("verify a.ci16", status=None).status != 0


def test_verify_finds_a_loss_that_the_source_did_not_report(iio):
    iio("record sim: rate=0 drop_at=5000 silent=on a.ci16 --bytes 1Mi")
    assert "ramp" in iio("verify --pattern ramp a.ci16", status=1).err


def test_an_existing_file_is_refused_and_left_alone(iio, tmp_path):
    (tmp_path / "a.ci16").write_text("precious")
    result = iio("record sim: rate=0 a.ci16 --bytes 1Ki", status=5)
    assert "a.ci16: File exists" in result.err and "overwrite=on" in result.err
    assert (tmp_path / "a.ci16").read_text() == "precious"
    iio("record sim: rate=0 a.ci16 overwrite=on --bytes 1Ki")
    assert (tmp_path / "a.ci16").read_bytes() == ramp(256)


@pytest.mark.parametrize("suffix", ["ci16", "sc16", "cs16", "bin", "raw", "dat", "iq"])
def test_files_with_raw_suffixes_hold_the_samples_and_nothing_else(iio, tmp_path, suffix):
    iio(f"record sim: rate=0 a.{suffix} --bytes 64Ki")
    assert (tmp_path / f"a.{suffix}").read_bytes() == ramp(16384)


def test_the_suffix_determines_the_format_of_a_source(iio):
    iio("record sim: rate=0 pattern=tone convert=cf32_le a.cf32 --samples 1000")
    verdict = iio("verify a.cf32 --json").json
    assert (verdict["sample_format"], verdict["samples"]) == ("cf32_le", 1000)


def test_a_path_with_equals_and_spaces_is_a_path(iio, tmp_path):
    (tmp_path / "a=b c").mkdir()
    path = "./a=b c/x.ci16"
    result = subprocess.run([COMMAND, "record", "sim:", "rate=0", path, "--bytes", "1Ki", "--json"],
                            cwd=tmp_path, capture_output=True, timeout=DEADLINE, check=True)
    assert (tmp_path / path).stat().st_size == 1024, result.stdout


def test_a_fifo_carries_the_stream(iio, start, tmp_path):
    os.mkfifo(tmp_path / "pipe.ci16")
    writer = start("stream sim: rate=0 pipe.ci16 --bytes 1Mi --quiet")
    summary = iio("stream pipe.ci16 verify:ramp --json").json
    assert summary["bytes"] == 1 << 20
    assert summary["ended"] == "eof"
    assert writer.wait(DEADLINE) == 0


def test_opening_a_fifo_without_a_reader_fails_at_the_deadline(iio, tmp_path):
    os.mkfifo(tmp_path / "pipe.ci16")
    result = iio("stream sim: rate=0 pipe.ci16 --bytes 1Mi --timeout 300ms", status=5)
    assert "pipe.ci16" in result.err


def test_stdin_is_a_source(iio):
    result = iio("stream - format=ci16_le verify:ramp --json", stdin=None, input=ramp(100_000))
    assert (result.json["samples"], result.json["ended"]) == (100_000, "eof")


def test_stdin_is_copied_to_stdout(iio):
    data = ramp(100_000)
    assert iio("stream - format=ci16_le - --quiet", stdin=None, input=data).stdout == data


def test_the_stream_waits_for_data_from_stdin(start):
    process = start("stream - format=ci16_le rate=10M verify:ramp --json", stdin=subprocess.PIPE)
    later = threading.Timer(1.5, lambda: (process.stdin.write(ramp(1000)), process.stdin.close()))
    later.start()
    assert process.wait(DEADLINE) == 0
    later.join()
    process.stdin = None


@pytest.mark.parametrize("source", ["-", "p.ci16"])
def test_an_explicit_timeout_ends_the_wait_for_a_silent_pipe(start, tmp_path, source):
    if source != "-":
        os.mkfifo(tmp_path / source)
    begun = time.monotonic()
    process = start(f"stream {source} format=ci16_le a.ci16 --json --timeout 500ms", stdin=subprocess.PIPE)
    writer = process.stdin if source == "-" else open(tmp_path / source, "wb")
    writer.write(ramp(1000))
    writer.flush()
    assert process.wait(DEADLINE) == 3
    assert 0.5 <= time.monotonic() - begun < 10
    error = json.loads(process.stdout.read())["error"]
    assert error["object"] == ("standard input" if source == "-" else source) and error["name"] == "ETIMEDOUT"
    assert "within 500 ms" in error["message"] and "--timeout waits longer" in error["hint"]
    assert (tmp_path / "a.ci16").read_bytes() == ramp(1000)  # the samples before the timeout are kept
    if source != "-":
        writer.close()


def test_two_pipelines_start_together_and_report_both(iio):
    result = iio("stream sim: rate=0 verify:ramp --and sim: rate=0 pattern=lanes verify:lanes"
                 " --samples 10k --json").json
    assert (result["schema"], result["command"]) == (1, "stream")
    assert [run["samples"] for run in result["runs"]] == [10_000, 10_000]


def test_a_failure_of_one_pipeline_stops_the_other(iio):
    words = "stream sim: null: --and sim: rate=0 unplug_at=1000 null:"
    result = iio(f"{words} --json", status=3)
    assert [run["ended"] for run in result.json["runs"]] == ["stopped", "error"]
    text = iio(words, status=3).out
    assert "; stopped because another stream failed\n" in text and "; ended by error\n" in text


def test_one_source_feeds_several_sinks(iio, tmp_path):
    summary = iio("stream sim: rate=0 a.ci16 verify:ramp null: --samples 10k --json").json
    assert [sink["delivered_samples"] for sink in summary["sinks"]] == [10_000] * 3
    assert (tmp_path / "a.ci16").read_bytes() == ramp(10_000)


def test_play_streams_a_file(iio):
    iio("record sim: rate=0 a.ci16 --samples 10k")
    assert iio("play a.ci16 verify:ramp --json").json["samples"] == 10_000


def test_an_endless_source_of_one_byte_samples_does_not_reserve_the_whole_disk(iio, tmp_path):
    (tmp_path / "in.ri8").write_bytes(bytes(range(200)) * 5)
    iio("stream in.ri8 out.ri8")
    assert (tmp_path / "out.ri8").read_bytes() == (tmp_path / "in.ri8").read_bytes()


@pytest.mark.parametrize("whole", [0, 1000, 20_000])
def test_whole_samples_before_an_incomplete_one_are_written(iio, tmp_path, whole):
    data = bytes(range(250)) * (whole * 4 // 250) + b"xyz"
    result = iio("stream - format=ci16_le out.ci16 --block-size 4Ki --json", status=5, stdin=None, input=data)
    assert "middle of a sample" in result.json["error"]["message"]
    assert result.json["samples"] == whole
    assert (tmp_path / "out.ci16").read_bytes() == data[:-3] if whole else True


@pytest.mark.parametrize("name", ["x.sigmf-meta", "x.ci16"])
def test_a_missing_folder_is_named_in_the_error(iio, tmp_path, name):
    err = iio(f"record sim: nowhere/{name} --samples 1k", status=5).err
    assert "there is no folder nowhere" in err and ".new" not in err
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("command", ["play a null:", "stream a null:", "verify a"])
def test_a_missing_data_file_is_a_storage_error(iio, tmp_path, command):
    iio("record sim: a --samples 1k")
    (tmp_path / "a.sigmf-data").unlink()
    assert "open a.sigmf-data: No such file" in iio(command, status=5).err


@pytest.mark.parametrize("command", ["verify x.ci16 format=cf32_le", "stream x.ci16 format=cf32_le null:"])
def test_a_format_that_contradicts_the_suffix_is_refused_for_a_source(iio, command):
    iio("record sim: x.ci16 --samples 1k")
    err = iio(command, status=2).err
    assert "x.ci16: the name says ci16_le, but format= says cf32_le" in err
    iio("stream x.ci16 format=le:s12/16>>0,le:s12/16>>0 null:")  # a converter's format of the same size


def test_the_summary_shows_a_sinks_bytes_if_they_differ_from_the_sources(iio):
    out = iio("record sim: rate=0 x.cf32 convert=cf32_le --samples 1k").out
    assert "moved    1000 samples (3.91 KiB)" in out and "sink     1000 samples (7.81 KiB) to file:x.cf32" in out
    out = iio("record sim: rate=0 drop_at=500 drop=300 y.ci16 --on-gap zero-fill --samples 1k").out
    assert "sink     1000 samples (3.91 KiB) to file:y.ci16" in out


@pytest.mark.parametrize("name", ["a.ci16", "a.sigmf-meta", "a.wav", "a.bin rotate_bytes=64Ki", "a.sigmf-meta rotate_bytes=64Ki"])
def test_a_file_is_replaced_only_if_all_endpoints_are_ready(iio, tmp_path, name):
    iio(f"record sim: rate=48k {name} --samples 40000")
    (tmp_path / "b.ci16").write_bytes(b"other")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    error = iio(f"stream sim: rate=48k {name} overwrite=on b.ci16 --samples 10", status=5).err
    assert "b.ci16" in error and "File exists" in error
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    iio(f"stream sim: rate=48k {name} overwrite=on --samples 10")
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.keys() <= before.keys() and after != before
