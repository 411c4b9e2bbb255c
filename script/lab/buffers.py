# SPDX-License-Identifier: MIT
"""The option --buffers, which selects the DMA buffers of the guest's kernel."""

import re

import disk

OPTION = re.compile(r"legacy(?::(?P<mode>fixed|broken|single))?(?:,cma=(?P<cma>\w+))?")


def refusal(options):
    """Returns why these buffers are not available, or None."""
    if not options.buffers:
        return None
    match = OPTION.fullmatch(options.buffers)
    if not match:
        return f"--buffers {options.buffers}: expected legacy[:fixed|broken|single][,cma=SIZE]"
    if match["cma"] and disk.size_of(match["cma"]) is None:
        return f"--buffers {options.buffers}: {match['cma']!r} is not a size such as 8Mi"
    if options.kernel != "6.12":
        return f"--buffers {options.buffers}: only with --kernel 6.12"
    return None


def kind(options):
    """Returns the kind of buffers for which the modules are built."""
    return "legacy" if options.buffers else "kernel"


def parameters(options):
    """Returns the parameters of the module with the legacy blocks."""
    match = OPTION.fullmatch(options.buffers)
    if not match:
        return ""
    words = [f"mode={match['mode'] or 'fixed'}"]
    if match["cma"]:
        words.append(f"cma={disk.size_of(match['cma'])}")
    return " ".join(words)
