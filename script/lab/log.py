# SPDX-License-Identifier: MIT
"""Finds the lines of the guest's kernel log that make a run fail."""

import re

BAD = re.compile(
    r"\bBUG\b|\bWARNING:|\bOops\b|KFENCE: |general protection fault|Kernel panic|UBSAN:|"
    r"refcount_t:|list_(add|del) corruption|[Uu]nable to handle|INFO: task .* blocked|"
    r"rcu.*detected stalls|nobody cared|Call [Tt]race:|Internal error:|DMA-API:"
)
# Harmless lines that these kernels print at every boot under QEMU.
HARMLESS = re.compile(r"kfence: initialized|x86/.*BUG|Spectre|Debug warning: early ioremap")


# The kernel patches its code by means of a breakpoint. Without KVM, QEMU before 8.1 can execute this
# breakpoint after the patch is complete, and the kernel then reports an unexpected int3.
TRIPPED = re.compile(r"\bint3: 0000\b")


def emulator_tripped(lines):
    return any(TRIPPED.search(line) for line in lines)


def read(path):
    try:
        return path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []


def offences(lines):
    """Returns the lines that make a run fail, each with some lines that follow it."""
    shown = []
    last = -1
    for number, line in enumerate(lines):
        if BAD.search(line) and not HARMLESS.search(line):
            for near in range(max(last + 1, number), min(number + 25, len(lines))):
                shown.append(lines[near])
                last = near
    return shown
