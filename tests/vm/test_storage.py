# SPDX-License-Identifier: MIT
"""Recordings that bypass the page cache, and files that cannot be written: status 5, the errno's name, and
only whole samples in the file.

    script/vm --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_storage.py

Linux 6.12, 2048 MB.
"""
import json
import os
import re
import subprocess

import counts
import pytest
from conftest import ADC, DISK, knob, run, sim, stream
from errors import as_nobody, failing

# Samples of 6 bytes, so that 4096 is not a multiple of them.
CHANNELS = "channels=voltage0_i,voltage0_q,voltage1_i"
SMALL = "--block-size 12Ki --blocks 16"
RECORDED = 64 << 20


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim()


@pytest.fixture
def tiny(tmp_path):
    """Mounts a file system of 4 MiB."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.fixture
def tiny_ext4(tmp_path):
    image = DISK / "tiny.img"
    subprocess.run(["modprobe", "loop"], check=True)
    subprocess.run(["truncate", "-s", "16M", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)
    image.unlink()


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
@pytest.mark.parametrize("disk", ["tiny", "tiny_ext4"])
def test_a_full_disk_keeps_whole_samples(disk, path, request):
    folder = request.getfixturevalue(disk)
    file = folder / "full.bin"
    result = failing(f"iio:{ADC} path={path} {CHANNELS} {file} {SMALL}",
                     status=5, name="ENOSPC", words=["write", str(file)])
    size = file.stat().st_size
    assert size > 2 << 20 and size % 6 == 0
    assert run(f"verify --pattern ramp {file} format=ri16_le --json").json["ok"]
    # The summary counts the bytes that had been written when the first write failed. Pending writes may have
    # completed afterwards.
    assert 0 <= size - result.json["sinks"][0]["bytes"] <= 16 * 12 << 10


def test_a_full_disk_does_not_affect_the_samples_of_other_sinks(tiny):
    result = failing(f"iio:{ADC} {tiny}/full.bin verify:ramp {SMALL.replace('12', '16')}",
                     status=5, name="ENOSPC")
    report = result.json["sinks"][1]["report"]
    assert report["unreported"] == 0 and report["mismatches"] == 0


def test_a_full_disk_is_reported_while_a_rate_limited_source_waits(tiny):
    """A rate-limited source waits for blocks. The report of the error must not wait for the source."""
    sim(rate=1_000_000)
    try:
        failing(f"iio:{ADC} {tiny}/full.bin {SMALL.replace('12', '16')} --duration 20s", status=5, name="ENOSPC")
    finally:
        sim()


def test_an_existing_file_is_kept(tmp_path):
    file = tmp_path / "precious.bin"
    file.write_bytes(b"precious")
    error = failing(f"iio:{ADC} {file} --samples 1000", status=5, name="EEXIST",
                    words=[str(file)]).json["error"]
    assert "overwrite=on" in error["hint"]
    assert file.read_bytes() == b"precious"
    result = stream(f"iio:{ADC} {file} overwrite=on --samples 1000")
    assert file.stat().st_size == result.json["bytes"]


def test_paths_that_cannot_be_files_are_errors(tmp_path):
    folder = tmp_path / "folder.bin"
    folder.mkdir()
    failing(f"iio:{ADC} {folder} --samples 1000", status=5, name="EISDIR", words=[str(folder)])
    failing(f"iio:{ADC} {tmp_path}/no/such.bin --samples 1000", status=5, name="ENOENT",
            words=[f"{tmp_path}/no/such.bin"])
    failing(f"iio:{ADC} /dev/full --samples 100000", status=5, name="ENOSPC", words=["/dev/full"])


def test_a_read_only_file_system_is_an_error(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", tmp_path], check=True)
    try:
        failing(f"iio:{ADC} {tmp_path}/a.bin --samples 1000", status=5, name="EROFS",
                words=[f"{tmp_path}/a.bin"])
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_folder_without_write_permission_is_an_error():
    folder = DISK / "locked"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o555)
    result = as_nobody(f"record sim: {folder}/a.ci16 --samples 1000 --json")
    assert result.status == 5
    error = json.loads(result.out)["error"]
    assert error["name"] == "EACCES" and f"{folder}/a.ci16" in error["message"]
    folder.rmdir()


def test_nothing_streams_before_the_file_is_open(tmp_path):
    knob("reset", 1)
    failing(f"iio:{ADC} {tmp_path}/no/such.bin --samples 1000", status=5, name="ENOENT")
    assert knob("bytes") == "0"


def test_a_file_size_limit_keeps_whole_samples(tmp_path):
    file = tmp_path / "limited.bin"
    done = subprocess.run(["prlimit", "--fsize=1000001", "iio-stream", "stream", f"iio:{ADC}", *CHANNELS.split(),
                           file, *SMALL.split(), "--samples", "1000000", "--json"],
                          capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout)["error"]["name"] == "EFBIG"
    assert os.stat(file).st_size == 1000001 // 6 * 6


def dirtied():
    """Returns the number of pages that have been dirtied in the page cache since boot."""
    lines = dict(line.split() for line in open("/proc/vmstat", encoding="ascii"))
    return int(lines["nr_dirtied"])


def test_recordings_bypass_the_page_cache_and_all_engines_write_the_same_data():
    recorded = {}
    for engine, mechanism, copies in (("auto", "io_uring-direct", 0), ("io_uring", "io_uring-direct", 0),
                                      ("libaio", "libaio-direct", 0), ("buffered", "buffered", 1)):
        file = recorded[engine] = DISK / f"{engine}.ci16"
        before = dirtied()
        result = run(f"record iio:{ADC} memory=udmabuf {file} engine={engine} overwrite=on "
                     f"--bytes {RECORDED} --json").json
        pages = dirtied() - before
        assert (result["route"][1]["mechanism"], result["copies"]) == (mechanism, copies)
        assert result["bytes"] == RECORDED == file.stat().st_size
        # The buffered recording shows that pages are counted, except for each CPU's unflushed counts.
        whole = RECORDED // 4096
        assert pages > 0.95 * whole if copies else pages < 0.05 * whole, (engine, pages)
    assert run(f"verify --pattern ramp {recorded['auto']} --json").json["ok"]
    for file in recorded.values():
        subprocess.run(["cmp", recorded["auto"], file], check=True)
        if file != recorded["auto"]:
            file.unlink()
    recorded["auto"].unlink()


def test_a_sigmf_recording_copies_no_sample_by_default():
    file = DISK / "whole.sigmf-meta"
    before = dirtied()
    result = run(f"record iio:{ADC} {file} overwrite=on --bytes {counts.RECORD_WHOLE} --json", timeout=600).json
    pages = dirtied() - before
    assert (result["copies"], result["route"][0]["memory"]) == (0, "udmabuf")
    assert pages < 0.05 * counts.RECORD_WHOLE // 4096
    assert run(f"verify --pattern ramp {file} --json", timeout=600).json["ok"]
    for path in DISK.glob("whole.*"):
        path.unlink()


@pytest.mark.parametrize("engine", ["io_uring", "libaio"])
def test_a_recorded_block_is_synced_once_and_never_read_or_written(engine):
    blocks, turns = 16, 100
    trace = DISK / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=ioctl,read,write,writev,pread64,pwrite64,pwritev,pwritev2,splice,sendfile",
                    "-o", trace, "iio-stream", "record",
                    f"iio:{ADC}", "memory=udmabuf", DISK / "synced.bin", f"engine={engine}", "overwrite=on", "--block-size",
                    "64Ki", "--blocks", str(blocks), "--bytes", str(turns << 16), "--quiet"], check=True)
    # The calls are START and END for each block that is written, and for each block of the pool when it is
    # set up.
    lines = trace.read_text().splitlines()
    calls = [line for line in lines if "DMA_BUF_IOCTL_SYNC" in line and "resumed" not in line]
    assert len(calls) == 2 * (turns + blocks)
    moved = [int(m[1]) for line in lines if "ioctl" not in line and (m := re.search(r"= (\d+)$", line))]
    assert moved and max(moved) < 64 << 10, "a read or write of the size of a block"
