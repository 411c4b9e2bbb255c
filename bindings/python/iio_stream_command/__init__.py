# SPDX-License-Identifier: MIT
"""The `iio-stream` command of a wheel. It is not part of the package, because importing the package would
import NumPy, which takes a third of a second."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path


def _programs() -> Iterator[Path]:
    """Yields the possible paths of the program: in the wheel, or for an installed library in the PATH."""
    yield Path(__file__).parents[1] / "iio_stream" / "iio-stream"
    from importlib.metadata import distributions  # slow, and needed only by an editable installation

    for distribution in distributions(name="iio-stream"):
        for file in distribution.files or []:
            if file.parts[-2:] == ("iio_stream", "iio-stream"):
                yield Path(str(file.locate()))
    for folder in os.get_exec_path():
        yield Path(folder) / "iio-stream"


def _is_program(path: Path) -> bool:
    """Returns whether a file is the ELF program. A launcher, such as this one, would search again."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def main() -> None:
    """Replaces this process with the program, with the same arguments."""
    program = next(filter(_is_program, _programs()), None)
    if program is None:
        sys.exit("iio-stream: this Python package does not contain the program, because it is linked with an "
                 "installed library, and there is none in the PATH: add the library's bin folder")
    try:
        os.execv(program, ["iio-stream", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"iio-stream: cannot run {program}: {error.strerror}")
