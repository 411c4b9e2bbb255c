# SPDX-License-Identifier: MIT
"""Samples from Linux IIO devices as NumPy arrays on the DMA's own pages.

>>> import iio_stream as ios
>>> with ios.source("sim:", rate=0, samples=4) as rx:
...     for block in rx:
...         print(block.sample_index, block.array.tolist())
0 [[0, 0], [0, 0], [1, 0], [0, 0]]
"""
from ._core import Block, EmptyBlock, Gap, Time, schemes
from ._core import version as __version__
from ._errors import DeviceError, Error, LostSamplesError, PoolExhausted, StorageError, UsageError
from ._format import Channel, Format
from ._options import uri
from .commands import Recovery, Verdict, bench, check, play, record, recover, stream, verify
from .devices import Attribute, Buffer, Check, Device, Probe, ProbeRow, attr, device, devices, doctor, probe
from .reader import Reader, source
from .session import Pipeline, Session
from .stats import GapTotals, Hop, Playback, Route, SinkStats, Stats
from .summary import Latency, Summary
from .worker import Worker
from .writer import Writer, sink

__all__ = [
    "Attribute", "Block", "Buffer", "Channel", "Check", "Device", "DeviceError", "EmptyBlock", "Error",
    "Format", "Gap", "GapTotals", "Hop", "Latency", "LostSamplesError", "Pipeline", "Playback",
    "PoolExhausted", "Probe", "ProbeRow", "Reader", "Recovery", "Route", "Session", "SinkStats", "Stats",
    "StorageError", "Summary", "Time", "UsageError", "Verdict", "Worker", "Writer", "__version__", "attr",
    "bench", "check", "device", "devices", "doctor", "play", "probe", "record", "recover", "schemes",
    "sink", "source", "stream", "uri", "verify",
]
