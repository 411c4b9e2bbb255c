# SPDX-License-Identifier: MIT
"""The command bench, its options --sweep and --find-rate, and the metrics file."""
import json
import os
import pathlib
import re
import signal
import threading
import time

from conftest import DEADLINE


def test_a_bench_has_a_null_sink_and_a_duration_by_default(iio):
    summary = iio("bench sim: rate=0 --duration 200ms --json").json
    assert summary["command"] == "bench"
    assert summary["sinks"][0]["uri"] == "null:"
    assert summary["ended"] == "duration"
    assert summary["bytes_per_second"] > 0


def test_a_bench_shows_the_cpu_time_of_each_thread(iio):
    text = iio("bench sim: rate=0 pattern=ramp verify:ramp --duration 200ms").out
    line, = (line for line in text.splitlines() if line.startswith("  threads "))
    assert re.fullmatch(r"  threads  (iios-\S+ \d+\.\d{3} s, )+others \d+\.\d{3} s", line)
    cpu = iio("bench sim: rate=0 pattern=tone null: --duration 200ms --json").json["cpu"]
    assert cpu["threads"]["iios-source"] > 0
    # The process's time has a resolution of its own, so the sum can exceed it by little.
    assert sum(cpu["threads"].values()) <= cpu["user_seconds"] + cpu["system_seconds"] + 0.02


def test_threads_have_names_that_tools_show(start, tmp_path):
    process = start("record sim: rate=1M a rotate_time=10s --duration 1h --progress")
    process.stderr.read(1)  # the progress line appears while samples flow
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    deadline = time.monotonic() + DEADLINE
    while True:  # a thread has the name of the thread that started it until it begins to run
        names = [(task / "comm").read_text().strip() for task in tasks.iterdir()]
        if {"iio-stream", "iios-source", "iios-journal"} <= set(names) and len(set(names)) == len(names):
            break
        assert time.monotonic() < deadline, names
        time.sleep(0.01)


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


def test_the_highest_rate_of_the_range_is_found_if_nothing_is_lost(iio):
    answer = iio("bench sim: --find-rate=100k..400k --duration 1s --blocks 512 --json").json
    best = answer["find_rate"]["best"]
    assert best["rate"] == 400_000 and best["lost_max"] == 0 and best["samples"] >= 400_000
    assert answer["find_rate"]["above"] is None
    # The last run confirms the best rate for the whole duration.
    rates = [run["sample_rate"] for run in answer["runs"]]
    assert rates == [100_000, 200_000, 400_000, 400_000]
    assert answer["runs"][-1]["samples"] == 400_000 and answer["runs"][0]["samples"] == 10_000


def test_the_answer_of_a_search_is_one_line(iio):
    result = iio("bench sim: --find-rate=100k..100k --duration 1s --blocks 512")
    assert result.out == "100.00 kS/s: 0 of 100000 samples lost in 1 s\n"


def test_a_search_without_a_rate_begins_at_the_present_rate(iio):
    runs = iio("bench sim: drop_at=1 drop=90 --find-rate --duration 1s --json", status=4).json["runs"]
    assert runs[0]["sample_rate"] == 1_000_000 and runs[1]["sample_rate"] == 500_000


def test_the_answer_of_a_search_is_not_among_the_samples(start):
    process = start("bench sim: pattern=ramp - --find-rate=1k..1k --duration 1s --blocks 512")
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and len(out) == 4 * (100 + 1000)
    assert err.splitlines()[-1] == b"1.00 kS/s: 0 of 1000 samples lost in 1 s"


def test_a_search_ends_with_status_4_if_samples_are_lost_at_every_rate(iio):
    result = iio("bench sim: drop_at=10 drop=90 --find-rate=50k..100k --duration 1s", status=4)
    assert result.out == "50.00 kS/s: 1.8 % lost\n"
    assert iio("bench sim: drop_at=10 drop=90 --find-rate=50k..100k --duration 1s --json",
               status=4).json["find_rate"]["best"] is None


def test_an_error_that_is_not_about_the_rate_ends_a_search(iio):
    """The first run creates the file, and the second may not replace it."""
    result = iio("bench sim: a.ci16 --find-rate=100k..200k --duration 1s", status=5)
    assert result.out == "" and "overwrite=on" in result.err


def test_the_rate_that_a_slow_reader_takes_is_found(start, tmp_path):
    """The reader takes 200,000 bytes per second, so 50,000 samples."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    over = threading.Event()

    def read():
        while not over.is_set():
            with open(fifo, "rb", buffering=0) as pipe:
                while pipe.read(20_000):
                    over.wait(0.1)

    reader = threading.Thread(target=read)
    reader.start()
    process = start(f"bench sim: pattern=ramp {fifo} --find-rate=20k..10M --duration 2s --json "
                    "--block-size 4Ki --blocks 8")
    out, err = process.communicate(timeout=DEADLINE)
    over.set()
    while reader.is_alive():  # it can wait for a writer
        os.close(os.open(fifo, os.O_RDWR))
        reader.join(0.1)
    assert process.returncode in (0, 4), err
    answer = json.loads(out)["find_rate"]
    assert answer["above"]["lost_max"] > 0
    assert answer["best"] is None or answer["best"]["rate"] < 75_000


def test_a_signal_ends_a_search_without_an_answer(start):
    process = start("bench sim: --find-rate --duration 1h --progress")
    process.stderr.read(1)  # the progress line appears while samples flow
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1 and out == b"" and b"interrupted" in err


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
