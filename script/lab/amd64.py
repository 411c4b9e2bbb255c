# SPDX-License-Identifier: MIT
"""The lab's usual guest: a virtual PC that runs the programs of this machine, by its own files."""

from pathlib import Path

import accel
import apt
import channels
import disk
import guest
import kernel

STOCK = ("6.12", "6.1")  # Debian 12's own
NEWER = ("newest", "7.3")  # of Debian 13's backports
BASE = ["-M", "q35,usb=off,smm=off,hpet=off"]


class Machine:
    build = "build"
    shell = "/bin/bash"
    install = None  # packages beside the lab's, a group of script/install
    apt = apt.Apt("amd64")
    packages = []  # beside the kernel's
    keep = {}  # of the unpacked packages' files, beside the kernel's: what the cache calls them
    memory = 2048  # MB, unless --memory names another size
    sources = ()  # of the kernel's source package, beside those that all machines need
    make = []
    strip = "strip"
    init = "init"
    modules = "modules"
    channels = channels.Ports

    def __init__(self, series="6.12"):
        if series in NEWER:
            self.apt = apt.SuitesApt("amd64", "trixie", "trixie-backports")
            self.packages = ["libc6"]  # for the tools of linux-kbuild, which are made for it
            # Its configuration is that of gcc 14: with this machine's, and without what only that one has.
            self.make = ["CC=gcc", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT="]

    def refusal(self, options):
        for name in ("root", "forward"):
            if getattr(options, name):
                return f"--{name}: only with --arch zcu102"
        return None

    def busybox(self, folder):
        return Path("/bin/busybox")

    def kernel_arguments(self, options):
        """The emulator seems to compute wrong flags for cmpxchg16b now and then. The kernel does not use it
        without CX16, which is bit 13 of its word 4 of features. Programs still see it: NumPy needs it."""
        return f"console=ttyS0 tsc=reliable no_timer_check random.trust_cpu=on clearcpuid={4 * 32 + 13}"

    def settings(self, folder):
        release = kernel.release_of(folder)
        return {"MODULES": folder / "modules" / "lib" / "modules" / release, "TTY": "/dev/hvc0",
                "BLOCK": "/dev/vda"}

    def fill(self, archive, options):
        """Files for the guest's first file system: none, this machine's are there."""

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
