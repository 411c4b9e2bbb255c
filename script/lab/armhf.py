# SPDX-License-Identifier: MIT
"""A 32-bit ARM machine, as the processors of Pluto, ZedBoard and Red Pitaya are: QEMU's `virt` with Debian 13's armmp
kernel, and the programs of build-armhf with the libraries that they need, all in memory."""

import accel
import apt
import channels
import disk
import guest
import programs

# Memory beyond this is not always mapped in the kernel, and the simulator's DMA cores need that.
MEMORY = 760  # MB
LEAST = 256  # MB; half of it is for files, all of which are in memory
CMA = "64M"  # the kernel's memory for DMA; Debian's default is 16
POOL = "4M"  # for the descriptors of DMA; the kernel's default is 256K, too little for blocks of udmabuf
CPUS = 8
PROGRAMS = programs.Programs("armhf", "arm-linux-gnueabihf", 40, "ld-linux-armhf.so.3")
TOOLS = f"{PROGRAMS.triplet}-"


class Machine:
    build = PROGRAMS.build
    shell = "/bin/sh"
    install = "lab-armhf"
    # Debian 12's own kernel for armhf is 6.1, and its backports may vanish any day.
    apt = apt.ForeignSuitesApt("armhf", "armmp", "trixie")
    packages = ["busybox-static", "libc6:amd64"]  # the latter for the tools of linux-kbuild, which are made for it
    keep = {"usr/bin/busybox": "busybox"}
    memory = 512  # MB, unless --memory names another size
    sources = ("drivers/dma-buf/udmabuf.c",)
    # Debian 13's configuration is that of gcc 14: with this machine's, and without what only that one has.
    make = ["ARCH=arm", f"CROSS_COMPILE={TOOLS}", f"CC={TOOLS}gcc", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT="]
    strip = PROGRAMS.strip
    init = "init-memory"
    modules = "modules-armhf"
    channels = channels.Ports

    def __init__(self, series="6.12"):
        """There is one kernel; refusal() reports that others are not available."""

    def refusal(self, options):
        """Why these options are not available here, or None."""
        if options.kernel != "6.12":
            return f"--kernel {options.kernel}: --arch armhf has Debian's 6.12 only"
        if options.net:
            return f"--net {options.net}: only with --arch amd64"
        for name in ("root", "forward"):
            if getattr(options, name):
                return f"--{name}: only with --arch zcu102"
        if not LEAST <= options.memory <= MEMORY:
            return f"--memory {options.memory}: --arch armhf has {LEAST} to {MEMORY} MB"
        if options.cpus > CPUS:
            return f"--cpus {options.cpus}: --arch armhf has at most {CPUS}"
        return None

    def busybox(self, folder):
        return folder / "busybox"

    def kernel_arguments(self, options):
        return f"earlycon console=ttyAMA0 cma={CMA} coherent_pool={POOL}"

    def settings(self, folder):
        return {"MODULES": "", "TTY": "/dev/hvc0", "BLOCK": "/dev/vda"}

    def fill(self, archive, options):
        """The programs of the build folder, CMD's own if it is another, and the libraries that they link to."""
        PROGRAMS.fill(archive, options)

    def qemu(self, options, folder, product, work):
        # The kernel has no LPAE, and does not reach what the machine would place above 4 GB.
        args = ["qemu-system-arm", "-M", "virt,highmem=off", "-cpu", "cortex-a15", *guest.BASE]
        args += [*accel.emulator(options.icount), "-smp", str(options.cpus)]
        args += ["-kernel", str(folder / "vmlinuz"), "-serial", f"file:{work / 'log'}"]
        if options.disk:
            args += [*disk.drive(options.disk, work), "-device", "virtio-blk-pci,drive=disk"]
        if not options.command:
            args += ["-chardev", "stdio,id=tty,signal=off", "-device", "virtconsole,chardev=tty"]
        return args
