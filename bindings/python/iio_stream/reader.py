# SPDX-License-Identifier: MIT
"""Reads blocks from a source, one by one or through a callback."""
from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _life, _options
from ._core import Block
from ._errors import PoolExhausted
from ._options import Duration, Endpoint, Size
from ._stream import Stream
from .devices import Tuning
from .options import documented
from .samples import Rest, Samples
from .summary import Summary


@documented("source")
def source(endpoint: Endpoint, /, *, sinks: Endpoint | Iterable[Endpoint] = (),
           block_size: Size | None = None, blocks: Size | None = None, samples: Size | None = None,
           bytes: Size | None = None, duration: Duration | None = None,
           timeout: Duration | None = None, on_gap: str = "mark",
           on_full: str = "block", **options: Any) -> Reader:
    """Opens a source of samples; iterate over the returned Reader to get its blocks.

    ``endpoint`` is ``"iio:DEVICE"``, ``"sim:"``, ``"zmq:ADDRESS"`` or the path of a recording. Other keywords
    are options of the endpoint (``channels=["voltage0_i"]``, ``frequency="2.4G"``, ``rate=1e6``). ``sinks``
    get the same blocks. ``block_size`` (bytes) and ``blocks`` set the memory in flight. ``samples``,
    ``bytes`` or ``duration`` limit the stream. ``timeout`` is the longest time that the source waits for a
    block. ``on_gap`` is ``"mark"``, ``"stop"`` or ``"zero-fill"``. With ``on_full="drop"``, blocks are
    dropped and counted while the program holds all memory; by default the device waits.

    >>> with source("sim:", rate=0, samples=1000) as rx:
    ...     print(sum(len(block) for block in rx), rx.format.name)
    1000 ci16_le

    Raises Error, for example UsageError for an unknown option, or DeviceError for a device that does not
    exist.
    """
    return Reader(_core.Reader(_words(endpoint, sinks=sinks, block_size=block_size, blocks=blocks,
                                      samples=samples, bytes=bytes, duration=duration, timeout=timeout,
                                      on_gap=on_gap, on_full=on_full, **options)))


def _words(endpoint: Endpoint, /, *, sinks: Endpoint | Iterable[Endpoint] = (),
           block_size: Size | None = None, blocks: Size | None = None, samples: Size | None = None,
           bytes: Size | None = None, duration: Duration | None = None, timeout: Duration | None = None,
           on_gap: str = "mark", on_full: str = "block", **options: Any) -> dict[str, Any]:
    """Converts the arguments of source() and Session.add_reader() for the extension."""
    return _options.config(_options.uri(endpoint, **options), _options.uris(sinks), block_size=block_size,
                           blocks=blocks, samples=samples, bytes=bytes, duration=duration, timeout=timeout,
                           on_gap=on_gap, on_full=on_full)


class Reader(Stream[_core.Reader]):
    """The blocks of a source, by iteration or ``next()``; created by ``source()`` or
    ``Session.add_reader()``.

    The stream is prepared at creation. It starts with the first block requested, or with ``start()``. A block
    is not refilled while the program keeps it. Several threads may read blocks.
    """

    def __init__(self, core: _core.Reader) -> None:
        if not isinstance(core, _core.Reader):
            raise TypeError("use source() to create a Reader")
        super().__init__(core)
        self._tuning = Tuning(**self._core.tuning)
        self._rest = Rest(self._core.next)

    @property
    def tuning(self) -> Tuning:
        """The settings of the radio when the stream was prepared; for a recording, the settings with which it
        was made."""
        return self._tuning

    def start(self) -> None:
        """Starts the stream now rather than with the first block, or restarts a stream that has ended. In a
        Session, this starts all streams of the session. Raises Error."""
        self._rest.clear()
        super().start()

    def close(self) -> Summary:
        """Ends the stream, waits until every endpoint is closed, and returns the summary. The error that
        ended the stream is not raised; it is in the summary. Blocks and views that the program holds stay
        valid. Several threads may call close(), even while others wait in next(); each of them gets the
        summary."""
        self._rest.end()
        return self._close(True)

    def next(self, timeout: Duration | None = None) -> Block | None:
        """Returns the next block, or None if none arrived within ``timeout`` (in seconds or as text; default:
        no limit) or if the stream has ended; ``ended`` distinguishes the two. A loop over the reader stops at
        the end. Raises the Error that ended the stream, and PoolExhausted if no block can arrive because the
        program holds all of them."""
        return self._whole(_options.seconds("timeout", timeout))

    def read(self, count: int, timeout: Duration | None = None, *, iq: bool = False) -> Samples:
        """Copies the next ``count`` samples, across blocks, into an array that belongs to the program; with
        ``iq=True`` as complex64. Returns fewer samples if no more arrived within ``timeout`` (default: no
        limit) or before the end of the stream. ``gaps`` of the result lists the losses between the samples.
        Raises like next().

        >>> with source("sim:", rate=0, samples=1000) as rx:
        ...     [len(rx.read(300)) for _ in range(5)]
        [300, 300, 300, 100, 0]
        """
        return self._rest.read(count, timeout, iq, self._none(iq))

    def _none(self, iq: bool) -> npt.NDArray[Any]:
        channels = len(self._format.channels)
        if iq:
            return np.empty((0,) if channels == 2 else (0, channels // 2), np.complex64)
        return np.empty((0, channels) if self._format.is_uniform else (0,), self._format.dtype)

    def _whole(self, timeout: float | None) -> Block | None:
        if self._rest.used:
            raise ValueError(f"{self._rest.left} samples of a block have not been read yet: "
                             "read() them before whole blocks")
        return self._core.next(timeout)

    def __iter__(self) -> Iterator[Block]:
        return self

    def __next__(self) -> Block:
        block = self._whole(None)
        if block is None:
            raise StopIteration
        return block

    def __aiter__(self) -> AsyncIterator[Block]:
        return self

    async def __anext__(self) -> Block:
        patience = time.monotonic() + 1  # another task may release a block
        while True:
            try:
                block = self._whole(0)
            except PoolExhausted:
                if time.monotonic() > patience:
                    raise
                block = None
            if block is not None:
                return block
            if self._core.ended:
                raise StopAsyncIteration
            await self._news()

    async def _news(self) -> None:
        """Waits until there may be a block, for at most 0.2 s, because nothing signals while the pool is
        exhausted."""
        loop = asyncio.get_running_loop()
        news: asyncio.Future[None] = loop.create_future()
        descriptor = self.fileno()
        loop.add_reader(descriptor, lambda: None if news.done() else news.set_result(None))
        try:
            await asyncio.wait([news], timeout=0.2)
        finally:
            loop.remove_reader(descriptor)
        await asyncio.sleep(0)  # at the stream's end the descriptor is readable until everything is closed

    def call(self, callback: Callable[[Block], object]) -> Worker:
        """Starts a thread that calls ``callback`` with each block, and returns its Worker. The thread ends
        with the stream."""
        if not callable(callback):
            raise TypeError(f"the callback is called with each block, but {callback!r} is not callable")
        return Worker(self, callback)

    def run(self, callback: Callable[[Block], object]) -> Summary:
        """Calls ``callback`` with each block, on this thread, until the stream ends. Then closes the stream
        and returns its summary. Raises the exceptions of next() and of the callback.

        >>> source("sim:", rate=0, samples=1000).run(lambda block: None).stats.samples
        1000
        """
        for block in self:
            callback(block)
            del block  # released before the wait for the next one, which may need its memory
        return self.close()

    async def __aexit__(self, *how: object) -> None:
        await asyncio.to_thread(self.close)

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._rest.end()
        self._drop()  # does nothing in a child that was forked after the stream was opened


class Worker(_life.Bound):
    """A thread that calls a callback with each block; created by ``Reader.call()``. An exception in the
    callback ends the stream and is raised by ``wait()``."""

    def __init__(self, reader: Reader, callback: Callable[[Block], object]) -> None:
        self._reader = reader
        self._callback = callback
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="iio-stream-callbacks", daemon=True)
        _life.add(self)
        self._thread.start()

    def _run(self) -> None:
        try:
            for block in self._reader:
                self._callback(block)
                del block  # released before the wait for the next one, which may need its memory
        except BaseException as error:
            self._error = error
            self._stop()

    def _stop(self) -> None:
        with contextlib.suppress(ValueError):  # the reader is closed, perhaps by another thread
            self._reader.stop()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Returns whether the last block was handled within ``timeout`` (in seconds or as text; default: no
        limit). Raises the callback's exception, or the Error that ended the stream."""
        self._thread.join(_options.seconds("timeout", timeout))
        if self._thread.is_alive():
            return False
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # breaks a reference cycle, which would keep the stream's memory
        return True

    def close(self) -> None:
        """Ends the stream and waits up to 5 s for a running callback. Also called before the interpreter
        exits."""
        if _life.remove(self):
            self._stop()
            if self._thread is not threading.current_thread():
                self._thread.join(5)

    _drop = close
