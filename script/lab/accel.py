# SPDX-License-Identifier: MIT
"""Finds out whether KVM can boot the kernel on this machine, which /dev/kvm alone does not guarantee."""

import os
import subprocess

import guest
import kernel
from cpio import Archive

PROBE_TIME = 20  # seconds


def choose(folder, initramfs, board):
    """Returns kvm or tcg. The result is kept in the cache until the machine reboots. `board` are QEMU's
    options for the machine with which KVM is tested."""
    forced = os.environ.get("IIO_STREAM_LAB_ACCEL")
    if forced:
        if forced not in ("kvm", "tcg"):
            raise kernel.LabError("IIO_STREAM_LAB_ACCEL must be kvm or tcg")
        return forced
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    with open("/proc/sys/kernel/random/boot_id") as boot:
        result = kernel.cache_root() / f"accel-{boot.read().strip()}"
    if not result.exists():
        with kernel.locked("accel"):
            if not result.exists():
                result.write_text(_probe(folder, initramfs, board))
    return result.read_text()


def options(accel, icount, cpus):
    """Returns QEMU's options for the accelerator. ERMS and FSRM are disabled in the emulator, because it
    executes string instructions byte by byte."""
    if accel == "kvm" and not icount:
        return ["-accel", "kvm", "-cpu", "host", "-smp", str(cpus)]
    return [*emulator(icount), "-cpu", "max,erms=off,fsrm=off", "-smp", str(cpus)]


def emulator(icount):
    return ["-icount", "shift=0,sleep=off", "-accel", "tcg"] if icount else ["-accel", "tcg,thread=multi"]


def _probe(folder, initramfs, board):
    archive = Archive()
    archive.file("probe", b"")
    with guest.initrd(initramfs, archive) as initrd:
        command = ["qemu-system-x86_64", *options("kvm", False, 2), *board, "-m", "512",
                   "-kernel", str(folder / "vmlinuz"), "-initrd", initrd, "-append", "console=ttyS0 panic=-1",
                   "-serial", "stdio"]
        try:
            result = subprocess.run(command, capture_output=True, timeout=PROBE_TIME, check=False,
                                    stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "tcg"
    return "kvm" if b"probe ok" in result.stdout else "tcg"
