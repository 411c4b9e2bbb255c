# SPDX-License-Identifier: MIT
"""Lets tests wait for a condition with a deadline, never for a fixed time."""
import time


def until(condition, what="the condition", seconds=60):
    """Calls the condition until its result is true, and returns that result. Fails after `seconds`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"timed out after {seconds} s: {what}"
        time.sleep(0.02)
    return found
