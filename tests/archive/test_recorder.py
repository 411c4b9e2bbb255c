# SPDX-License-Identifier: MIT
"""Tests a board of the lab that records into a store on this machine, with a disk that is too small for the
whole recording.

moto provides the store, which the board reaches through a network card. The networks, stores and recorders of
these tests fail midway. At the end, s3fs, our Python package and PyPI's sigmf read the store, and the tests
compare the data with the ADC's ramp.
"""
import hashlib
import itertools
import json
import re
import subprocess
import time

import counts
import numpy as np
import pytest

s3fs = pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
import sigmf  # noqa: E402
from networked_board import ROOT, boot  # noqa: E402

import iio_stream as ios  # noqa: E402

pytestmark = pytest.mark.timeout(3600 if counts.FULL else 600)

SAMPLE = 8  # bytes: four channels
PART, KEPT, SOME, WHOLE, DISK, RATE = counts.ARCHIVED
FAULTS = [None, "500 InternalError", None, "503 SlowDown", None, "stall", "change", *[None] * 25]  # in turn
# The simulator's own count goes to stderr, so that it can be compared with the stored data.
COUNT = "echo made $(cat /sys/kernel/debug/iios-sim/iios-sim-adc/bytes) >&2"
LEFT = "for data in /mnt/disk/*.sigmf-data; do echo left $(wc -c <$data) >&2; done"
REST = """
for part in /mnt/disk/*.sigmf-meta; do iio-stream recover $part >&2 || [ $? = 4 ] || exit; done
iio-stream archive push /mnt/disk {place} --keep none >&2 || exit
! ls /mnt/disk | grep 'sigmf-meta$' || exit
# The data file of the next part is created before the part has samples or metadata.
! find /mnt/disk -name '*.sigmf-data' -size +0 | grep .
"""
UNSYNCED = 3 << 20  # bytes: sync=1Mi, the data that wait for it, and the blocks that are being filled


def record(name, place, size):
    return (f"iio-stream record iio:iios-sim-adc /mnt/disk/{name}.sigmf-meta rotate_bytes={PART} hash=end "
            f"sync=1Mi archive={place} archive_wait=5min keep=last:{KEPT} --blocks 64 "
            f"--bytes {size} --json\n")


def boot_to_record(store, script, disk, *options):
    return boot(store, script, "--sim", f"rate={RATE}", "--disk", f"{disk}:{DISK}", *options)


def is_ramp(words, first):
    return np.array_equal(words, np.arange(first, first + len(words), dtype="<u8"))


def check_part(captures, words):
    """Checks the index of each sample. The ramp equals the ADC's index, which the metadata give for each
    sample even if the ADC of a busy machine lost samples. At the end of a recovered part the index is a lower
    bound, because losses were not known yet."""
    for one, following in itertools.zip_longest(captures, captures[1:]):
        part = words[one["core:sample_start"]:following and following["core:sample_start"]]
        index = np.arange(len(part), dtype="<u8") + np.uint64(one.get("core:global_index", 0))
        if one.get("iio_stream:index_exact", True):
            assert np.array_equal(part, index), one
        else:
            assert np.all(part >= index) and np.all(np.diff(part.astype("i8")) > 0), one


def stored(place, tmp_path):
    """Returns {recording in the store: its end}. Checks that every sample is in its place
    exactly once: from the bytes, with our command, with our Python package, and with sigmf."""
    files = s3fs.S3FileSystem(skip_instance_cache=True)
    names = sorted(files.ls(place.removeprefix("s3://"), refresh=True))
    metadata = [name for name in names if name.endswith("-meta")]
    assert len(names) == 2 * len(metadata), names
    found = {}
    for name in metadata:
        base = name.rsplit("/", 1)[1].split(".")[0]
        first = found.get(base, 0)
        meta, data = json.loads(files.cat_file(name)), files.cat_file(name[:-4] + "data")
        words = np.frombuffer(data, "<u8")
        told = meta["global"].get("core:sha512")  # a recovered part has none
        assert told in (None, hashlib.sha512(data).hexdigest()), name
        check_part(meta["captures"], words)
        if len(words):
            assert words[0] == first, name
            found[base] = int(words[-1]) + 1
    subprocess.run([ROOT / "build/iio-stream", "archive", "verify", place], check=True)
    assert {one.name: one.start + one.samples for one in ios.archive.open(place).recordings} == found
    for kind in ("meta", "data"):
        files.get_file(metadata[0][:-4] + kind, str(tmp_path / f"one.sigmf-{kind}"))
    read = sigmf.sigmffile.fromfile(str(tmp_path / "one.sigmf-meta"), autoscale=False)
    read.validate()
    words = np.ascontiguousarray(read[:]).view("f4").astype("<i2").view("<u8").ravel()
    assert words.size and np.array_equal(words, np.arange(words.size, dtype="<u8"))
    return found


def summary_of(done):
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["gaps"]["certain"] == said["gaps"]["possible"] == 0
    assert said["sinks"][0]["dropped_samples"] == 0
    archive = said["sinks"][0]["report"]["archive"]
    assert archive["stored"] == archive["parts"] and archive["behind"]["parts"] == 0, archive
    return said, archive


def numbers(what, done):
    return [int(number) for number in re.findall(rf"^{what} (\d+)$", done.stderr, re.M)]


def size(text):
    return int(text[:-2]) << {"Ki": 10, "Mi": 20, "Gi": 30}[text[-2:]]


def test_a_recording_larger_than_the_disk_survives_20_seconds_without_a_network(store, tmp_path):
    """TCP alone might wait up to 20 s after the network returns before it repeats a pending request. The disk
    would be full by then. Therefore the connection ends while the network is down, and the request is sent
    again."""
    requested = []
    store.faults.append(lambda environ, body: requested.append(time.monotonic()))
    # The network is cut when the first part is stored.
    cut = ("""(until grep -qs '"stored"' /tmp/events; do sleep 0.1; done; """
           'ip link set "$card" down; sleep 20; ip link set "$card" up) &\n')
    recorder = record("a", "s3://board/cut", WHOLE).rstrip() + " --events /tmp/events\n"
    done = boot_to_record(store, cut + recorder + LEFT, tmp_path / "disk")
    store.faults.clear()
    said, archive = summary_of(done)
    assert archive["retries"] >= 1
    assert max(after - before for before, after in itertools.pairwise(requested)) > 15
    assert stored("s3://board/cut", tmp_path) == {"a": said["samples"]} == {"a": size(WHOLE) // SAMPLE}
    assert sum(numbers("left", done)) == size(KEPT) < size(DISK) < size(WHOLE)


def test_no_samples_are_lost_if_the_store_fails_stalls_or_corrupts_data(store, tmp_path):
    """Uploads of samples get a status 500, a status 503, a stall of three seconds, and a changed byte."""
    uploads, harmed = itertools.count(), []

    def fault(environ, body):
        store.damage = lambda environ, body: body
        # Only uploads of a part, or of a piece of one, get a fault.
        if environ["REQUEST_METHOD"] != "PUT" or len(body) < 1 << 20:
            return None
        what = FAULTS[next(uploads) % len(FAULTS)]
        harmed.append(what)
        if what == "stall":
            time.sleep(3)
        if what == "change":
            store.damage = lambda environ, body: bytes([body[0] ^ 1]) + body[1:]
        if what and what[0] == "5":
            return what, {}, [f"<Error><Code>{what[4:]}</Code></Error>".encode()]
        return None

    store.faults.append(fault)
    try:
        done = boot_to_record(store, record("a", "s3://board/faults", SOME), tmp_path / "disk")
    finally:
        store.faults.clear()
        store.damage = lambda environ, body: body
    said, archive = summary_of(done)
    assert set(harmed) == set(FAULTS) and archive["retries"] > 0
    assert stored("s3://board/faults", tmp_path) == {"a": said["samples"]} == {"a": size(SOME) // SAMPLE}


def test_a_killed_and_restarted_recorder_loses_nothing_that_is_on_the_disk(store, tmp_path):
    place = "s3://board/killed"
    kill = f" & recorder=$!; sleep 10; {COUNT}; kill -9 $recorder; wait $recorder\n"
    script = record("a", place, WHOLE).rstrip() + kill + record("b", place, SOME) + REST.format(place=place)
    done = boot_to_record(store, script, tmp_path / "disk")
    assert done.returncode == 0
    found = stored(place, tmp_path)
    [made] = numbers("made", done)
    assert found["b"] == size(SOME) // SAMPLE and found["a"] * SAMPLE >= made - UNSYNCED > 0


def test_a_power_cut_loses_nothing_that_is_on_the_disk(store, tmp_path):
    made = [0]
    # Tries again with more time if the recording had not begun, because a busy machine boots slowly.
    for more in range(0, 60, 10):
        place = f"s3://board/power{more}"  # separate from what an earlier try left behind
        script = f"rm -f /mnt/disk/*.sigmf*; sync; (while sleep 0.3; do {COUNT}; done) &\n"
        script += record(f"a{more}", place, WHOLE)
        done = boot_to_record(store, script, tmp_path / "disk", "--kill-after", str(12 + more))
        assert done.returncode == 97
        made = numbers("made", done)
        if made[-1] > 2 * size(KEPT):
            break
    done = boot_to_record(store, REST.format(place=place), tmp_path / "disk")
    assert done.returncode == 0
    assert stored(place, tmp_path)[f"a{more}"] * SAMPLE >= made[-1] - UNSYNCED > 0
