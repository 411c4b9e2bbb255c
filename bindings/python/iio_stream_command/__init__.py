# SPDX-License-Identifier: MIT
"""The command `iio-stream` of a wheel, apart from the package: importing NumPy takes a third of a second."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path


def _programs() -> Iterator[Path]:
    """Where it may be: in the wheel, and for an installed library in the PATH."""
    yield Path(__file__).parents[1] / "iio_stream" / "iio-stream"
    from importlib.metadata import distributions  # slow, and of use to an editable installation alone

    for distribution in distributions(name="iio-stream"):
        for file in distribution.files or []:
            if file.parts[-2:] == ("iio_stream", "iio-stream"):
                yield Path(str(file.locate()))
    for folder in os.get_exec_path():
        yield Path(folder) / "iio-stream"


def _is_program(path: Path) -> bool:
    """A launcher, this one or another environment's, would search again."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def main() -> None:
    """Becomes the program, with the arguments Python was given."""
    program = next(filter(_is_program, _programs()), None)
    if program is None:
        sys.exit("iio-stream: this Python package is without the program, as one is that is linked with an "
                 "installed library, and the PATH has no other: add the library's own bin folder")
    try:
        os.execv(program, ["iio-stream", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"iio-stream: cannot run {program}: {error.strerror}")
