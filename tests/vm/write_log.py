# SPDX-License-Identifier: MIT
"""A disk that records each write in the order in which it was made durable, and that can reproduce its
content at the time of any power failure.

The kernel's dm-log-writes keeps the log (Documentation/admin-guide/device-mapper/log-writes.rst). Its format
is little-endian, in sectors: a superblock {magic, version, entries, bytes of a sector}, then for each entry
one sector with {sector, sectors, flags, bytes of data}, followed by the sectors of the data, except for
discards.
"""
import pathlib
import struct

from conftest import DISK
from disks import command

MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8


class LoggedDisk:
    """An ext4 file system of `megabytes` at `folder`, inside a `with` statement. After that, `points()` is
    available."""

    def __init__(self, folder, megabytes=64, name="iios-logged"):
        self.folder, self.name = pathlib.Path(folder), name
        self.image, self.log, self.before = (DISK / f"{name}.{part}" for part in ("img", "log", "before"))
        self.sectors = megabytes << 11
        self.loops = []

    def __enter__(self):
        command("modprobe", "-a", "loop", "dm-log-writes")
        for file, megabytes in ((self.image, self.sectors >> 11), (self.log, 512)):
            command("truncate", "-s", f"{megabytes}M", file)
        command("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)
        command("cp", "--sparse=always", self.image, self.before)
        self.loops = [command("losetup", "-f", "--show", file) for file in (self.image, self.log)]
        command("dmsetup", "create", self.name, "--noudevsync", "--table",
                f"0 {self.sectors} log-writes {self.loops[0]} {self.loops[1]}")
        command("dmsetup", "mknodes")
        self.folder.mkdir(exist_ok=True)
        command("mount", f"/dev/mapper/{self.name}", self.folder)
        return self

    def __exit__(self, *_):
        command("umount", self.folder, check=False)
        command("dmsetup", "remove", "--retry", self.name, "--noudevsync", check=False)
        for loop in self.loops:
            command("losetup", "-d", loop, check=False)

    def entries(self):
        """Yields (offset on the disk, flags, data) of each write, in bytes."""
        with open(self.log, "rb") as log:
            magic, version, count, sector = struct.unpack("<QQQI", log.read(28))
            assert (magic, version) == (MAGIC, 1)
            at = sector
            for _ in range(count):
                log.seek(at)
                where, sectors, flags, _ = struct.unpack("<QQQQ", log.read(32))
                log.seek(at + sector)
                data = b"" if flags & (DISCARD | MARK) else log.read(sectors * sector)
                yield where * sector, flags, data
                at += sector + len(data)

    def points(self, most):
        """Yields up to `most` of the disk's states at its flushes, evenly spaced and including the last one.
        Each is mounted at `folder` as an image; the value is its position in the log (0 to 1)."""
        ends = [number for number, (_, flags, _) in enumerate(self.entries(), 1) if flags & (FLUSH | FUA)]
        assert len(ends) > 3, "nothing was ever flushed"
        chosen = {ends[round(i * (len(ends) - 1) / (most - 1))] for i in range(most)}
        point = self.before.with_suffix(".point")
        with open(self.before, "r+b") as disk:
            for number, (where, flags, data) in enumerate(self.entries(), 1):
                assert not flags & DISCARD, "the file system discarded sectors: mount it without discard"
                disk.seek(where)
                disk.write(data)
                if number not in chosen:
                    continue
                disk.flush()
                command("cp", "--sparse=always", self.before, point)
                command("mount", "-o", "loop", point, self.folder)
                try:
                    yield number / ends[-1]
                finally:
                    command("umount", self.folder)
                    point.unlink()

    def remove(self):
        for file in (self.image, self.log, self.before):
            file.unlink(missing_ok=True)
