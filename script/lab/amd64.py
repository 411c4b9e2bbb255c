# SPDX-License-Identifier: MIT
"""The lab's usual guest: a virtual PC that runs this machine's programs from this machine's files."""

from pathlib import Path

import accel
import apt
import channels
import disk
import guest
import kernel

STOCK = ("6.12", "6.1")  # kernels of Debian 12
NEWER = ("newest", "7.3")  # kernels of Debian 13's backports
BASE = ["-M", "q35,usb=off,smm=off,hpet=off"]


class Machine:
    build = "build"
    shell = "/bin/bash"
    install = None  # a group of script/install with additional packages
    apt = apt.Apt("amd64")
    packages = []  # additional Debian packages
    keep = {}  # additional files of the unpacked packages, and their names in the cache
    memory = 2048  # MB, unless --memory names another size
    sources = ()  # additional files of the kernel's source package
    make = []
    strip = "strip"
    init = "init"
    modules = "modules"
    channels = channels.Ports

    def __init__(self, series="6.12"):
        if series in NEWER:
            self.apt = apt.SuitesApt("amd64", "trixie", "trixie-backports")
            self.packages = ["libc6"]  # the tools of linux-kbuild need this version
            # The kernel is configured for gcc 14. This machine's gcc lacks one of its features.
            self.make = ["CC=gcc", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT="]

    def refusal(self, options):
        for name in ("root", "forward"):
            if getattr(options, name):
                return f"--{name}: only with --arch zcu102"
        return None

    def busybox(self, folder):
        return Path("/bin/busybox")

    def kernel_arguments(self, options):
        """Returns the kernel arguments. They disable CX16 (bit 13 of feature word 4), because the emulator
        sometimes seems to compute wrong flags for cmpxchg16b. Programs still see CX16, which NumPy needs."""
        return f"console=ttyS0 tsc=reliable no_timer_check random.trust_cpu=on clearcpuid={4 * 32 + 13}"

    def settings(self, folder):
        release = kernel.release_of(folder)
        return {"MODULES": folder / "modules" / "lib" / "modules" / release, "TTY": "/dev/hvc0",
                "BLOCK": "/dev/vda"}

    def fill(self, archive, options):
        """Adds no files to the guest's first file system, because the guest uses this machine's files."""

    def qemu(self, options, folder, product, work):
        board = [*BASE, *guest.BASE]
        args = ["qemu-system-x86_64", *board]
        args += accel.options(accel.choose(folder, product / "initramfs", board), options.icount,
                              options.cpus)
        args += ["-kernel", str(folder / "vmlinuz"), "-serial", f"file:{work / 'log'}"]
        args += ["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
        if options.disk:
            args += [*disk.drive(options.disk, work), "-device", "virtio-blk-pci,drive=disk"]
        if options.net == "pair":  # two cards with scatter-gather, on one wire
            for number in range(2):
                args += ["-netdev", f"hubport,id=net{number},hubid=0", "-device",
                         f"e1000e,netdev=net{number},mac=52:54:00:00:00:0{number + 1}"]
        elif options.net == "host":
            args += ["-netdev", "user,id=host,ipv6=off", "-device", "virtio-net-pci,netdev=host"]
        if not options.command:
            args += ["-chardev", "stdio,id=tty,signal=off", "-device", "virtconsole,chardev=tty"]
        return args
