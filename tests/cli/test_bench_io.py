# SPDX-License-Identifier: MIT
"""bench-io measures each kind of memory with each method of file I/O."""
import copy
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from conftest import DEADLINE, REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
jsonschema = pytest.importorskip("jsonschema")
import schemas  # noqa: E402

SMALL = "--size 1Mi --block-size 256Ki"
METHODS = ["buffered", "direct", "sendfile", "splice", "copy_file_range", "libaio", "io_uring",
           "io_uring-registered"]
MEMORIES = {"memfd", "udmabuf+memfd", "udmabuf", "heap:system"}


def cells(document):
    return {(row["memory"], row["page_bytes"], row["method"], row["direction"]): row
            for row in document["rows"]}


def file_system(path):
    done = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True,
                          check=True)
    return done.stdout.strip()


def io_uring_is_forbidden():
    try:
        with open("/proc/sys/kernel/io_uring_disabled", encoding="ascii") as knob:
            return knob.read().strip() != "0"
    except FileNotFoundError:
        return False


def test_each_combination_is_measured_or_has_an_errno(iio, tmp_path):
    document = iio("bench-io a.tmp --json", SMALL).json
    schemas.check("bench-io", document)
    assert document["complete"] and document["bytes"] == 1 << 20
    assert (document["block_bytes"], document["depth"]) == (256 << 10, 4)
    assert document["kernel"] == os.uname().release
    found = cells(document)
    assert len(found) == len(document["rows"]) == 7 * len(METHODS) * 2
    assert {key[0] for key in found} == MEMORIES
    assert list(tmp_path.iterdir()) == []
    first = document["rows"][0]
    assert (first["memory"], first["page_bytes"], first["method"]) == ("memfd", 4096, "buffered")
    for row in document["rows"]:
        if row["error"] is None:
            assert row["bytes_per_second"] == pytest.approx((1 << 20) / row["io_seconds"])
            assert row["percent"] == pytest.approx(
                100 * row["bytes_per_second"] / first["bytes_per_second"])
        else:
            name = row["error"]["name"]
            assert getattr(errno, name) == row["error"]["errno"]
            assert row["error"]["operation"] != "compare", row


@pytest.mark.parametrize("direction", ["write", "read"])
def test_the_basic_methods_work_with_a_memfd_on_ext4(iio, tmp_path, direction):
    found = cells(iio("bench-io a.tmp --json", SMALL).json)
    must = ["buffered", "sendfile", "splice"]
    if file_system(tmp_path) == "ext2/ext3":
        must += ["direct", "libaio"]
        if not io_uring_is_forbidden():
            must += ["io_uring", "io_uring-registered"]
    for method in must:
        row = found["memfd", 4096, method, direction]
        assert row["error"] is None and row["checked"], row


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no tmpfs at /dev/shm")
def test_a_file_system_that_ignores_o_direct_is_reported_as_unsupported(iio, tmp_path):
    path = f"/dev/shm/{tmp_path.name}-{os.getpid()}"
    if file_system("/dev/shm") != "tmpfs":
        pytest.skip("/dev/shm is not a tmpfs")
    found = cells(iio("bench-io", path, "--json", SMALL).json)
    for method in ("direct", "libaio", "io_uring", "io_uring-registered"):
        error = found["memfd", 4096, method, "write"]["error"]
        assert (error["operation"], error["name"]) == ("O_DIRECT", "EOPNOTSUPP")
    assert found["memfd", 4096, "buffered", "read"]["checked"]
    assert not os.path.exists(path)


@pytest.mark.parametrize("device, memory", [("/dev/udmabuf", "udmabuf"),
                                            ("/dev/dma_heap/system", "heap:system")])
def test_a_missing_memory_device_is_named_in_the_error(iio, device, memory):
    if os.path.exists(device):
        pytest.skip(f"{device} exists")
    found = cells(iio("bench-io a.tmp --json", SMALL).json)
    for method in METHODS:
        row = found[memory, 4096, method, "read"]
        assert row["error"]["name"] == "ENOENT" and row["create_seconds"] is None
        assert row["error"]["message"].startswith(f"open {device}")


def test_a_size_that_is_not_a_multiple_of_the_block_size_has_a_short_last_block(iio):
    found = cells(iio("bench-io a.tmp --size 1028Ki --block-size 256Ki --depth 9 --json").json)
    assert found["memfd", 4096, "buffered", "write"]["checked"]
    if found["memfd", 4096, "direct", "write"]["error"] is None:
        for method in ("direct", "libaio"):
            assert found["memfd", 4096, method, "read"]["checked"], method


def test_an_existing_file_is_kept_without_overwrite(iio, tmp_path):
    file = tmp_path / "a.tmp"
    file.write_bytes(b"precious")
    other = tmp_path / "b.tmp"
    os.link(file, other)
    refused = iio("bench-io a.tmp", SMALL, status=5)
    assert "a.tmp" in refused.err and "--overwrite" in refused.err
    assert file.read_bytes() == b"precious"
    schemas.check("bench-io", iio("bench-io a.tmp --overwrite --json", SMALL).json)
    assert not file.exists()
    assert other.read_bytes() == b"precious"  # the second link keeps the old content


@pytest.mark.parametrize("options, word", [
    ("--size 1000", "--size"),
    ("--size 0", "--size"),
    ("--block-size 4M --size 8Mi", "--block-size"),
    ("--block-size 2Gi --size 2Gi", "--block-size"),
    ("--depth 0", "--depth"),
    ("--depth nine", "--depth"),
    ("--deph 9", "--depth"),
])
def test_mistakes_are_reported_before_a_file_is_created(iio, tmp_path, options, word):
    assert word in iio("bench-io a.tmp", options, status=2).err
    assert list(tmp_path.iterdir()) == []


def test_anything_but_a_regular_file_is_refused(iio, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "regular" in iio("bench-io pipe --overwrite", SMALL, status=2).err
    assert (tmp_path / "pipe").exists()
    iio("bench-io no/such/folder/a.tmp", SMALL, status=5)
    iio("bench-io .", SMALL, status=5)


def test_a_file_that_exceeds_the_size_limit_is_a_storage_error(iio, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))

    assert "a.tmp" in iio("bench-io a.tmp", SMALL, status=5, preexec_fn=limit).err
    assert list(tmp_path.iterdir()) == []


def test_the_table_warns_about_figures_from_an_emulator(iio):
    for text in (iio("bench-io a.tmp", SMALL).out, iio("bench-io --help").out):
        assert "figures from an emulator do not apply to hardware" in " ".join(text.split())
    lines = iio("bench-io a.tmp", SMALL).out.splitlines()
    assert any(line.split()[:4] == ["write", "memfd", "4Ki", "buffered"] for line in lines)
    assert any(line.split()[:4] == ["read", "memfd", "4Ki", "buffered"] for line in lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_bench_io_cleanly(start, tmp_path, number):
    process = start("bench-io a.tmp --size 64Mi --block-size 1Mi --json")
    deadline = time.monotonic() + DEADLINE
    opened = f"{tmp_path / 'a.tmp'} (deleted)"
    while time.monotonic() < deadline:
        folder = f"/proc/{process.pid}/fd"
        if opened in [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)
                      if os.path.lexists(f"{folder}/{fd}")]:
            break
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert b"signal" in err
    document = json.loads(out)
    schemas.check("bench-io", document)
    assert not document["complete"] and len(document["rows"]) < 7 * len(METHODS) * 2
    assert list(tmp_path.iterdir()) == []


def test_the_schema_is_strict(iio):
    good = iio("bench-io a.tmp --json", SMALL).json
    measured = next(i for i, row in enumerate(good["rows"]) if row["error"] is None)

    def broken(change):
        bad = copy.deepcopy(good)
        change(bad, bad["rows"][measured])
        return schemas.problems("bench-io", bad)

    assert broken(lambda d, row: None) == []
    assert broken(lambda d, row: d.update(news=1))
    assert broken(lambda d, row: d.pop("kernel"))
    assert broken(lambda d, row: row.update(checked=False))
    assert broken(lambda d, row: row.update(io_seconds=None))
    assert broken(lambda d, row: row.update(method="telepathy"))
    assert broken(lambda d, row: row.update(error={"operation": "x", "errno": 5}))
