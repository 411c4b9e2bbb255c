# SPDX-License-Identifier: MIT
"""Samples from Linux IIO devices as NumPy arrays on the DMA's own pages.

>>> import iio_stream as ios
>>> with ios.source("sim:", rate=0, samples=4) as rx:
...     for block in rx:
...         print(block.sample_index, block.array.tolist())
0 [[0, 0], [0, 0], [1, 0], [0, 0]]
"""
from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from . import _block, gadget  # noqa: F401 (blocks get their methods)
from ._core import Block, EmptyBlock, Gap, Time
from ._core import version as __version__
from ._errors import DeviceError, Error, LostSamplesError, PoolExhausted, StorageError, UsageError
from ._format import Channel, Format
from ._options import schemes, uri
from .commands import IoRow, Recovery, Verdict, bench, bench_io, check, play, record, recover, stream, verify
from .devices import (
    Attribute,
    Buffer,
    Check,
    Device,
    DeviceInfo,
    Probe,
    ProbeRow,
    Tuning,
    attr,
    device,
    devices,
    doctor,
    probe,
    tune,
)
from .options import Option, options
from .reader import Reader, Worker, source
from .recording import Annotation, Capture, RecordedGap, Recording, open_recording
from .samples import Samples
from .session import Interrupted, Pipeline, Session
from .stats import GapTotals, Hop, Playback, Route, SinkStats, Stats
from .summary import Latency, Summary
from .writer import Writer, sink

__all__ = [
    "Annotation", "Attribute", "Block", "Buffer", "Capture", "Channel", "Check", "Device", "DeviceError",
    "DeviceInfo", "EmptyBlock", "Error", "Format", "Gap", "GapTotals", "Hop", "Interrupted", "IoRow",
    "Latency", "LostSamplesError", "Option", "Pipeline", "Playback", "PoolExhausted", "Probe", "ProbeRow",
    "Reader", "RecordedGap", "Recording", "Recovery", "Route", "Samples", "Session", "SinkStats", "Stats",
    "StorageError", "Summary", "Time", "Tuning", "UsageError", "Verdict", "Worker", "Writer",
    "__version__", "attr", "bench", "bench_io", "check", "device", "devices", "doctor", "gadget",
    "open_recording", "options", "play", "probe", "record", "recover", "schemes", "sink", "source",
    "stream", "tune", "uri", "verify",
]

if TYPE_CHECKING:
    from . import archive as archive
    from . import view as view

#: Modules that are imported on first access, and the packages that each of them needs.
_ON_ACCESS = {"archive": ("dask", "fsspec"), "view": ()}


def __getattr__(name: str) -> Any:
    if name in _ON_ACCESS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the public names. A module whose packages are missing is left out, because help() gets every
    name."""
    modules = [name for name, needed in _ON_ACCESS.items() if all(map(importlib.util.find_spec, needed))]
    return sorted([*__all__, *modules])
