# SPDX-License-Identifier: MIT
"""Pictures of samples: spectrum, waterfall and constellation of a recording or of a live source.

    python -m iio_stream.view capture.sigmf-meta -o capture.png
    python -m iio_stream.view iio:cf-ad9361-lpc frequency=2.4G --duration 200ms -o air.png
    python -m iio_stream.view sim: pattern=tone rate=1M --live

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
    """Looks at all samples of a recording, or at ``samples`` or ``duration`` of any source (1 s of a live
    one, where neither is said); other keywords are the source's options, as of ``source()``.

    ``channel`` is one of an I/Q pair or a real one (default: the first); spectra have ``bins`` points and
    the waterfall at most twice ``rows``. ``centre`` is the frequency in Hz that 0 Hz of the samples was;
    by itself that of the recording, or what the source's radio is tuned to.

    Raises Error, as ``source()`` does, and what ends the stream.
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
    """The command; returns its exit status."""
    parser = Parser(
        prog="python -m iio_stream.view", description="Spectrum, waterfall and constellation of samples.")
    parser.add_argument("source", help="a recording, or an endpoint such as iio:DEVICE, sim:, zmq:ADDRESS")
    parser.add_argument("options", nargs="*", metavar="KEY=VALUE", help="its options: format=ci16_le")
    parser.add_argument("-o", "--output", metavar="FILE.png", help="where the picture goes")
    parser.add_argument("--live", action="store_true", help="the spectrum in this terminal, until Ctrl-C")
    parser.add_argument("--samples", help="number of samples to show (64k)")
    parser.add_argument("--duration", help="time to show (200ms); of a live source 1s by default")
    parser.add_argument("--channel", help="one of an I/Q pair, or a real one; default the first")
    parser.add_argument("--bins", type=int, help="points of a spectrum (1024)")
    parser.add_argument("--centre", "--center", help="frequency that 0 Hz of the samples was (2.4G)")
    told = parser.parse_args(words)
    if told.live == (told.output is not None):
        parser.error("one of -o FILE.png and --live is needed")
    if told.output and not told.output.lower().endswith(".png"):
        parser.error(f"-o {told.output}: pictures are PNG: NAME.png")
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
        if told.live:
            from .view_live import watch
            watch(told.source, **limits, **options)
        else:
            from . import view_picture  # before the samples come: it may be missing
            view_picture.save(look(told.source, **limits, **options), told.output)
    except (Error, ImportError, OSError) as error:
        print(f"iio_stream.view: {printable(str(error))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
