# SPDX-License-Identifier: MIT
"""The command bench, its option --sweep, and the metrics file."""
import re
import signal
import time

from conftest import DEADLINE


def test_a_bench_has_a_null_sink_and_a_duration_by_default(iio):
    summary = iio("bench sim: rate=0 --duration 200ms --json").json
    assert summary["command"] == "bench"
    assert summary["sinks"][0]["uri"] == "null:"
    assert summary["ended"] == "duration"
    assert summary["bytes_per_second"] > 0


def test_a_sweep_runs_each_block_size_with_each_number_of_blocks(iio):
    result = iio("bench sim: rate=0 null: --sweep block-size=64Ki..256Ki,blocks=4..8 --bytes 1Mi"
                 " --json").json
    assert (result["schema"], result["command"]) == (1, "bench")
    shapes = [(run["block_bytes"], run["block_count"]) for run in result["runs"]]
    assert shapes == [(size << 10, count) for size in (64, 128, 256) for count in (4, 8)]
    assert all(run["bytes"] == 1 << 20 and run["error"] is None for run in result["runs"])


def test_a_sweep_without_json_prints_a_table(iio):
    lines = iio("bench sim: rate=0 --sweep blocks=4..16 --bytes 1Mi").out.splitlines()
    assert len(lines) == 4
    assert lines[0].split()[:2] == ["block", "blocks"]
    assert [line.split()[2] for line in lines[1:]] == ["4", "8", "16"]


def test_an_exceeded_threshold_fails_a_sweep_but_does_not_end_it(iio):
    result = iio("bench sim: rate=0 drop_at=1000 --sweep blocks=4..8 --samples 100k --max-gaps 0"
                 " --json", status=4)
    assert len(result.json["runs"]) == 2


METRIC = re.compile(r'^iio_stream_(\w+)_total\{pipeline="(\d+)"\} (\d+)$', re.MULTILINE)


def metrics(text):
    """Parses the part of OpenMetrics that iio-stream uses, as strictly as a collector does."""
    assert text.endswith("# EOF\n")
    families = re.findall(r"^# TYPE (\w+) counter$", text, re.MULTILINE)
    assert len(families) == len(set(families)) > 0
    rest = re.sub(r"^# (TYPE \w+ counter|HELP \w+ .*|EOF)\n", "", text, flags=re.MULTILINE)
    assert METRIC.sub("", rest).strip() == ""
    return {(name, int(pipeline)): int(value) for name, pipeline, value in METRIC.findall(text)}


def test_metrics_hold_the_final_counts_of_every_pipeline(iio, tmp_path):
    iio("stream sim: rate=0 drop_at=5000 drop=100 null: --and sim: rate=0 null: --samples 20k"
        " --metrics-file m.prom")
    counts = metrics((tmp_path / "m.prom").read_text())
    assert counts["samples", 0] == counts["samples", 1] == 20_000
    assert counts["bytes", 1] == 80_000
    assert (counts["gaps_certain", 0], counts["lost_samples_min", 0]) == (1, 100)
    assert (counts["gaps_certain", 1], counts["gaps_possible", 1]) == (0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["m.prom"]


def test_metrics_grow_during_a_stream_and_are_replaced_atomically(start, tmp_path):
    process = start("stream sim: rate=1M null: --metrics-file m.prom --quiet")
    file = tmp_path / "m.prom"
    seen = set()
    deadline = time.monotonic() + DEADLINE
    while len(seen) < 3 and time.monotonic() < deadline:
        if file.exists():
            seen.add(metrics(file.read_text())["samples", 0])
        time.sleep(0.002)
    assert len(seen) >= 3, seen
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE) == 0


def test_an_unwritable_metrics_file_is_reported_before_the_stream_starts(iio, tmp_path):
    result = iio("record sim: a.ci16 --bytes 1Ki --metrics-file no/such/m.prom --json", status=5)
    assert "no/such/m.prom" in result.err
    assert result.json["samples"] == 0
    assert not (tmp_path / "a.ci16").exists() or (tmp_path / "a.ci16").stat().st_size == 0


def test_a_metrics_file_that_fails_during_a_stream_ends_it_cleanly(start, tmp_path):
    folder = tmp_path / "metrics"
    folder.mkdir()
    process = start("record sim: rate=1M a.ci16 --metrics-file metrics/m.prom --progress")
    assert process.stderr.read(1)
    (folder / "m.prom").unlink()
    folder.rmdir()
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 5, err
    assert b"metrics/m.prom" in err
    assert b"moved" in out  # the summary of the recorded samples
    assert (tmp_path / "a.ci16").stat().st_size > 0
