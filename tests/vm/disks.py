# SPDX-License-Identifier: MIT
"""Disks that misbehave on command: ext4 on a device-mapper device on a loop device."""
import pathlib
import subprocess

from conftest import DISK


def command(*words, check=True):
    return subprocess.run([str(word) for word in words], check=check, capture_output=True, text=True,
                          timeout=60).stdout.strip()


class MoodyDisk:
    """An ext4 file system of `megabytes` at `folder`. `become()` changes the behavior of its disk
    immediately.

    It exists inside a `with` statement. At its end everything is removed, even if the file system reports
    errors.
    """

    def __init__(self, folder, megabytes=256, name="iios-moody", options="defaults"):
        self.folder, self.name, self.options = pathlib.Path(folder), name, options
        self.sectors = megabytes << 11
        self.image = DISK / f"{name}.img"
        self.loop = None

    def __enter__(self):
        command("modprobe", "-a", "loop", "dm-delay", "dm-flakey")
        command("truncate", "-s", self.sectors * 512, self.image)
        command("mkfs.ext4", "-q", self.image)
        self.loop = command("losetup", "-f", "--show", self.image)
        command("dmsetup", "create", self.name, "--noudevsync", "--table", self.table("linear LOOP 0"))
        command("dmsetup", "mknodes")
        self.folder.mkdir(exist_ok=True)
        self.mount()
        return self

    def table(self, target):
        return f"0 {self.sectors} {target.replace('LOOP', self.loop)}"

    def become(self, target):
        """Switches to a device-mapper target, in which LOOP stands for the underlying disk."""
        command("dmsetup", "load", self.name, "--table", self.table(target))
        command("dmsetup", "suspend", "--nolockfs", "--noflush", self.name)
        command("dmsetup", "resume", "--noudevsync", self.name)

    def fail_writes(self):
        self.become("flakey LOOP 0 0 3600 1 error_writes")

    def delay_writes(self, milliseconds):
        self.become(f"delay LOOP 0 0 LOOP 0 {milliseconds}")

    def heal(self):
        self.become("linear LOOP 0")

    def mount(self):
        command("mount", "-o", self.options, f"/dev/mapper/{self.name}", self.folder)

    def remount(self):
        """Remounts as after a repair: the disk works again, and its file system has been checked."""
        command("umount", self.folder)
        self.heal()
        command("fsck.ext4", "-p", f"/dev/mapper/{self.name}", check=False)
        self.mount()

    def __exit__(self, *_):
        self.heal()
        command("umount", self.folder, check=False)
        command("dmsetup", "remove", "--retry", self.name, "--noudevsync", check=False)
        command("losetup", "-d", self.loop, check=False)
        self.image.unlink()
