# SPDX-License-Identifier: MIT
"""Pictures of archives: python -m iio_stream.archive spectrum s3://BUCKET/PREFIX -o week.png"""
from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Sequence
from typing import Any

from .._errors import Error
from .._printable import Parser, printable


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    told = _arguments(words)
    chosen = {key: getattr(told, key) for key in ("name", "device") if getattr(told, key)}
    chosen |= {key: tuple(values) if len(values := getattr(told, key)) > 1 else values[0]
               for key in ("time", "frequency") if getattr(told, key)}
    try:
        from . import index, picture
        found = index.open(told.url, on_damage=told.on_damage, indexed=told.indexed)
        for error in found.damaged:
            print(f"iio_stream.archive: left out: {error}", file=sys.stderr)
        if found.unfinished:
            print(f"iio_stream.archive: left out: {len(found.unfinished)} unfinished parts", file=sys.stderr)
        picture.save(found.select(**chosen), told.output, lambda arrays: _computed(told.scheduler, arrays),
                     rows=told.rows, bins=told.bins, channel=told.channel)
    except (Error, ImportError, OSError) as error:
        print(f"iio_stream.archive: {printable(str(error))}", file=sys.stderr)
        return 1
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m iio_stream.archive",
                    description="Recordings in folders and object storage.")
    spectrum = parser.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "spectrum", help="draws a waterfall of all samples, with the gaps")
    spectrum.add_argument("url", help="a folder, or s3://BUCKET/PREFIX")
    spectrum.add_argument("-o", "--output", metavar="FILE.png", required=True,
                          help="file for the picture")
    spectrum.add_argument("--time", nargs=2, metavar=("FROM", "TO"), help="UTC: 2026-11-26T23:00")
    spectrum.add_argument("--frequency", nargs="+", metavar="HZ",
                          help="recorded frequency: one value, or the lowest and the highest")
    spectrum.add_argument("--device", help="pattern of the device's name (AD936*)")
    spectrum.add_argument("--name", help="pattern of the recording's name")
    spectrum.add_argument("--channel", help="a channel of an I/Q pair, or a real one (default: the first)")
    spectrum.add_argument("--rows", type=int, default=512, help="rows of the picture (512)")
    spectrum.add_argument("--bins", type=int, default=1024, help="points of a spectrum (1024)")
    spectrum.add_argument("--scheduler", metavar="ADDRESS",
                          help="address of a Dask cluster (default: this machine)")
    spectrum.add_argument("--on-damage", choices=("stop", "leave-out"), default="stop",
                          help="what to do about damaged parts (stop)")
    spectrum.add_argument("--indexed", action="store_true",
                          help="find recordings by the index that `iio-stream archive index` writes")
    return parser.parse_args(words)


def _computed(address: str | None, arrays: list[Any]) -> list[Any]:
    """Computes Dask arrays on the cluster at ``address``, or on a local one if it is None. Shows a progress
    bar if stderr is a terminal."""
    import numpy as np
    from distributed import Client, LocalCluster, as_completed
    with contextlib.ExitStack() as stack:
        cluster = address or stack.enter_context(
            LocalCluster(dashboard_address=None, silence_logs=logging.CRITICAL))
        client = stack.enter_context(Client(cluster))
        tasks = [client.compute(list(array.to_delayed().ravel())) for array in arrays]
        every = [future for futures in tasks for future in futures]
        for done, future in enumerate(as_completed(every), 1):
            future.result()  # raises the error of a failed task
            if sys.stderr.isatty():
                width, end = 40 * done // len(every), "\n" if done == len(every) else ""
                print(f"\r[{'#' * width:40}] {done}/{len(every)}", end=end, file=sys.stderr, flush=True)
        return [np.concatenate(client.gather(futures)) for futures in tasks]


if __name__ == "__main__":
    sys.exit(main())
