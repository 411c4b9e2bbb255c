# SPDX-License-Identifier: MIT
"""A job that reads more samples than fit into the memory of its workers, with versitygw as the store."""
import os
import shutil
import signal
import subprocess
import time

import counts
import numpy as np
import pytest
from conftest import BUILD, DEADLINE
from gateway import HAS_GO, serving

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
distributed = pytest.importorskip("distributed", reason="needs distributed, which script/test installs")

pytestmark = [pytest.mark.skipif(not counts.FULL or not HAS_GO, reason="builds a store by Go: with --full"),
              pytest.mark.timeout(7200)]
BYTES = int(os.environ.get("IIO_STREAM_ARCHIVE_BYTES", 8 << 30))
SAMPLE = 4                  # bytes
DROP_AT, DROP = 150_000_000, 1000
ROW = 1 << 20               # samples
MOST = 1 << 30              # bytes of memory of a worker; less than the job reads


def peak_bytes():
    """Returns the peak memory use of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def half_done(dask_scheduler):
    states = [task.state for key, task in dask_scheduler.tasks.items() if "rows-" in str(key)]
    return states.count("memory") > len(states) / 2 > 0


def test_a_job_over_8_gib_survives_the_loss_of_a_worker(tmp_path, monkeypatch):
    local = tmp_path / "local"
    local.mkdir()
    with serving(tmp_path / "objects", monkeypatch) as objects:
        done = ios.record("sim:", local / "a.sigmf-meta", rate=0, pattern="noise", bytes=BYTES,
                          drop_at=DROP_AT, drop=DROP, file_options={"rotate_bytes": "256Mi", "hash": "end"})
        assert done.stats.bytes == BYTES
        words = ["archive", "push", local, "s3://roof/week", "--quiet"]
        subprocess.run([BUILD / "iio-stream", *words], check=True, timeout=1800)
        parts = sorted((objects / "week").glob("*.sigmf-data"))
        assert len(parts) == len(list(local.glob("*.sigmf-data"))) >= BYTES >> 28
        shutil.rmtree(local)
        [recording] = ios.archive.open("s3://roof/week")
        assert [(gap.index, gap.lost_min, gap.lost_max) for gap in recording.gaps] == [(DROP_AT, DROP, DROP)]
        job = ios.archive.power(recording, samples=ROW)
        alone = job.compute(scheduler="synchronous")
        two = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": MOST, "dashboard_address": None}
        with distributed.LocalCluster(**two) as cluster, ios.archive.Client(cluster) as client:
            future = client.compute(job)
            deadline = time.monotonic() + 1800
            while not client.run_on_scheduler(half_done):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            assert not future.done()
            together = future.result(timeout=1800)
            client.wait_for_workers(2, timeout=DEADLINE)
            peaks = client.run(peak_bytes)
        assert np.array_equal(together.view(np.uint64), alone.view(np.uint64))
        assert max(peaks.values()) < MOST
        check(together[:, 0], parts)


def check(power, parts):
    """Compares the power with that of NumPy for the files of the store, in float64."""
    samples = np.concatenate([np.memmap(part, "<i2", "r").reshape(-1, 2) for part in parts[:4]])
    first = DROP_AT // ROW  # the row with the gap; later rows have DROP fewer samples before them
    for row in [0, 1, first - 1, first, first + 1, len(samples) // ROW - 2]:
        begin, end = row * ROW, (row + 1) * ROW
        end -= DROP if row >= first else 0
        begin -= DROP if row > first else 0
        own = samples[begin:end].astype(np.float64) / 32768
        assert power[row] == pytest.approx((own ** 2).sum() / len(own), rel=1e-9), row
    assert len(power) == (BYTES // SAMPLE + DROP) // ROW
