# SPDX-License-Identifier: MIT
"""The command `iio-stream` of a wheel: the program that lies beside this file."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    """Become the program, with the words that Python was given."""
    program = pathlib.Path(__file__).parent / "iio-stream"
    try:
        os.execv(program, ["iio-stream", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"iio-stream: cannot run {program}: {error.strerror}")
