# SPDX-License-Identifier: MIT
"""Finds the fewest settings with which a scenario still fails in the same way."""
import copy
import time

import archives
import oracle

NEEDED = {"knobs", "store", "source", "format", "samples", "sinks", "kind", "original", "recorded", "core:datatype",
          "core:version", "core:num_channels", "core:sample_start", "core:offset", "core:freq_lower_edge",
          "core:freq_upper_edge"}
OF_PIPE = {"end", "stop_at"}
PAIRS = [("drop", "drop_at"), ("stall_for", "stall_at")]
TROUBLE = {"slow_ms", "slow_write", "slow_calls", "at_part", "after_ms", "call", "error", "when", "bytes", "system"}
TRIES, SECONDS = 60, 60


def kinds(found):
    return {text.split(":")[0] for text in found}


def smaller(made):
    """Yields every scenario with one setting fewer, or with a smaller number."""
    holders = [[], *(["sinks", n] for n in range(len(made["sinks"]))), *([["trouble"]] if "trouble" in made else []),
               *([["open"]] if "open" in made else []), *([["original", "global"]] if "original" in made else []),
               *([["recorded"]] if "recorded" in made else [])]
    for n in range(len(made["sinks"]) if len(made["sinks"]) > 1 else 0):
        less = copy.deepcopy(made)
        del less["sinks"][n]
        yield less
    for path in holders:
        for key in list(_at(made, path)):
            if key in ("channels", "pattern") and made["source"] in ("iio", "recording"):
                continue  # the device or the recording determines them
            if path == ["open"] and key in OF_PIPE:
                continue
            if key not in NEEDED and not (path == ["trouble"] and key in TROUBLE):
                less = copy.deepcopy(made)
                held = _at(less, path)
                del held[key]
                for first, second in PAIRS:
                    if key in (first, second):
                        held.pop(first, None)
                        held.pop(second, None)
                yield less
    yield from _less_metadata(made)
    yield from archives.smaller(made)
    if made["samples"] > 1 and "trouble" not in made and made["source"] != "recording" and "open" not in made:
        for fewer in (made["samples"] // 10, made["samples"] // 2):
            yield {**copy.deepcopy(made), "samples": max(1, fewer)}
    for key in made.get("knobs", {}):
        if key != "rate":
            yield {**copy.deepcopy(made), "knobs": {k: v for k, v in made["knobs"].items() if k != key}}
    for n in range(len(made.get("clock", ())) if len(made.get("clock", ())) > 1 else 0):
        yield {**made, "clock": made["clock"][:n] + made["clock"][n + 1:]}
    if made["source"] != "recording" and made["format"] != "ci16_le" and \
            not any("convert" in s or "suffix" in s for s in made["sinks"]):
        yield {**copy.deepcopy(made), "format": "ci16_le"}


def _less_metadata(made):
    """Yields every scenario whose original lacks one capture, one annotation or one of their keys."""
    metadata = made.get("original", {})
    for name in ("captures", "annotations") if metadata else ():
        for n, one in enumerate(metadata[name]):
            if name == "annotations" or one != min(metadata[name], key=lambda one: one["core:sample_start"]):
                less = copy.deepcopy(made)
                del less["original"][name][n]
                yield less
            for key in sorted(one.keys() - NEEDED):
                less = copy.deepcopy(made)
                del less["original"][name][n][key]
                yield less


def _at(made, path):
    for key in path:
        made = made[key]
    return made


def fails(made, wanted, times=1):
    for _ in range(times):
        found, out = oracle.judge(made)
        if kinds(found) & wanted:
            return found, out
    return None


def shrink(made, found):
    """Returns the smallest scenario found, its findings, its outcome, and whether it failed again at all."""
    wanted = kinds(found)
    best = fails(made, wanted, 3)
    if not best:
        return made, found, None, False
    tries, again, begun = 0, True, time.monotonic()
    while again and tries < TRIES:
        again = False
        for less in smaller(made):
            tries += 1
            if tries > TRIES or time.monotonic() - begun > SECONDS:
                tries = TRIES
                break
            if result := fails(less, wanted):
                made, best, again = less, result, True
                break
    return made, *best, True
