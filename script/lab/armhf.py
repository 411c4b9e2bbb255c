# SPDX-License-Identifier: MIT
"""A 32-bit ARM machine, like the Pluto, the ZedBoard and the Red Pitaya: QEMU's `virt` with Debian 13's armmp
kernel, and the programs of build-armhf with the libraries that they need, all in memory."""

import accel
import apt
import channels
import disk
import guest
import programs

# The kernel does not permanently map memory beyond this limit, and the simulator's DMA cores need permanently
# mapped memory.
MEMORY = 760  # MB
LEAST = 256  # MB; half of it is for files, all of which are in memory
CMA = "64M"  # the kernel's memory for DMA; Debian's default is 16 MB
POOL = "4M"  # memory for DMA descriptors; the kernel's default of 256K is too small for blocks of udmabuf
CPUS = 8
PROGRAMS = programs.Programs("armhf", "arm-linux-gnueabihf", 40, "ld-linux-armhf.so.3")
TOOLS = f"{PROGRAMS.triplet}-"


class Machine:
    build = PROGRAMS.build
    shell = "/bin/sh"
    install = "lab-armhf"
    # Debian 12's kernel for armhf is 6.1, and a kernel in its backports can disappear at any time.
    apt = apt.ForeignSuitesApt("armhf", "armmp", "trixie")
    packages = ["busybox-static", "libc6:amd64"]  # the tools of linux-kbuild need libc6
    keep = {"usr/bin/busybox": "busybox"}
    memory = 512  # MB, unless --memory names another size
    sources = ("drivers/dma-buf/udmabuf.c",)
    # The kernel is configured for gcc 14. This machine's gcc lacks one of its features.
    make = ["ARCH=arm", f"CROSS_COMPILE={TOOLS}", f"CC={TOOLS}gcc", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT="]
    strip = PROGRAMS.strip
    init = "init-memory"
    modules = "modules-armhf"
    channels = channels.Ports

    def __init__(self, series="6.12"):
        """There is one kernel; refusal() reports that other kernels are not available."""

    def refusal(self, options):
        """Returns why these options are not available here, or None."""
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
        """Adds the programs of the build folder, the program of CMD if it is another one, and their
        libraries."""
        PROGRAMS.fill(archive, options)

    def qemu(self, options, folder, product, work):
        # The kernel has no LPAE and cannot access devices that the machine would place above 4 GB.
        args = ["qemu-system-arm", "-M", "virt,highmem=off", "-cpu", "cortex-a15", *guest.BASE]
        args += [*accel.emulator(options.icount), "-smp", str(options.cpus)]
        args += ["-kernel", str(folder / "vmlinuz"), "-serial", f"file:{work / 'log'}"]
        if options.disk:
            args += [*disk.drive(options.disk, work), "-device", "virtio-blk-pci,drive=disk"]
        if not options.command:
            args += ["-chardev", "stdio,id=tty,signal=off", "-device", "virtconsole,chardev=tty"]
        return args
