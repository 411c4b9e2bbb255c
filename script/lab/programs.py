# SPDX-License-Identifier: MIT
"""The programs that script/cross builds for another processor, with their libraries, for a guest that has all
its files in memory."""

import os
import re
import tempfile
from pathlib import Path

import kernel

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SYSTEM = ("/bin/", "/sbin/", "/usr/", "/lib/")  # the guest has its own


class Programs:
    """The programs of one Debian architecture. `machine` is the e_machine of its ELF headers, `loader` its
    dynamic loader."""

    def __init__(self, arch, triplet, machine, loader):
        self.arch = arch
        self.triplet = triplet
        self.build = f"build-{arch}"
        self.strip = f"{triplet}-strip"
        self._machine = machine
        self._loader = loader
        self._libraries = (f"lib/{triplet}", f"usr/lib/{triplet}")

    def fill(self, archive, options):
        """Adds the programs of the build folder, the program of CMD if it is another one, and the libraries
        of both."""
        build = CHECKOUT / self.build
        sysroot = self._sysroot(build)
        files = {path: path for path in sorted(build.rglob("*")) if _architecture(path) == self._machine}
        program = self._program(options.command[0]) if options.command else None
        if program:
            files[program] = program
        for name in self._needed(files, sysroot):
            path = self._library(name, sysroot)
            if path:
                files[Path("/") / self._libraries[0] / name] = path
        files[Path("/lib") / self._loader] = sysroot / "lib" / self._loader
        for target, path in files.items():
            name = str(target).lstrip("/")
            if path.is_symlink() and path.parent == build:
                archive.link(name, str(path.readlink()))
            else:
                archive.file(name, self._stripped(path) if build in path.parents else path.read_bytes(), 0o755)
        archive.folder(os.getcwd().lstrip("/"))

    def _sysroot(self, build):
        """Returns the folder of the board's libraries that the build folder uses."""
        cached = build / "CMakeCache.txt"
        match = re.search(r"^CMAKE_SYSROOT:\w+=(.+)$", cached.read_text(), re.M) if cached.exists() else None
        if not match or not (build / "iio-stream").exists():
            raise kernel.LabError(f"{build} has no {self.arch} programs: run script/cross {self.arch} first")
        if not Path(match[1]).is_dir():
            raise kernel.LabError(f"{match[1]}, the folder of the libraries of {build.name}, does not exist any more: "
                                  f"remove {build} and run script/cross {self.arch}")
        return Path(match[1])

    def _program(self, word):
        """Returns the path of CMD's program if it is a file of this machine and not one of the guest's own
        files."""
        path = Path(word).absolute()
        if "/" not in word or not path.is_file() or str(path).startswith(SYSTEM):
            return None
        if _architecture(path) not in (None, self._machine):
            raise kernel.LabError(f"{word} is not an {self.arch} program, which the guest needs: "
                                  f"script/cross {self.arch} makes {self.build}")
        return path

    def _library(self, name, sysroot):
        return next((path for path in (sysroot / part / name for part in self._libraries) if path.exists()), None)

    def _needed(self, files, sysroot):
        """Returns the names of the libraries that these files need, directly or through other libraries."""
        names, unread = set(), [path for path in files.values() if _architecture(path)]
        while unread:
            found = set(re.findall(r"\(NEEDED\).*\[(.+)\]", kernel.run(["readelf", "-dW", *unread]))) - names
            names |= found
            unread = [path for path in (self._library(name, sysroot) for name in sorted(found)) if path]
        return sorted(names)

    def _stripped(self, path):
        """Returns a program's content without its debug information, which is most of the file."""
        with tempfile.NamedTemporaryFile() as stripped:
            kernel.run([self.strip, "--strip-debug", "-o", stripped.name, path])
            return Path(stripped.name).read_bytes()


def _architecture(path):
    """Returns the machine of an ELF program or shared library; None for other files."""
    if path.is_dir() or not os.access(path, os.X_OK):
        return None
    with open(path, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or head[16] not in (2, 3):
        return None
    return int.from_bytes(head[18:20], "little")
