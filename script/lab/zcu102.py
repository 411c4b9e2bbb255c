# SPDX-License-Identifier: MIT
"""The emulated ZCU102: Debian's arm64 kernel and board description, and the programs of build-arm64 with
the libraries that they need, all in memory. The board has no virtio; see docs/lab.md."""

import os
import re
import tempfile
from pathlib import Path

import apt
import channels
import disk
import guest
import kernel

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
MEMORY = 2048  # MB; memory that QEMU reports above the lower bank overlaps the board's registers
CPUS = 4
LEAST = 512  # MB; half of it is for files, all of which are in memory
IIOD = 30431  # its port
AARCH64 = 183  # the ELF header's e_machine
TOOLS = "aarch64-linux-gnu-"
DTB = "zynqmp-zcu102-rev1.0.dtb"
LIBRARIES = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu")
SYSTEM = ("/bin/", "/sbin/", "/usr/", "/lib/")  # the guest has its own


class Machine:
    build = "build-arm64"
    shell = "/bin/sh"
    install = "lab-arm64"
    apt = apt.ForeignApt("arm64")
    packages = ["busybox-static"]
    keep = {"bin/busybox": "busybox", "usr/lib/linux-image-{release}/xilinx/" + DTB: "board.dtb"}
    make = ["ARCH=arm64", f"CROSS_COMPILE={TOOLS}"]
    strip = f"{TOOLS}strip"
    init = "init-zcu102"
    modules = "modules-zcu102"
    channels = channels.Connections

    def __init__(self, series="6.12"):
        """There is one kernel; refusal() says so of others."""

    def refusal(self, options):
        """Why these options cannot be had here, or None."""
        if options.kernel != "6.12":
            return f"--kernel {options.kernel}: the ZCU102 is emulated with Debian's arm64 6.12 only"
        if options.net:
            return f"--net {options.net}: only with --arch amd64"
        if options.icount:
            return ("--icount: the programs' streams come over a network there, which does not keep to the "
                    "time that instructions count; measure with --arch amd64")
        if not LEAST <= options.memory <= MEMORY:
            return f"--memory {options.memory}: the emulated ZCU102 has {LEAST} to {MEMORY} MB"
        if options.cpus > CPUS:
            return f"--cpus {options.cpus}: the ZCU102 has {CPUS}"
        if options.root and options.disk:
            return "--root and --disk: the ZCU102 has one disk"
        if options.root and not Path(options.root).is_file():
            return f"--root {options.root}: there is no such file; script/board makes one"
        return None

    def busybox(self, folder):
        return folder / "busybox"

    def kernel_arguments(self, options):
        # All of them are there: a GIC of one CPU has no interrupt from a CPU to itself.
        return f"earlycon console=ttyPS0,115200 nr_cpus={options.cpus}"

    def settings(self, folder):
        return {"MODULES": "", "TTY": "/dev/ttyPS1", "BLOCK": "/dev/sda"}

    def fill(self, archive, options):
        """The programs of the build folder, CMD's own if it is another, and what they link to."""
        if options.root:
            return  # it has its own
        build = CHECKOUT / self.build
        sysroot = _sysroot(build)
        files = {path: path for path in sorted(build.rglob("*")) if _architecture(path) == AARCH64}
        program = _program(options.command[0]) if options.command else None
        if program:
            files[program] = program
        for name in _needed(files, sysroot):
            path = _library(name, sysroot)
            if path:
                files[Path("/") / LIBRARIES[0] / name] = path
        files[Path("/lib/ld-linux-aarch64.so.1")] = sysroot / "lib" / "ld-linux-aarch64.so.1"
        for target, path in files.items():
            name = str(target).lstrip("/")
            if path.is_symlink() and path.parent == build:
                archive.link(name, str(path.readlink()))
            else:
                archive.file(name, _stripped(path) if build in path.parents else path.read_bytes(), 0o755)
        archive.folder(os.getcwd().lstrip("/"))

    def qemu(self, options, folder, product, work):
        dtb = work / "board.dtb"
        board = kernel.run(["dtc", "-q", "-I", "dtb", "-O", "dts", folder / "board.dtb"])
        kernel.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", dtb],
                   input=board + (HERE / "zcu102.dts").read_text())
        args = ["qemu-system-aarch64", "-M", "xlnx-zcu102", *guest.BASE]
        args += ["-accel", "tcg,thread=multi", "-smp", str(CPUS), "-audiodev", "none,id=none"]
        forward = f",hostfwd=tcp:127.0.0.1:{options.forward}-:{IIOD}" if options.forward else ""
        args += ["-nic", "user,restrict=on"] * 3 + ["-nic", "user" + forward]  # the board's own card is the last of four
        args += ["-kernel", str(folder / "vmlinuz"), "-dtb", str(dtb), "-serial", f"file:{work / 'log'}"]
        if not options.command:
            args += ["-chardev", "stdio,id=tty,signal=off", "-serial", "chardev:tty"]
        if options.disk or options.root:
            drive = disk.of_image(Path(options.root), "writeback") if options.root else disk.drive(options.disk, work)
            args += [*drive, "-device", "ide-hd,drive=disk,bus=ide.0"]
        return args


def _sysroot(build):
    """The folder of the board's libraries with which the build folder was made."""
    cached = build / "CMakeCache.txt"
    match = re.search(r"^CMAKE_SYSROOT:\w+=(.+)$", cached.read_text(), re.M) if cached.exists() else None
    if not match or not (build / "iio-stream").exists():
        raise kernel.LabError(f"{build} has no arm64 programs: run script/cross arm64 first")
    if not Path(match[1]).is_dir():
        raise kernel.LabError(f"{match[1]}, the libraries of {build.name}, is gone: remove {build} "
                              "and run script/cross arm64")
    return Path(match[1])


def _architecture(path):
    """An ELF program's or shared library's machine, else None."""
    if path.is_dir() or not os.access(path, os.X_OK):
        return None
    with open(path, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or head[16] not in (2, 3):
        return None
    return int.from_bytes(head[18:20], "little")


def _program(word):
    """CMD's program, if it is a file of this machine and not one of the guest's own."""
    path = Path(word).absolute()
    if "/" not in word or not path.is_file() or str(path).startswith(SYSTEM):
        return None
    if _architecture(path) not in (None, AARCH64):
        raise kernel.LabError(f"{word} is no arm64 program, which the ZCU102 needs: script/cross arm64 "
                              "makes build-arm64")
    return path


def _library(name, sysroot):
    return next((path for path in (sysroot / part / name for part in LIBRARIES) if path.exists()), None)


def _needed(files, sysroot):
    """The names of the libraries that these files need, and those of the libraries themselves."""
    names, unread = set(), [path for path in files.values() if _architecture(path)]
    while unread:
        found = set(re.findall(r"\(NEEDED\).*\[(.+)\]", kernel.run(["readelf", "-dW", *unread]))) - names
        names |= found
        unread = [path for path in (_library(name, sysroot) for name in sorted(found)) if path]
    return sorted(names)


def _stripped(path):
    """A program's content, without what only a debugger needs: most of it."""
    with tempfile.NamedTemporaryFile() as stripped:
        kernel.run([Machine.strip, "--strip-debug", "-o", stripped.name, path])
        return Path(stripped.name).read_bytes()
