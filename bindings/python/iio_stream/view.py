# SPDX-License-Identifier: MIT
"""Draws pictures of samples: spectrum, waterfall and constellation of a recording or of a live source.
The command `iio-stream view` runs this module for PNG files and windows.

>>> seen = look("sim:", pattern="tone", rate="1M", frequency=125_000, duration="20ms")
>>> "{:.0f} Hz, {:.2f} dBFS".format(*seen.peak)
'125000 Hz, -6.00 dBFS'
"""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from . import _options
from ._errors import Error
from ._options import Duration, Endpoint, Rate, Size
from ._printable import Parser, printable
from .reader import source
from .view_analysis import Analysis, View
from .view_measurement import SeenGap
from .view_signal import signal_of

__all__ = ["SeenGap", "View", "look", "main"]


def look(endpoint: Endpoint, /, *, channel: str | None = None, bins: int = 1024, rows: int = 256,
         centre: Rate | None = None, samples: Size | None = None, duration: Duration | None = None,
         block_size: Size | None = None, blocks: Size | None = None, **options: Any) -> View:
    """Analyzes all samples of a recording, or ``samples`` samples or a ``duration`` of any source (default
    for a live source: 1 s), and returns the result. Other keywords are options of the source, as in
    ``source()``.

    ``channel`` is a channel of an I/Q pair or a real one (default: the first). Spectra have ``bins`` points,
    and the waterfall has at most twice ``rows`` rows. ``centre`` is the frequency in Hz that corresponds to
    0 Hz of the samples. By default it is the frequency of the recording, or the one to which the source's
    radio is tuned.

    Raises Error like ``source()``, and the Error that ended the stream.
    """
    address = _options.uri(endpoint, **options)
    if samples is None and duration is None and not address.startswith("file:"):
        duration = "1s"
    limits = {"samples": samples, "duration": duration, "block_size": block_size, "blocks": blocks}
    with source(address, **limits) as rx:  # type: ignore[arg-type]
        seen = Analysis(signal_of(rx, channel, bins, centre), rows)
        for block in rx:
            seen.add(block)
    return seen.view(address)


def main(words: Sequence[str] | None = None) -> int:
    """Draws the picture for `iio-stream view`, and returns the exit status."""
    parser = Parser(
        prog="iio-stream view", description="Spectrum, waterfall and constellation of samples.")
    parser.add_argument("source", help="a recording, or an endpoint such as iio:DEVICE, sim:, zmq:ADDRESS")
    parser.add_argument("options", nargs="*", metavar="KEY=VALUE",
                        help="options of the source: format=ci16_le")
    parser.add_argument("-o", "--output", metavar="FILE.png", help="file for the picture")
    parser.add_argument("--window", action="store_true", help="show the picture in a window")
    parser.add_argument("--samples", help="number of samples to show (64k)")
    parser.add_argument("--duration", help="time to show (200ms); default for a live source: 1s")
    parser.add_argument("--channel", help="a channel of an I/Q pair, or a real one (default: the first)")
    parser.add_argument("--bins", type=int, help="points of a spectrum (1024)")
    parser.add_argument("--centre", "--center", help="frequency at 0 Hz of the samples (2.4G)")
    told = parser.parse_args(words)
    if told.window == (told.output is not None):
        parser.error("give either -o FILE.png or --window")
    if told.output and not told.output.lower().endswith(".png"):
        parser.error(f"-o {told.output}: pictures are PNG files: NAME.png")
    folder = os.path.dirname(told.output or "")
    if folder and not os.path.isdir(folder):
        parser.error(f"-o {told.output}: there is no folder {folder}")
    wrong = [word for word in told.options if not word.partition("=")[1]]
    if wrong:
        parser.error(f"'{wrong[0]}' is not an option of {told.source}: KEY=VALUE")
    options: dict[str, Any] = dict(word.split("=", 1) for word in told.options)
    limits = {key: getattr(told, key) for key in ("samples", "duration", "channel", "bins", "centre")}
    limits = {key: value for key, value in limits.items() if value is not None}
    try:
        from . import view_picture  # before streaming, because matplotlib may be missing
        seen = look(told.source, **limits, **options)
        if told.window:
            view_picture.show(seen)
        else:
            view_picture.save(seen, told.output)
    except (Error, ImportError, OSError) as error:
        print(f"iio-stream: view: {printable(str(error))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
