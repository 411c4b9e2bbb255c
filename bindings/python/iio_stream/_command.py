# SPDX-License-Identifier: MIT
"""The command `iio-stream` of a wheel: runs the program next to this file."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    """Becomes the program, with the arguments Python was given."""
    program = pathlib.Path(__file__).parent / "iio-stream"
    try:
        os.execv(program, ["iio-stream", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"iio-stream: cannot run {program}: {error.strerror}")
