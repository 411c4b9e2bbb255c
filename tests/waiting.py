# SPDX-License-Identifier: MIT
"""How tests wait: for a condition, with a deadline, never for a fixed time."""
import time


def until(condition, what="what was waited for", seconds=60):
    """What the condition returns once it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(0.02)
    return found
