# SPDX-License-Identifier: MIT
"""Samples to a device or a file."""
from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import numpy as np

from . import _core, _options
from ._core import Block, EmptyBlock
from ._errors import fresh
from ._format import Format
from ._options import Duration, Endpoint, Rate, Size
from ._stream import Stream
from .summary import Summary


def sink(endpoint: Endpoint | Iterable[Endpoint], /, *, format: str | Format = "ci16_le",
         sample_rate: Rate | None = None, block_size: Size | None = None, blocks: Size | None = None,
         timeout: Duration | None = None, **options: Any) -> Writer:
    """Opens a sink for samples, ``"iio:DEVICE"``, a path, ``"zmq:ADDRESS"``; or several, each as uri()
    gives it, which get the same blocks.

    ``format`` is what will be written: SigMF's name, scan types, or a Format (of more channels than one
    pair: ``Format.parse("ci16_le", 4)``); ``sample_rate`` its samples per second. Other keywords are the
    sink's options: ``frequency=``, ``cyclic=True``, ``overwrite=True``, ``convert="ci16_le"``.

    >>> import numpy as np
    >>> with sink("null:", format="cf32_le", sample_rate="1M") as tx:
    ...     tx.write(np.zeros(1000, np.complex64))
    1000
    >>> tx.summary.stats.samples
    1000

    Raises Error.
    """
    if isinstance(endpoint, (str, os.PathLike)):
        endpoint = _options.uri(endpoint, **options)
    elif options:
        raise _options.usage("options beside several sinks belong to none of them",
                             "uri() puts them to one")
    if isinstance(format, str):
        format = Format.parse(format)
    rate = 0.0 if sample_rate is None else _core.parse_rate("sample_rate", _options.word(sample_rate))
    words = _options.config("", _options.uris(endpoint), block_size=block_size, blocks=blocks,
                            timeout=timeout)
    return Writer(words, format, rate)


class Writer(Stream[_core.Writer]):
    """Takes samples to sinks; made by ``sink()``. The stream starts with the first that is written or
    taken, or with ``start()``; leaving the ``with`` block waits until all has reached its place."""

    def __init__(self, words: Any, format: Format, rate: float) -> None:
        channels = ",".join(channel.id for channel in format.channels)
        super().__init__(_core.Writer(dict(words), format.name, channels, rate))
        self._summary: Summary | None = None

    def write(self, samples: Any, timeout: Duration | None = None) -> int:
        """Copies samples into blocks, which go off as they are full; returns for how many samples there
        was room within ``timeout`` (default: as long as it takes).

        ``samples`` is an array of the format's dtype, (samples, channels) or flat; of a complex float
        format also complex; or bytes, a Block, anything with a buffer. Raises TypeError for an array of
        another dtype, the Error that ended the stream, PoolExhausted.
        """
        return self._core.write(self._plain(samples), _options.seconds("timeout", timeout))

    def take(self, timeout: Duration | None = None) -> EmptyBlock | None:
        """An empty block: fill its ``array``, the device's own memory, and ``put()`` it. None where none
        came back within ``timeout``, or where the stream has ended. Raises as write() does."""
        return self._core.take(_options.seconds("timeout", timeout))

    def put(self, block: EmptyBlock, samples: int | None = None) -> None:
        """The first ``samples`` of a block (default: all) are off to the sinks; the block is gone with
        them. Raises BufferError while views of it are alive."""
        self._core.put(block, samples)

    def flush(self) -> None:
        """Sends what write() has begun to fill a block with."""
        self._core.flush()

    def end(self) -> None:
        """Nothing more will be written: a device with ``cyclic=True`` repeats what it has, until
        ``stop()`` or ``finish()``."""
        self._core.end()

    def finish(self) -> Summary:
        """Waits until all has reached its place; raises the Error that ended the stream."""
        self._summary = Summary._from(*self._core.finish())
        if self._summary.error is not None:
            raise fresh(self._summary.error)
        return self._summary

    @property
    def summary(self) -> Summary | None:
        """All that is known of the stream, after finish() or the ``with`` block."""
        return self._summary

    def _plain(self, samples: Any) -> Any:
        if isinstance(samples, Block):
            samples = samples.array
        if not isinstance(samples, np.ndarray):
            return samples
        if np.iscomplexobj(samples) and self._format.is_complex and self._format.dtype.kind == "f":
            pair = np.dtype(f"c{2 * self._format.dtype.itemsize}")
            samples = np.ascontiguousarray(samples, dtype=pair).view(pair.type(0).real.dtype)
            samples = samples.astype(self._format.dtype, copy=False)
        if samples.dtype != self._format.dtype:
            raise TypeError(f"an array of {samples.dtype}, where the stream is {self._format.name}: "
                            f"{self._format.dtype}")
        return np.ascontiguousarray(samples).reshape(-1).view(np.uint8)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            if type is None and not self.closed and self._summary is None:
                self.finish()
        finally:
            self.close()
