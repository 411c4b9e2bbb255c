# SPDX-License-Identifier: MIT
"""The emulated ZCU102: Debian's arm64 kernel and device tree, and the programs of build-arm64 with their
libraries, all in memory. The board has no virtio; see docs/lab.md."""

from pathlib import Path

import apt
import channels
import disk
import guest
import kernel
import programs

HERE = Path(__file__).resolve().parent
MEMORY = 2048  # MB; QEMU would report more memory where the board has registers
CPUS = 4
LEAST = 512  # MB; half of it is for files, all of which are in memory
IIOD = 30431  # the port of iiod
PROGRAMS = programs.Programs("arm64", "aarch64-linux-gnu", 183, "ld-linux-aarch64.so.1")
TOOLS = f"{PROGRAMS.triplet}-"
DTB = "zynqmp-zcu102-rev1.0.dtb"


class Machine:
    build = PROGRAMS.build
    shell = "/bin/sh"
    install = "lab-arm64"
    apt = apt.ForeignApt("arm64")
    packages = ["busybox-static"]
    keep = {"bin/busybox": "busybox", "usr/lib/linux-image-{release}/xilinx/" + DTB: "board.dtb"}
    memory = 2048  # MB, unless --memory names another size
    sources = ()  # additional files of the kernel's source package
    make = ["ARCH=arm64", f"CROSS_COMPILE={TOOLS}"]
    strip = PROGRAMS.strip
    init = "init-memory"
    modules = "modules-zcu102"
    channels = channels.Connections

    def __init__(self, series="6.12"):
        """There is one kernel; refusal() reports that other kernels are not available."""

    def refusal(self, options):
        """Returns why these options are not available here, or None."""
        if options.kernel != "6.12":
            return f"--kernel {options.kernel}: the ZCU102 is emulated with Debian's arm64 6.12 only"
        if options.net:
            return f"--net {options.net}: only with --arch amd64"
        if options.icount:
            return ("--icount: the programs' data are transferred over a network, whose timing does not "
                    "follow the instruction count; measure with --arch amd64")
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
        # QEMU always emulates all CPUs, because a GIC with one CPU has no interrupt from the CPU to itself.
        return f"earlycon console=ttyPS0,115200 nr_cpus={options.cpus}"

    def settings(self, folder):
        return {"MODULES": "", "TTY": "/dev/ttyPS1", "BLOCK": "/dev/sda"}

    def fill(self, archive, options):
        """Adds the programs of the build folder, the program of CMD if it is another one, and their
        libraries."""
        if options.root:
            return  # the disk has its own programs
        PROGRAMS.fill(archive, options)

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
