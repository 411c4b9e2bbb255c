# SPDX-License-Identifier: MIT
"""Writes samples to a device or a file."""
from __future__ import annotations

import contextlib
import operator
import os
import warnings
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _options
from ._core import Block, EmptyBlock
from ._errors import Error, fresh
from ._format import Format
from ._options import Duration, Endpoint, Rate, Size
from ._stream import Stream
from .options import documented
from .summary import Summary


@documented("sink")
def sink(endpoint: Endpoint | Iterable[Endpoint], /, *, format: str | Format | None = None,
         sample_rate: Rate | None = None, block_size: Size | None = None, blocks: Size | None = None,
         timeout: Duration | None = None, **options: Any) -> Writer:
    """Opens a sink for samples. ``endpoint`` is ``"iio:DEVICE"``, a path or ``"zmq:ADDRESS"``, or a list of
    several sinks, as returned by uri(), which all get the same blocks.

    ``format`` is the format of the samples that you will write: the name of a SigMF datatype, scan types, or
    a Format (for more channels than one pair: ``Format.parse("ci16_le", 4)``). By default it is the format
    that the suffix of a file declares (``x.cf32``), unless ``convert`` is given, and otherwise ``"ci16_le"``.
    ``sample_rate`` is their rate in samples per second. ``block_size`` is in bytes. Other keywords are
    options of the sink: ``cyclic=True``, ``overwrite=True``, ``convert="ci16_le"``; ``frequency`` tunes a
    radio, and is written into a recording.

    >>> import numpy as np
    >>> with sink("null:", format="cf32_le", sample_rate="1M") as tx:
    ...     tx.write(np.zeros(1000, np.complex64))
    1000
    >>> tx.summary.stats.samples
    1000

    Raises Error.
    """
    return Writer(_core.Writer(*_words(endpoint, format=format, sample_rate=sample_rate,
                                       block_size=block_size, blocks=blocks, timeout=timeout, **options)))


def _words(endpoint: Endpoint | Iterable[Endpoint], /, *, format: str | Format | None = None,
           sample_rate: Rate | None = None, block_size: Size | None = None, blocks: Size | None = None,
           timeout: Duration | None = None, **options: Any) -> tuple[dict[str, Any], str, str, float]:
    """Converts the arguments of sink() and Session.add_writer() for the extension."""
    if isinstance(endpoint, (str, os.PathLike)):
        endpoint = _options.uri(endpoint, **options)
    elif options:
        raise _options.usage("options next to several sinks do not belong to any of them",
                             "uri() adds them to one")
    sinks = _options.uris(endpoint)
    if format is None:
        format = _format_of(sinks)
    if isinstance(format, str):
        format = Format.parse(format)
    elif not isinstance(format, Format):
        raise TypeError(f"format is the name of a SigMF datatype or a Format, not of type "
                        f"{type(format).__name__}")
    rate = 0.0 if sample_rate is None else _options.rate("sample_rate", sample_rate)
    words = _options.config("", sinks, block_size=block_size, blocks=blocks, timeout=timeout)
    return words, format.name, ",".join(channel.id for channel in format.channels), rate


def _format_of(sinks: Iterable[str]) -> str:
    """Returns the format that the names of the files among the sinks declare. If they declare none, or more
    than one, returns the default."""
    declared = {_core.format_of_sink(one) for one in sinks} - {""}
    return declared.pop() if len(declared) == 1 else "ci16_le"


class Writer(Stream[_core.Writer]):
    """Moves samples to sinks; created by ``sink()`` or ``Session.add_writer()``. The stream starts with the
    first block written or taken, or with ``start()``. Leaving the ``with`` block, even by an exception, waits
    until all samples have reached their destination. A Writer that the program does not close is closed when
    the program ends, with a ResourceWarning. Any number of threads may use a Writer; they take turns."""

    def __init__(self, core: _core.Writer) -> None:
        if not isinstance(core, _core.Writer):
            raise TypeError("use sink() to create a Writer")
        super().__init__(core)

    def write(self, samples: Any, timeout: Duration | None = None) -> int:
        """Copies samples into blocks, which are sent when full. Returns the number of samples for which there
        was room within ``timeout`` (in seconds or as text; default: no limit).

        ``samples`` is an array of the format's dtype, of shape (samples, channels) or flat. For a complex
        float format it can also be a complex array of shape (samples, pairs) or flat. It can also be bytes, a
        Block, or any object with a buffer. Raises TypeError for another dtype, ValueError for another shape,
        the Error that ended the stream, and PoolExhausted.
        """
        return self._core.write(self._plain(samples), _options.seconds("timeout", timeout))

    def take(self, timeout: Duration | None = None) -> EmptyBlock | None:
        """Returns an empty block. Fill its ``array``, which is the device's own memory, and ``put()`` it.
        Returns None if no block became free within ``timeout`` (in seconds or as text; default: no limit), or
        if the stream has ended. Raises like write()."""
        return self._core.take(_options.seconds("timeout", timeout))

    def put(self, block: EmptyBlock, samples: int | None = None) -> None:
        """Sends the first ``samples`` samples of a block (default: all) to the sinks. The program cannot use
        the block any more. Raises BufferError while views of it are alive."""
        if not isinstance(block, EmptyBlock):
            raise TypeError(f"put() takes a block from take(), not {type(block).__name__}")
        if samples is not None and (samples := operator.index(samples)) < 0:
            raise ValueError(f"{samples} samples in a block of {len(block)}")
        self._core.put(block, samples)

    def flush(self) -> None:
        """Sends the block that write() has partly filled."""
        self._core.flush()

    def end(self) -> None:
        """Declares that no more samples will be written. A device with ``cyclic=True`` then repeats its
        samples until ``stop()`` or ``close()``."""
        self._core.end()

    def close(self) -> Summary:
        """Waits until all samples written have reached their destination, releases devices and files, and
        returns the summary. After ``stop()`` it does not wait for samples. Raises the Error that ended the
        stream. Several threads may call it at the same time, with the same result. On a closed Writer it
        returns the summary."""
        if self.closed and self._summary is not None:
            return self._summary
        summary = self._close(False)
        if summary.error is not None:
            raise fresh(summary.error)
        return summary

    def _plain(self, samples: Any) -> Any:
        """Returns the samples as bytes. Raises TypeError or ValueError if they do not match the format."""
        array = _array_of(samples)
        if array is None:
            return samples
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError("the array is masked: set the missing values with filled()")
        values = len(self._format.channels) if self._format.is_uniform else 1
        dtype = self._format.dtype
        if np.iscomplexobj(array) and self._format.is_complex and dtype.kind == "f":
            _check_shape(array, values // 2, "I/Q pair")
            pair = np.dtype(f"c{2 * dtype.itemsize}")
            array = np.ascontiguousarray(array, dtype=pair).view(pair.type(0).real.dtype)
            return array.astype(dtype, copy=False).reshape(-1).view(np.uint8)
        if array.dtype != dtype:
            raise TypeError(f"an array of {array.dtype}, but the stream is {self._format.name}: {dtype}"
                            + _way_for_floats(array, self._format))
        _check_shape(array, values, "channel")
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if type is None and not self.closed:
            self.close()
        elif not self.closed:  # keep the samples written, as a file would
            with contextlib.suppress(Error):
                self._close(False)
        self._drop()

    def _left_open(self) -> None:
        """Called when the program ends: warns, and keeps the samples written."""
        warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2)
        with contextlib.suppress(Error):
            self._close(False)


def _array_of(samples: Any) -> npt.NDArray[Any] | None:
    """Returns ``samples`` as an array, or None if they are plain bytes."""
    if isinstance(samples, Block):
        return samples.array
    if isinstance(samples, np.ndarray):
        return samples
    if hasattr(samples, "__array__") or hasattr(samples, "__array_interface__"):
        return np.asarray(samples)
    try:
        view = memoryview(samples)
    except TypeError:
        raise TypeError(f"write() takes an array, bytes or a Block, not {type(samples).__name__}") from None
    return None if view.ndim == 1 and view.format in ("B", "b", "c") else np.asarray(view)


def _way_for_floats(array: npt.NDArray[Any], format: Format) -> str:
    """Returns a hint for an array of floats if the samples are integers; otherwise an empty text."""
    is_complex = np.iscomplexobj(array)
    if array.dtype.kind not in "fc" or not format.is_uniform or format.dtype.kind not in "iu":
        return ""
    if is_complex and not format.is_complex:
        return "; its channels are real: write an array of real numbers"
    name = "cf32_le" if format.is_complex else "rf32_le"
    count = len(format.channels)
    made = repr(name) if count == 1 + format.is_complex else f"Format.parse({name!r}, {count})"
    way = f"; sink(…, format={made}, convert={format.name!r}) takes floats with full scale 1.0"
    if is_complex:
        return way
    narrow = "" if array.dtype == np.float32 else ", as float32"
    return f"{way}{narrow}; .round().astype({format.dtype.name!r}) keeps the numbers"


def _check_shape(array: npt.NDArray[Any], each: int, what: str) -> None:
    """Raises ValueError unless the array is flat or has one row for each sample."""
    if array.ndim == 1 and array.shape[0] % each == 0 or array.ndim == 2 and array.shape[1] == each:
        return
    row = f"(samples, {each})" + (", (samples,)" if each == 1 else ", or flat, a whole number of samples")
    turned = ": write its .T" if array.ndim == 2 and array.shape[0] == each else ""
    raise ValueError(f"an array of shape {array.shape}, but a sample has {each} {what}{'s' * (each > 1)} "
                     f"and the shape is {row}{turned}")
