# SPDX-License-Identifier: MIT
"""Tests that a growing file on a slow disk has as many writes in flight as `depth=` specifies. The disk's
driver counts them."""
import pathlib
import statistics
import time

import pytest
from conftest import finish, start
from disks import MoodyDisk, command
from waiting import until

DELAY_MS = 500  # in this time, eight blocks of 64 KiB are far less than the 2 MB that the source produces
SAMPLES = 42


@pytest.fixture
def disk(tmp_path):
    """Yields a misbehaving disk that is mounted through another device: the disk itself only counts a write
    after its delay."""
    with MoodyDisk(tmp_path / "moody") as moody:
        command("umount", moody.folder)
        command("dmsetup", "create", "iios-counted", "--noudevsync", "--table",
                f"0 {moody.sectors} linear /dev/mapper/{moody.name} 0")
        command("dmsetup", "mknodes")
        command("mount", "/dev/mapper/iios-counted", moody.folder)
        yield moody
        command("umount", moody.folder)
        command("dmsetup", "remove", "--retry", "iios-counted", "--noudevsync")


def writes_in_flight(disk, *options):
    """Returns samples of the number of writes in flight during a recording."""
    device = command("findmnt", "-no", "MAJ:MIN", disk.folder)
    counter = pathlib.Path(f"/sys/dev/block/{device}/inflight")
    file = disk.folder / "a.ci16"
    process = start("record", "sim:", "pattern=ramp", "rate=1M", file, *options, "--block-size", "64Ki", "--blocks", "32", "--json",
                    "--timeout", "60s")
    try:
        until(file.exists, "the file", 20)
        disk.delay_writes(DELAY_MS)
        time.sleep(4 * DELAY_MS / 1000)  # pending writes have completed
        found = []
        for _ in range(SAMPLES):
            assert process.poll() is None, process.communicate()
            found.append(int(counter.read_text().split()[1]))
            time.sleep(DELAY_MS / 1000 / 7)  # not a divisor of the delay
    finally:
        disk.heal()
        process.terminate()
        finish(process, 60)
    return found


@pytest.mark.parametrize("depth", [1, 8])
@pytest.mark.parametrize("engine", ["io_uring", "libaio"])
def test_a_growing_file_has_as_many_writes_in_flight_as_requested(disk, engine, depth):
    found = writes_in_flight(disk, f"engine={engine}", f"depth={depth}")
    # One or two additional writes belong to the journals of the file system and of the recording. At times
    # there are many more: the file system writes its journal, which takes up to half of the time.
    assert depth <= statistics.quantiles(found, n=4)[0] <= depth + 2, found
