# SPDX-License-Identifier: MIT
"""Disks that fail, stall or become read-only, and machines that forbid the methods that recording prefers.
Afterwards, the file contains a valid prefix, and the error or the route explains what happened."""
import json
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import ADC, DISK, finish, knob, run, sim, start, truth
from disks import MoodyDisk, command
from errors import account
from waiting import until

RATE = 200_000  # 1.6 MB/s
SMALL = "--block-size 64Ki --blocks 16"  # 41 ms each


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim(rate=RATE)


@pytest.fixture
def disk(tmp_path):
    with MoodyDisk(tmp_path / "moody") as moody:
        yield moody


@pytest.fixture
def deep_fifo():
    """Sets a FIFO that holds seconds of samples, so that a busy machine loses none. A raw file could not
    report a loss."""
    before = knob("fifo")
    knob("fifo", 1 << 22)
    yield
    knob("fifo", before)


def recording(file, *options):
    """Starts a recording of the ADC, and returns it when its samples have reached the file."""
    process = start("record", f"iio:{ADC}", file, *options, "--json")
    until(lambda: pathlib.Path(file).exists(), "the file", 20)
    knob("reset", 1)
    until(lambda: int(knob("bytes")) > 1 << 20, "the stream", 30)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "buffered"])
def test_a_write_error_ends_the_recording_with_a_valid_prefix(disk, deep_fifo, engine):
    file = disk.folder / "a.ci16"
    sync = "sync=256Ki" if engine == "buffered" else ""  # otherwise the page cache would hide the error
    process = recording(file, f"engine={engine} {sync} {SMALL}")
    disk.fail_writes()
    result = finish(process, 40)
    error = account(result, 5, "EIO", str(file))
    assert error["operation"] in ("write", "fdatasync")
    disk.remount()
    if not run("verify", file, "--json", status=None).json["ok"]:
        run("recover", file)
    assert run(f"verify --pattern ramp {file} --json").json["ok"]
    # The file contains the data that were written before the disk failed.
    assert file.stat().st_size > 256 << 10


def test_a_failed_sync_is_reported_and_not_retried(tmp_path):
    trace = DISK / "trace"
    # No data are written back before the sync at the end.
    with MoodyDisk(tmp_path / "moody", options="commit=300") as disk:
        file = disk.folder / "a.bin"
        process = start("-f", "-e", "trace=fdatasync,fsync", "-o", trace, "iio-stream", "record",
                        f"iio:{ADC}", file, f"engine=buffered sync=end {SMALL} --bytes 6Mi --json",
                        command="strace")
        until(file.exists, "the file", 20)
        disk.fail_writes()
        result = finish(process, 40)
    error = account(result, 5, "EIO", str(file))
    assert "sync" in error["operation"]
    calls = [line for line in trace.read_text().splitlines() if "sync" in line and "EIO" in line]
    assert len(calls) == 1, trace.read_text()


def test_a_stalled_disk_loses_no_samples_while_there_are_blocks(disk):
    file = disk.folder / "a.ci16"
    process = recording(file, "--block-size 64Ki --blocks 128 --duration 7s")  # 5 s of blocks
    disk.delay_writes(60_000)
    time.sleep(2)
    disk.heal()
    result = finish(process, 60)
    assert result.status == 0, result.err
    assert truth()[1] == 0 and result.gaps["certain"] == 0 and result.gaps["possible"] == 0
    assert result.json["sinks"][0]["lag_high_water"] > 0
    assert run(f"verify --pattern ramp {file} --json").json["ok"]


def test_the_losses_during_a_disk_stall_of_5_seconds_are_reported(disk):
    file = disk.folder / "a.sigmf-meta"
    process = recording(file, f"{SMALL} --timeout 60s")  # 0.65 s of blocks
    disk.delay_writes(60_000)
    time.sleep(5)
    made = int(knob("bytes"))
    disk.heal()
    until(lambda: int(knob("bytes")) > made + (1 << 20), "the stream continues", 30)
    process.send_signal(signal.SIGINT)
    result = finish(process, 60)
    assert result.status == 0, result.err
    _, lost = truth()
    assert lost > 0
    assert result.gaps["lost_min"] <= lost <= result.gaps["lost_max"]
    report = run(f"verify --pattern ramp {file} --json").json
    assert report["ok"]


def test_a_file_system_that_becomes_read_only_ends_the_recording(disk):
    file = disk.folder / "a.ci16"
    process = recording(file, f"{SMALL}")
    command("mount", "-o", "remount,errors=remount-ro", disk.folder)
    device = command("findmnt", "-no", "MAJ:MIN", disk.folder)
    name = pathlib.Path(f"/sys/dev/block/{device}").resolve().name
    pathlib.Path(f"/sys/fs/ext4/{name}/trigger_fs_error").write_text("tried\n")
    result = finish(process, 40)
    # The error is EROFS if a new transaction fails first, and EIO if a pending write fails first.
    account(result, 5, result.json["error"]["name"], str(file))
    assert result.json["error"]["name"] in ("EROFS", "EIO")
    disk.remount()
    run("recover", file, status=None)
    assert run(f"verify --pattern ramp {file} --json").json["ok"]


def first_megabytes(folder, *options, status=0):
    """Records into a folder, verifies the file, and returns the hop to the file, or the expected error."""
    file = pathlib.Path(folder) / "a.ci16"
    result = run(f"record iio:{ADC} {file} overwrite=on --bytes 1Mi --json", *options, status=status)
    if status != 0:
        return result.json["error"]
    assert run(f"verify --pattern ramp {file} --json").json["ok"]
    file.unlink()
    return result.json["route"][-1]


@pytest.mark.parametrize("kind,says", [("ramfs", "refuses O_DIRECT"), ("tmpfs", "no direct I/O")])
def test_without_direct_io_the_page_cache_is_used_and_reported(tmp_path, kind, says):
    command("mount", "-t", kind, kind, tmp_path)
    try:
        hop = first_megabytes(tmp_path)
        assert (hop["mechanism"], hop["copies"]) == ("buffered", 1)
        assert says in hop["reason"] or "does not say" in hop["reason"], hop["reason"]
        error = first_megabytes(tmp_path, "direct=on", status=5)
        assert error["name"] == "EINVAL" and "direct=auto" in error["hint"]
    finally:
        command("umount", tmp_path)


@pytest.fixture(params=["ext4", "tmpfs"])
def overlay(request, tmp_path):
    """Yields an overlay folder whose files are on a file system of that kind, and the kind."""
    lower, merged = tmp_path / "lower", tmp_path / "merged"
    below = DISK / "below"
    for folder in (lower, merged, below):
        folder.mkdir()
    if request.param == "tmpfs":
        command("mount", "-t", "tmpfs", "tmpfs", below)
    for name in ("upper", "work"):
        (below / name).mkdir()
    command("mount", "-t", "overlay", "overlay", "-o",
            f"lowerdir={lower},upperdir={below}/upper,workdir={below}/work", merged)
    yield merged, request.param
    command("umount", merged)
    if request.param == "tmpfs":
        command("umount", below)
    command("rm", "-r", below)


def test_an_overlay_behaves_like_its_upper_layer(overlay):
    folder, kind = overlay
    hop = first_megabytes(folder)
    if kind == "ext4":
        assert (hop["mechanism"], hop["copies"], hop["reason"]) == ("io_uring-direct", 0, None)
        assert first_megabytes(folder, "direct=on")["mechanism"] == "io_uring-direct"
    else:
        assert (hop["mechanism"], hop["copies"]) == ("buffered", 1)
        assert "page cache" in hop["reason"] and "direct I/O" in hop["reason"], hop
        assert first_megabytes(folder, "direct=on", status=5)["name"] == "EINVAL"


def test_libaio_is_used_if_io_uring_is_forbidden_and_the_reason_is_reported():
    switch = pathlib.Path("/proc/sys/kernel/io_uring_disabled")
    switch.write_text("2")
    try:
        hop = first_megabytes(DISK)
        assert (hop["mechanism"], hop["copies"]) == ("libaio-direct", 0)
        assert "io_uring" in hop["reason"]
        error = first_megabytes(DISK, "engine=io_uring", status=5)
        assert error["name"] == "EPERM" and "libaio" in error["hint"]
    finally:
        switch.write_text("0")


def test_the_page_cache_is_used_if_libaio_is_exhausted_too_and_the_reason_is_reported():
    switch, limit = (pathlib.Path("/proc/sys", name) for name in ("kernel/io_uring_disabled", "fs/aio-max-nr"))
    before = limit.read_text()
    switch.write_text("2")
    limit.write_text("0")
    try:
        hop = first_megabytes(DISK)
        assert (hop["mechanism"], hop["copies"]) == ("buffered", 1)
        assert "kernel.io_uring_disabled=2" in hop["reason"] and "fs.aio-max-nr=0" in hop["reason"], hop
        error = first_megabytes(DISK, "engine=libaio", status=5)
        assert error["name"] == "EAGAIN" and "fs.aio-max-nr=0" in error["message"], error
        assert "sysctl -w fs.aio-max-nr" in error["hint"] and "engine=auto" in error["hint"], error
    finally:
        switch.write_text("0")
        limit.write_text(before)


@pytest.mark.parametrize("transparent,page", [("madvise", 2 << 20), ("never", 4096)])
def test_transparent_huge_pages_or_small_pages_replace_reserved_huge_pages(transparent, page):
    pool = pathlib.Path("/proc/sys/vm/nr_hugepages")
    switch = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    before = pool.read_text()
    pool.write_text("0")
    switch.write_text(transparent)
    try:
        result = run(f"record iio:{ADC} memory=udmabuf {DISK}/small.ci16 overwrite=on --bytes 1Mi --json")
        assert result.json["route"][0]["page_bytes"] == page and result.json["copies"] == 0
        assert run(f"verify --pattern ramp {DISK}/small.ci16 --json").json["ok"]
        check, = [one for one in run("doctor --json").json["checks"] if one["name"] == "huge pages"]
        assert check["ok"] == (page != 4096) and ("4 KiB" in check["detail"]) == (page == 4096), check
        assert bool(check["fix"]) == (page == 4096)
    finally:
        pool.write_text(before)
        switch.write_text("always")
        (DISK / "small.ci16").unlink()


def test_a_small_limit_of_locked_memory_only_prevents_the_registration():
    target = DISK / "locked"
    target.mkdir(exist_ok=True)
    target.chmod(0o777)
    done = subprocess.run(["prlimit", "--memlock=65536", "setpriv", "--reuid=65534", "--regid=65534",
                           "--clear-groups", "iio-stream", "record", "sim:", "rate=0",
                           f"{target}/a.ci16", "--bytes", "32Mi", "--json"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    hop = json.loads(done.stdout)["route"][-1]
    assert hop["mechanism"] == "io_uring-direct" and "RLIMIT_MEMLOCK is too small" in hop["reason"]
    assert run(f"verify --pattern ramp {target}/a.ci16 --json").json["ok"]
    subprocess.run(["rm", "-r", target], check=True)
