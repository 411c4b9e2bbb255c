# SPDX-License-Identifier: MIT
"""The guest's kernel log: what in it makes a run fail."""

import re

BAD = re.compile(
    r"\bBUG\b|\bWARNING:|\bOops\b|KFENCE: |general protection fault|Kernel panic|UBSAN:|"
    r"refcount_t:|list_(add|del) corruption|[Uu]nable to handle|INFO: task .* blocked|"
    r"rcu.*detected stalls|nobody cared|Call Trace:|DMA-API:"
)
# Said at every boot of these kernels under QEMU, and harmless.
HARMLESS = re.compile(r"kfence: initialized|x86/.*BUG|Spectre|Debug warning: early ioremap")


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
