# SPDX-License-Identifier: MIT
"""Samples from Linux IIO devices as NumPy arrays on the DMA's own pages.

>>> import iio_stream as ios
>>> with ios.source("sim:", rate=0, samples=4) as rx:
...     for block in rx:
...         print(block.sample_index, block.array.tolist())
0 [[0, 0], [0, 0], [1, 0], [0, 0]]
"""
from ._core import Block, Gap, Time, schemes
from ._core import version as __version__
from ._errors import DeviceError, Error, LostSamplesError, PoolExhausted, StorageError, UsageError
from ._format import Channel, Format
from ._options import uri
from .reader import Reader, source
from .stats import GapTotals, Hop, Playback, Route, SinkStats, Stats

__all__ = [
    "Block", "Channel", "DeviceError", "Error", "Format", "Gap", "GapTotals", "Hop", "LostSamplesError",
    "Playback", "PoolExhausted", "Reader", "Route", "SinkStats", "Stats", "StorageError", "Time",
    "UsageError", "__version__", "schemes", "source", "uri",
]
