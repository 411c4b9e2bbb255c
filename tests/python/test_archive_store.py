# SPDX-License-Identifier: MIT
"""Archives in object storage, processed by several processes. moto's S3 server records the requested ranges,
and Dask's own cluster runs the jobs."""
import importlib
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from archives import COUNT, iq, seven_parts, truth
from conftest import BUILD, DEADLINE, REPOSITORY

import iio_stream as ios

pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
s3fs = pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
distributed = pytest.importorskip("distributed", reason="needs distributed, which script/test installs")
from s3_server import serving  # noqa: E402


@pytest.fixture(scope="module")
def server():
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def bucket(server, tmp_path_factory):
    """Stores a recording with one loss. Returns its URL and its samples."""
    folder = tmp_path_factory.mktemp("archive")
    parts = seven_parts(folder)
    store = s3fs.S3FileSystem()
    store.mkdir("recordings")
    store.put([str(path) for path in sorted(folder.iterdir())], "recordings/roof/")
    data = b"".join(part.with_suffix(".sigmf-data").read_bytes() for part in parts)
    return "s3://recordings/roof", np.frombuffer(data, "<i2").reshape(-1, 2)


def test_a_bucket_is_read_by_ranges(server, bucket):
    url, samples = bucket
    server.asked.clear()
    [recording] = ios.archive.open(url)
    assert len(recording.parts) == 7 and recording.gaps[0].lost_min == 300
    assert not [path for _, path, _, _ in server.asked if path.endswith("data")]  # only metadata were read
    server.asked.clear()
    x = recording.to_dask(None, chunks=4096)
    assert np.array_equal(x[16_000:17_000].compute(), truth(16_000, 1000))  # across two parts
    asked = [(path, range) for _, path, range, _ in server.asked]
    assert sorted(asked) == [("/recordings/roof/a.0000.sigmf-data", "bytes=49152-65535"),
                             ("/recordings/roof/a.0001.sigmf-data", "bytes=0-16383")]
    assert sum(size for _, _, _, size in server.asked) == 2 * 4096 * 4
    server.asked.clear()
    assert np.array_equal(x.compute().compressed().reshape(-1, 2), samples)
    assert sum(size for _, _, _, size in server.asked) == COUNT * 4  # each byte once
    assert all(range for _, _, range, _ in server.asked)


def test_errors_of_a_store_name_the_object(server, bucket):
    url, _ = bucket
    store = s3fs.S3FileSystem()
    store.copy("recordings/roof/a.0001.sigmf-meta", "recordings/other/a.0001.sigmf-meta")
    with pytest.raises(FileNotFoundError, match=re.escape("s3://recordings/other/a.0001.sigmf-data")):
        ios.archive.open("s3://recordings/other")
    for nowhere in ("s3://recordings/nowhere", "s3://nowhere/x"):
        with pytest.raises(FileNotFoundError, match=nowhere):
            ios.archive.open(nowhere)
    store.copy("recordings/roof/a.0001.sigmf-data", "recordings/other/a.0001.sigmf-data")
    [recording] = ios.archive.open("s3://recordings/other")
    store.rm("recordings/other/a.0001.sigmf-data")
    with pytest.raises(ios.StorageError, match=re.escape("s3://recordings/other/a.0001.sigmf-data")):
        recording.to_dask().compute()


def test_the_tutorial_runs_with_the_printed_results(server, tmp_path, monkeypatch, capsys):
    """The snippets run one after the other, and the command draws a picture."""
    monkeypatch.chdir(tmp_path)
    text = (REPOSITORY / "docs" / "archive.md").read_text()
    names = {"__name__": "__main__"}
    s3fs.S3FileSystem().mkdir("archive")
    for number, (kind, snippet) in enumerate(re.findall(r"```(python|sh)\n(.*?)```", text, re.DOTALL)):
        if kind == "python":
            exec(compile(snippet, f"docs/archive.md, snippet {number}", "exec"), names)
        elif snippet.startswith(("iio-stream archive", "iio-stream record sim:")):
            subprocess.run([BUILD / "iio-stream", *snippet.split()[1:]], check=True, capture_output=True,
                           timeout=DEADLINE)
    out = capsys.readouterr().out
    for line in ("1 recordings in 4 parts, 0 unfinished, 0 damaged",
                 "300 samples are missing from index 500000 on",
                 "1000000.0 1799700 samples of 2000000 in 4 parts", "-6.00 dBFS after 2 gaps",
                 "125000 Hz", "-6.00 dBFS, index 0 to 1212416\n"):
        assert line in out, out
    [command] = re.findall(r"^python3 -m iio_stream\.archive (.*)$", text, re.MULTILINE)
    assert importlib.import_module("iio_stream.archive.__main__").main(command.split()) == 0
    assert (tmp_path / "roof.png").stat().st_size > 10_000


def slowly(samples, index):
    """Takes so long that a worker can be killed in the meantime."""
    time.sleep(0.02)
    return samples * np.float32(2)


def test_a_cluster_that_loses_a_worker_gives_the_same_result(bucket):
    url, samples = bucket
    [recording] = ios.archive.open(url)
    wanted = iq(samples) * np.float32(2)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            ios.archive.Client(cluster) as client:
        for chunks in (1000, 7777, COUNT):
            future = client.compute(recording.map_blocks(slowly, chunks=chunks))
            if chunks == 1000:  # a hundred tasks
                kill_one_half_way(cluster, client)
                assert not future.done()
            got = future.result(timeout=DEADLINE)
            assert np.array_equal(got.compressed().view(np.uint64), wanted[:, 0].view(np.uint64))
            client.wait_for_workers(2, timeout=DEADLINE)


def kill_one_half_way(cluster, client):
    deadline = time.monotonic() + DEADLINE
    while not client.run_on_scheduler(is_half_done):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)


def is_half_done(dask_scheduler):
    """Returns whether the function has been applied to at least a third of the chunks."""
    states = [task.state for key, task in dask_scheduler.tasks.items() if "apply" in str(key)]
    return states.count("memory") > len(states) / 3 > 10
