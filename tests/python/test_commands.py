# SPDX-License-Identifier: MIT
"""Python functions that correspond to subcommands give the same results and raise the same errors."""
import dataclasses
import errno
import json
import os
import subprocess
import threading

import pytest
from conftest import BUILD, DEADLINE, REPOSITORY, ramp

import iio_stream as ios

SUMMARY = REPOSITORY / "docs" / "schema" / "summary.schema.json"


def test_a_recording_is_the_same_as_that_of_the_command(tmp_path):
    done = ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=100_000)
    assert (tmp_path / "a.sigmf-data").read_bytes() == ramp(0, 400_000)
    assert done.ended == "samples" and done.error is None and done.copies == 0
    assert done.stats.samples == done.sinks[0].delivered_samples == 100_000
    assert done.latency.max >= done.latency.p50 >= 0 and done.samples_per_second > 0
    assert [hop.to for hop in done.route][-1].startswith("file:")
    verdict = json.loads(subprocess.run(
        [BUILD / "iio-stream", "verify", "--pattern", "ramp", "--json", tmp_path / "a.sigmf-meta"],
        capture_output=True, check=True, timeout=DEADLINE).stdout)
    assert verdict["ok"] and verdict["samples"] == 100_000


def test_a_summary_conforms_to_the_schema_of_the_command():
    jsonschema = pytest.importorskip("jsonschema")
    words = ios.stream("sim:", ["null:", "verify:ramp"], rate=0, samples=1000).words
    jsonschema.validate(words, json.loads(SUMMARY.read_text()))


def test_verify_detects_wrong_data_and_sizes(tmp_path):
    file = tmp_path / "a.ci16"
    ios.record("sim:", file, rate=0, samples=100_000)
    good = ios.verify(file, pattern="ramp")
    assert good.ok and good.report["mismatches"] == 0 and good.samples == 100_000
    assert good.metadata is None and good.format.name == "ci16_le" and good.hash == "none"
    with open(file, "r+b") as data:
        data.seek(200_000)
        data.write(b"\xff" * 8)
    bad = ios.verify(file, pattern="ramp")
    assert not bad.ok and bad.report["mismatches"] > 0 and isinstance(bad.error, ios.Error)
    assert ios.verify(file).ok  # its size is correct
    os.truncate(file, 399_999)
    assert not ios.verify(file).ok
    with pytest.raises(FileNotFoundError):
        ios.verify(tmp_path / "b.ci16")
    for pattern in ("rampp", "tone", ""):
        with pytest.raises(ios.UsageError, match=f"pattern={pattern} cannot be verified"):
            ios.verify(file, pattern=pattern, add_hash=True)


def test_options_that_only_a_file_has_belong_to_the_file(tmp_path):
    for samples in (1000, 2000):
        done = ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=samples, overwrite=True,
                          description="twice", file_options={"engine": "buffered"})
        assert done.stats.samples == samples
    assert json.loads((tmp_path / "a.sigmf-meta").read_text())["global"]["core:description"] == "twice"
    with pytest.raises(ios.UsageError, match="frequncy"):
        ios.record("sim:", tmp_path / "b.ci16", frequncy=1e6, samples=1)


def test_a_hash_is_added_and_checked(tmp_path):
    file = tmp_path / "a.sigmf-meta"
    ios.record("sim:", file, rate=0, samples=1000)
    assert [ios.verify(file, add_hash=add).hash for add in (False, True, False)] == ["none", "added", "good"]


def test_each_part_of_a_recording_verifies_with_the_pattern(tmp_path):
    done = ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=100_000, block_size=4096,
                      file_options={"rotate_bytes": "100Ki"})
    files = done.reports[0]["files"]
    assert len(files) > 2
    verdicts = [ios.verify(name, pattern="ramp") for name in files]
    assert all(verdict.ok for verdict in verdicts)
    assert [v.first_index for v in verdicts] == \
        [sum(w.samples for w in verdicts[:n]) for n in range(len(files))]


def test_recover_leaves_a_complete_recording_unchanged(tmp_path):
    file = tmp_path / "a.sigmf-meta"
    ios.record("sim:", file, rate=0, samples=1000)
    done = ios.recover(file)
    assert not done.needed and done.samples == 1000 and done.bytes == 4000


def test_recover_completes_a_killed_recording(tmp_path):
    file = tmp_path / "a.sigmf-meta"
    recording = subprocess.Popen([BUILD / "iio-stream", "record", "sim:", "rate=10M", file, "--quiet"])
    while not (tmp_path / "a.sigmf-data").exists() or (tmp_path / "a.sigmf-data").stat().st_size == 0:
        assert recording.poll() is None
    recording.kill()
    recording.wait(DEADLINE)
    assert ios.verify(file).needs_recover
    assert ios.recover(file).needed
    assert ios.verify(file, pattern="ramp").ok


def test_play_streams_a_file_to_a_sink(tmp_path):
    ios.record("sim:", tmp_path / "a.ci16", rate=0, samples=10_000)
    done = ios.play(tmp_path / "a.ci16", "verify:ramp")
    assert done.ended == "eof" and done.reports[0]["mismatches"] == 0 and done.stats.samples == 10_000
    again = ios.play(tmp_path / "a.ci16", "null:", file_options={"loop": "on"}, samples=25_000)
    assert again.stats.samples == 25_000


def test_bench_runs_each_block_size_and_number_of_blocks():
    runs = ios.bench("sim:", block_sizes=["64Ki", "128Ki"], block_counts=[4, 8], rate=0, pattern="stamp",
                     bytes="8Mi")
    assert [(run.words["block_bytes"], run.words["block_count"]) for run in runs] == \
        [(65536, 4), (65536, 8), (131072, 4), (131072, 8)]
    assert all(run.stats.bytes == 8 << 20 for run in runs)


SMALL = {"size": "1Mi", "block_size": "256Ki"}


def test_bench_io_measures_each_memory_with_each_method(tmp_path):
    seen = []
    rows = ios.bench_io(tmp_path / "a.tmp", **SMALL, depth=2, progress=seen.append)
    assert rows == seen and len(rows) == 7 * 8 * 2 and list(tmp_path.iterdir()) == []
    words = json.loads(subprocess.run(
        [BUILD / "iio-stream", "bench-io", tmp_path / "a.tmp", "--size", "1Mi", "--block-size", "256Ki",
         "--json"], capture_output=True, check=True, timeout=DEADLINE).stdout)
    for row, cell in zip(rows, words["rows"]):
        assert [getattr(row, key) for key in ("memory", "page_bytes", "method", "direction")] == \
            [cell[key] for key in ("memory", "page_bytes", "method", "direction")]
        assert (row.error.errno if row.error else None) == (cell["error"] or {}).get("errno"), row
        assert row.checked == (row.error is None) == (row.bytes_per_second is not None)
        if row.error is None:
            assert row.bytes == 1 << 20 and row.bytes_per_second == row.bytes / row.io_seconds
            assert row.create_seconds >= 0 and row.close_seconds >= 0 and row.cpu_seconds >= 0


def test_bench_io_raises_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        ios.bench_io(tmp_path / "no" / "a.tmp", **SMALL)
    for words in ({"size": 1000}, {"block_size": "1M"}, {"depth": 4096}, {"size": 0}):
        with pytest.raises(ios.UsageError):
            ios.bench_io(tmp_path / "a.tmp", **{**SMALL, **words})
    (tmp_path / "a.tmp").write_bytes(b"kept")
    with pytest.raises(FileExistsError):
        ios.bench_io(tmp_path / "a.tmp", **SMALL)
    assert (tmp_path / "a.tmp").read_bytes() == b"kept"

    def enough(row):
        raise LookupError(row.method)

    with pytest.raises(LookupError, match="buffered"):
        ios.bench_io(tmp_path / "a.tmp", **SMALL, overwrite=True, progress=enough)
    assert list(tmp_path.iterdir()) == []


def test_control_c_ends_bench_io(python):
    out = python("""
import os, signal, threading, time
import iio_stream as ios
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
rows = []
try:
    ios.bench_io("a.tmp", size="256Mi", progress=rows.append)
except KeyboardInterrupt:
    print("ended", len(rows) < 7 * 8 * 2, os.listdir())
""")
    assert out == "ended True []\n"


def test_exceeded_thresholds_are_exceptions():
    done = ios.stream("sim:", "null:", rate=0, samples=50_000, drop_at=10_000, drop=100)
    assert ios.check(done, max_gaps=1, max_lost=100, min_rate=1) is done
    for limit, words in (({"max_gaps": 0}, "1 gaps, more than max-gaps 0"),
                         ({"min_rate": 1e15}, "fewer than min-rate"),
                         ({"max_lost": 99}, "100 samples may be lost")):
        with pytest.raises(ios.LostSamplesError, match=words) as caught:
            ios.check(done, **limit)
        assert caught.value.errno == errno.ENODATA
    with pytest.raises(ios.LostSamplesError, match="more than max-lost 99"):
        unknown = dataclasses.replace(done.gaps, lost_max=None)
        ios.check(dataclasses.replace(done, stats=dataclasses.replace(done.stats, gaps=unknown)), max_lost=99)


def test_the_error_that_ends_a_stream_is_raised(tmp_path):
    with pytest.raises(ios.DeviceError) as caught:
        ios.stream("sim:", "null:", rate=0, unplug_at=1000)
    assert caught.value.errno == errno.ENODEV
    with pytest.raises(ios.UsageError, match="did you mean"):
        ios.stream("sim:", "null:", patern="ramp")
    with pytest.raises(FileNotFoundError):
        ios.record("sim:", tmp_path / "no" / "a.ci16", samples=10)


def test_a_session_starts_several_together(tmp_path):
    with ios.Session() as session:
        first = session.add("sim:?rate=1M", tmp_path / "a.ci16", samples=20_000)
        second = session.add(ios.uri("sim:", pattern="ramp", rate="1M"), ["null:", "verify:ramp"],
                             samples=10_000)
        session.prepare()
        assert first.format.name == "ci16_le" and first.route[0].mechanism == "generated"
        session.start()
        assert session.wait(DEADLINE) and first.ended and second.ended
        session.stop()
        assert (first.stats.samples, second.stats.samples) == (20_000, 10_000)
        assert second.summary.reports[1]["mismatches"] == 0


def test_a_session_is_stopped_from_another_thread():
    with ios.Session() as session:
        session.add("sim:?rate=1M", "null:")
        session.prepare()
        session.start()
        assert session.wait(0.05) is False
        threading.Timer(0.1, session.request_stop).start()
        assert session.wait(DEADLINE)
        session.stop()
        assert session.pipelines[0].summary.ended == "signal"


def test_progress_is_reported(tmp_path):
    seen = []
    ios.record("sim:", tmp_path / "a.ci16", rate="1M", duration="700ms",
               progress=lambda session: seen.append(session.pipelines[0].stats.samples))
    assert len(seen) >= 2 and seen == sorted(seen) and seen[-1] > 0


def test_control_c_leaves_a_complete_recording(python, tmp_path):
    out = python("""
import os, signal, threading
import iio_stream as ios
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    ios.record("sim:", "a.sigmf-meta", pattern="ramp", rate="1M")
except KeyboardInterrupt:
    found = ios.verify("a.sigmf-meta", pattern="ramp")
    print(found.ok, found.samples > 0, found.needs_recover)
""")
    assert out == "True True False\n"


def test_doctor_and_devices_inspect_the_machine():
    checks = ios.doctor()
    assert checks and all(check.name and check.detail for check in checks)
    assert all(check.ok or check.fix is None or check.fix for check in checks)
    assert isinstance(ios.devices(), list)
    with pytest.raises(ios.Error):
        ios.device("iio:nowhere")
    with pytest.raises(ios.Error):
        ios.attr.get("nowhere/name")
