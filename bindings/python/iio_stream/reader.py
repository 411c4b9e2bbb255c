# SPDX-License-Identifier: MIT
"""Blocks from a source, one after another, or as calls of a function."""
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
    """Opens a source of samples; iterate over it to get its blocks.

    ``endpoint`` is ``"iio:DEVICE"``, ``"sim:"``, ``"zmq:ADDRESS"`` or the path of a recording; other keywords
    are its options (``channels=["voltage0_i"]``, ``frequency="2.4G"``, ``rate=1e6``). ``sinks`` get the same
    blocks. ``block_size`` (bytes) and ``blocks`` set the memory in flight; ``samples``, ``bytes`` or
    ``duration`` limit the stream; ``timeout`` is the longest wait for a block. ``on_gap`` is ``"mark"``,
    ``"stop"`` or ``"zero-fill"``; ``on_full="drop"`` drops and counts blocks while the program holds all
    memory, instead of making the device wait.

    >>> with source("sim:", rate=0, samples=1000) as rx:
    ...     print(sum(len(block) for block in rx), rx.format.name)
    1000 ci16_le

    Raises Error: UsageError for an unknown option, DeviceError for a device that does not exist.
    """
    return Reader(_core.Reader(_words(endpoint, sinks=sinks, block_size=block_size, blocks=blocks,
                                      samples=samples, bytes=bytes, duration=duration, timeout=timeout,
                                      on_gap=on_gap, on_full=on_full, **options)))


def _words(endpoint: Endpoint, /, *, sinks: Endpoint | Iterable[Endpoint] = (),
           block_size: Size | None = None, blocks: Size | None = None, samples: Size | None = None,
           bytes: Size | None = None, duration: Duration | None = None, timeout: Duration | None = None,
           on_gap: str = "mark", on_full: str = "block", **options: Any) -> dict[str, Any]:
    """What source() and Session.add_reader() take, for the extension."""
    return _options.config(_options.uri(endpoint, **options), _options.uris(sinks), block_size=block_size,
                           blocks=blocks, samples=samples, bytes=bytes, duration=duration, timeout=timeout,
                           on_gap=on_gap, on_full=on_full)


class Reader(Stream[_core.Reader]):
    """The blocks of a source, by iteration or ``next()``; created by ``source()`` or
    ``Session.add_reader()``.

    The stream is prepared at creation and starts with the first block requested, or with ``start()``. A block
    is not refilled while the program keeps it. Several threads may take blocks.
    """

    def __init__(self, core: _core.Reader) -> None:
        if not isinstance(core, _core.Reader):
            raise TypeError("a Reader is made by source()")
        super().__init__(core)
        self._tuning = Tuning(**self._core.tuning)
        self._rest = Rest(self._core.next)

    @property
    def tuning(self) -> Tuning:
        """The settings of the radio when the stream was prepared; for a recording, when it was made."""
        return self._tuning

    def start(self) -> None:
        self._rest.clear()
        super().start()

    def close(self) -> Summary:
        """Ends the stream, waits until every endpoint is closed, and returns everything known about it. The
        error that ended it is in there, not raised. Blocks and views the program holds stay valid. Several
        threads may call it, also while others wait in next(): each gets the summary."""
        self._rest.end()
        return self._close(True)

    def next(self, timeout: Duration | None = None) -> Block | None:
        """The next block; None if none came within ``timeout`` (default: no limit) or if the stream has
        ended: ``ended`` says which. A loop over the reader stops there. Raises the Error that ended the
        stream, and PoolExhausted if none can come because the program holds all blocks."""
        return self._whole(_options.seconds("timeout", timeout))

    def read(self, count: int, timeout: Duration | None = None, *, iq: bool = False) -> Samples:
        """The next ``count`` samples as an array of the program's own, across blocks; with ``iq=True`` as
        complex64. Fewer if no more came within ``timeout`` (default: no limit), or before the end. Its
        ``gaps`` list losses between them. Raises like next().

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
            raise ValueError(f"{self._rest.left} samples of a block are not read yet: "
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
        patience = time.monotonic() + 1  # another task may let a block go
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
        """Waits for something to take, or a while: the pool may be exhausted."""
        loop = asyncio.get_running_loop()
        news: asyncio.Future[None] = loop.create_future()
        descriptor = self.fileno()
        loop.add_reader(descriptor, lambda: None if news.done() else news.set_result(None))
        try:
            await asyncio.wait([news], timeout=0.2)
        finally:
            loop.remove_reader(descriptor)
        await asyncio.sleep(0)  # at the stream's end it is readable until all is closed

    def call(self, callback: Callable[[Block], object]) -> Worker:
        """Calls ``callback`` with each block, on a thread that ends with the stream."""
        if not callable(callback):
            raise TypeError(f"a callback is called with each block: {callback!r} cannot be")
        return Worker(self, callback)

    def run(self, callback: Callable[[Block], object]) -> Summary:
        """Calls ``callback`` with each block, on this thread, until the stream ends; then close(). Raises
        what next() and the callback raise.

        >>> source("sim:", rate=0, samples=1000).run(lambda block: None).stats.samples
        1000
        """
        for block in self:
            callback(block)
            del block  # before the wait for the next: it may be the one that is missing
        return self.close()

    def __enter__(self) -> Reader:
        return self

    async def __aenter__(self) -> Reader:
        return self

    async def __aexit__(self, *how: object) -> None:
        await asyncio.to_thread(self.close)

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._rest.end()
        self._drop()  # nothing to do in a fork() of the process that opened it


class Worker(_life.Bound):
    """Created by ``Reader.call()``. An exception in the callback ends the stream and is raised by
    ``wait()``."""

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
                del block  # before the wait for the next: it may be the one that is missing
        except BaseException as error:
            self._error = error
            self._stop()

    def _stop(self) -> None:
        with contextlib.suppress(ValueError):  # it is closed, perhaps by another thread
            self._reader.stop()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Whether the last block has been handled within ``timeout`` (default: no limit). Raises what the
        callback raised, or the Error that ended the stream."""
        self._thread.join(_options.seconds("timeout", timeout))
        if self._thread.is_alive():
            return False
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # or it would keep itself, and the stream's memory with it
        return True

    def close(self) -> None:
        """Called before the interpreter exits: lets a running callback finish, for some seconds."""
        if _life.remove(self):
            self._stop()
            if self._thread is not threading.current_thread():
                self._thread.join(5)

    _drop = close
