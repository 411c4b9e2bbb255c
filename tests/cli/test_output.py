# SPDX-License-Identifier: MIT
"""The command separates stdout and stderr."""
import json
import os
import pty
import re
import select
import subprocess
import time

import pytest
from conftest import COMMAND, DEADLINE, ramp


def test_only_samples_go_to_stdout_if_stdout_is_the_sink(iio):
    result = iio("stream sim: pattern=ramp - --bytes 1Mi --json")
    assert result.stdout == ramp(262144)
    assert json.loads(result.err)["sinks"][0]["bytes"] == 1 << 20


def test_only_samples_go_to_stdout_if_the_sink_has_an_option(iio):
    result = iio("stream sim: rate=0 - overwrite=on --bytes 64Ki")
    assert result.stdout == ramp(16384)
    assert "ended by bytes" in result.err


def test_a_pipe_receives_exactly_the_samples(tmp_path):
    line = f"{COMMAND} stream sim: - --bytes 1Mi --json | wc -c"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=DEADLINE,
                          cwd=tmp_path, check=True)
    assert done.stdout.strip() == "1048576"


def test_only_the_summary_goes_to_stdout(iio):
    result = iio("stream sim: rate=0 null: --samples 1000")
    assert result.out.startswith("stream: sim:") and "ended by samples" in result.out
    assert result.err == ""


def test_json_is_one_object(iio):
    summary = iio("stream sim: rate=0 null: --samples 1000 --json").json
    assert (summary["schema"], summary["command"], summary["samples"]) == (1, "stream", 1000)


def test_json_of_a_stream_that_cannot_start_is_one_object(iio, tmp_path):
    (tmp_path / "a.ci16").touch()
    result = iio("record sim: a.ci16 --json --bytes 1Ki", status=5)
    assert result.json["error"]["name"] == "EEXIST"
    assert result.json["ended"] == "error"
    assert "a.ci16" in result.err


def test_json_into_a_file_leaves_stdout_empty(iio, tmp_path):
    for command in ("stream sim: rate=0 null: --samples 1000 --json=s.json", "doctor --json=d.json",
                    "info --json=i.json", "bench sim: rate=0 --samples 1000 --json=b.json"):
        result = iio(command)
        assert result.out == "", command
        written = json.loads((tmp_path / command.split("--json=")[1]).read_text())
        assert written["command"] == command.split()[0]


def test_json_of_verify_into_a_file(iio, tmp_path):
    iio("record sim: rate=0 a.ci16 --samples 1000")
    assert iio("verify a.ci16 --json=v.json").out == ""
    assert json.loads((tmp_path / "v.json").read_text())["ok"] is True


def test_a_report_that_cannot_be_written_is_a_storage_error(iio, tmp_path):
    for report in ("--json=no/such/folder", "--metrics-file no/such/folder"):
        result = iio(f"record sim: rate=0 a.ci16 --samples 9 {report}", status=5)
        assert "write no/such/folder: No such file or directory" in result.err
        assert not (tmp_path / "a.ci16").exists(), "the stream started before the error was reported"


def test_quiet_prints_errors_only(iio):
    result = iio("stream sim: rate=0 null: --samples 1000 --quiet")
    assert result.out == result.err == ""
    assert "there is no" in iio("stream simm: null: --quiet", status=2).err


def test_verbose_prints_the_route_first(iio):
    result = iio("stream sim: rate=0 null: --samples 1000 --verbose --json")
    assert "sim:?rate=0 → block  generated" in result.err
    assert result.json["samples"] == 1000


def moved(text):
    """Returns the samples, the seconds and the remark of the summary's line "moved"."""
    line = next(line for line in text.splitlines() if line.startswith("  moved "))
    found = re.search(r"moved    (\d+) samples \(.*?\) in ([\d.]+) s, ([\d.]+) kS/s(?: \((.*?)\))?, ", line)
    assert found, line
    return int(found[1]), float(found[2]), float(found[3]), found[4]


def test_the_summary_shows_the_rate_at_which_samples_arrived(iio):
    samples, seconds, rate, remark = moved(iio("stream sim: rate=48k null: --duration 1500ms").out)
    assert samples == 72_000 and remark is None
    assert rate == pytest.approx(samples / seconds / 1000, rel=0.01)


def test_a_rate_far_below_the_nominal_one_is_remarked_after_a_second(iio):
    lossy = "stream sim: rate=48k drop_at=10k drop=20k null: --duration"
    samples, seconds, _, remark = moved(iio(lossy, "1500ms").out)
    assert samples == 52_000 and re.fullmatch(r"only \d+ % of 48.00 kS/s", remark)
    assert int(remark.split()[1]) == pytest.approx(100 * samples / seconds / 48_000, abs=1)
    assert moved(iio(lossy, "800ms").out)[3] is None


def test_a_file_has_no_nominal_pace(iio):
    """The sink takes 4,000 samples per second from a recording of 48,000."""
    iio("record sim: rate=48k a.sigmf-meta --samples 9600")
    samples, _, _, remark = moved(iio("stream a.sigmf-meta null: rate=4k --block-size 4Ki").out)
    assert samples == 9600 and remark is None


def test_a_closed_pipe_is_a_write_error(start):
    process = start("stream sim: rate=0 - --bytes 1Gi")
    process.stdout.read(4096)
    process.stdout.close()
    assert process.wait(DEADLINE) == 5
    assert b"Broken pipe" in process.stderr.read()
    process.stdout = None


def test_stdout_on_a_full_disk_is_a_write_error(iio):
    with open("/dev/full", "wb") as full:
        for command in ("stream sim: rate=0 - --bytes 1Mi", "doctor", "--help", "--version",
                        "stream --help", "info --json",
                        "stream sim: rate=0 null: --samples 10 --json"):
            result = iio(command, stdout=full, status=5)
            assert "No space left on device" in result.err, command


def test_a_summary_to_a_closed_stdout_is_an_error(start):
    process = start("stream sim: pattern=ramp rate=1M null: --duration 200ms")
    process.stdout.close()
    assert process.wait(DEADLINE) == 5
    assert b"stdout: Broken pipe" in process.stderr.read()
    process.stdout = None


def _on_terminal(arguments, folder):
    """Runs the command with a terminal as stderr. Returns its output there and its exit status."""
    leader, follower = pty.openpty()
    with subprocess.Popen([str(COMMAND), *arguments.split()], stdout=subprocess.PIPE,
                          stderr=follower, stdin=subprocess.DEVNULL, cwd=folder) as process:
        os.close(follower)
        written = b""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if not select.select([leader], [], [], 0.1)[0]:
                continue
            try:
                written += os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
        process.communicate(timeout=DEADLINE)
    os.close(leader)
    return written.decode(), process.returncode


def test_progress_is_shown_on_a_terminal_only(iio, tmp_path):
    command = "stream sim: pattern=ramp rate=1M null: --duration 1s"
    shown, status = _on_terminal(command, tmp_path)
    assert status == 0
    assert "gaps 0 certain" in shown and "\r" in shown
    assert shown.endswith("\r\x1b[K")  # the line is erased at the end
    assert iio(command).err == ""


def test_progress_can_be_turned_on_and_off(iio, tmp_path):
    command = "stream sim: pattern=ramp rate=1M null: --duration 1s"
    assert "gaps 0 certain" in iio(command + " --progress").err
    for option in ("--no-progress", "--quiet"):
        assert _on_terminal(f"{command} {option}", tmp_path)[0] == ""
