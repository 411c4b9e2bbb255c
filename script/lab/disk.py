# SPDX-License-Identifier: MIT
"""The guest's disk: the place of its image, and QEMU's options for it."""

import os
import re
from pathlib import Path

import kernel

MEMORY = "/dev/shm"
SPARE = 2 << 30  # bytes of the host's memory that stay free
SIZE = re.compile(r"(\d+)\s*([KMGT]?)i?B?", re.I)


def size_of(text):
    """Returns the bytes of a size such as 512Mi or 1G; None if it is not a size."""
    match = SIZE.fullmatch(text)
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match[2].upper()] if match else None


def _parse(option):
    """Returns the path of --disk, "" if there is none, and its size in bytes."""
    path, _, size = option.rpartition(":")
    count = size_of(size)
    if count is None:
        raise kernel.LabError(f"--disk {option}: {size!r} is not a size such as 512Mi or 1Gi")
    return path, count


def folder(options):
    """Returns the folder for a run's files: in the host's memory if it has room for the guest and its disk,
    else None for the usual place of temporary files. With --icount, the guest's clock continues while it
    waits for the host's disk, so writes to a real disk would seem slower."""
    path, size = _parse(options.disk) if options.disk else ("", 0)
    needed = (0 if path else size) + (options.memory << 20) + SPARE
    try:
        memory = os.statvfs(MEMORY)
        available = int(re.search(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())[1]) << 10
    except (OSError, TypeError):
        return None
    return MEMORY if min(memory.f_bavail * memory.f_frsize, available) >= needed else None


def drive(option, work):
    """Returns QEMU's options for the drive `disk`. Makes the image if it does not exist."""
    path, size = _parse(option)
    image = Path(path) if path else work / "disk"
    if not image.exists():
        with open(image, "wb") as file:
            file.truncate(size)
        kernel.run(["mke2fs", "-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=1", image])
    return of_image(image, "writeback" if path else "unsafe")


def of_image(image, cache):
    quoted = str(image.resolve()).replace(",", ",,")
    return ["-drive", f"file={quoted},if=none,id=disk,format=raw,cache={cache},discard=unmap"]
