# SPDX-License-Identifier: MIT
"""Writes initramfs archives (cpio, format "newc")."""

import stat
from pathlib import Path


class Archive:
    """Collects files in memory. The kernel can unpack several archives one after the other."""

    def __init__(self):
        self._parts = []
        self._inode = 0
        self._folders = set()

    def _entry(self, name, mode, data):
        self._inode += 1
        path = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self._parts.append(_padded(header + path) + _padded(data))

    def folder(self, name):
        parent = str(Path(name).parent)
        if parent not in (".", "/"):
            self.folder(parent)
        if name not in self._folders:
            self._folders.add(name)
            self._entry(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name, data, mode=0o644):
        parent = str(Path(name).parent)
        if parent != ".":
            self.folder(parent)
        self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def bytes(self):
        self._entry("TRAILER!!!", 0, b"")
        data = b"".join(self._parts)
        return data + b"\0" * (-len(data) % 512)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)
