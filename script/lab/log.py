# SPDX-License-Identifier: MIT
"""The guest's kernel log: what in it makes a run fail."""

import re

BAD = re.compile(
    r"\bBUG\b|\bWARNING:|\bOops\b|KFENCE: |general protection fault|Kernel panic|UBSAN:|"
    r"refcount_t:|list_(add|del) corruption|[Uu]nable to handle|INFO: task .* blocked|"
    r"rcu.*detected stalls|nobody cared|Call [Tt]race:|Internal error:|DMA-API:"
)
# Said at every boot of these kernels under QEMU, and harmless.
HARMLESS = re.compile(r"kfence: initialized|x86/.*BUG|Spectre|Debug warning: early ioremap")


# QEMU before 8.1 without KVM may run a breakpoint by which the kernel patches its own code, after
# the patch was complete; the kernel then knows nothing of it.
TRIPPED = re.compile(r"\bint3: 0000\b")


def emulator_tripped(lines):
    return any(TRIPPED.search(line) for line in lines)


def read(path):
    try:
        return path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []


def offences(lines):
    """The offending lines, each with a few that follow it."""
    shown = []
    last = -1
    for number, line in enumerate(lines):
        if BAD.search(line) and not HARMLESS.search(line):
            for near in range(max(last + 1, number), min(number + 25, len(lines))):
                shown.append(lines[near])
                last = near
    return shown
