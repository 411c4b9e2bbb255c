# SPDX-License-Identifier: MIT
"""Opens archives of recordings in folders and object storage, for computations with Dask.

docs/archive.md is the tutorial. Needs ``pip install 'iio-stream[archive]'``.

>>> import tempfile
>>> import iio_stream as ios
>>> folder = tempfile.TemporaryDirectory()
>>> done = ios.record("sim:", folder.name + "/week", rate=0, samples=100_000, drop_at=50_000, drop=300,
...                   block_size="64Ki", file_options={"rotate_bytes": "128Ki"})
>>> [recording] = ios.archive.open(folder.name)
>>> recording.gaps
(Gap(index=50000, lost_min=300, lost_max=300, earliest=50000, evidence='counter'),)
>>> x = recording.to_dask()
>>> x.shape, x.dtype, int(x[:, 0].compute().count())
((100300, 1), dtype('complex64'), 100000)
>>> folder.cleanup()
"""
from __future__ import annotations

from typing import Any

from .arrays import Stretch
from .detection import Detection, detect
from .index import Archive, open
from .parts import Gap, Mark, Part, Run
from .products import Spectrogram, power, spectrogram
from .recordings import Recording

__all__ = ["Archive", "Client", "Detection", "Gap", "Mark", "Part", "Recording", "Run", "Spectrogram",
           "Stretch", "detect", "open", "power", "spectrogram"]


def __getattr__(name: str) -> Any:
    """Imports ``Client`` from Dask on first access, because that takes a second."""
    if name == "Client":
        from distributed import Client
        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
