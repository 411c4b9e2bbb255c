# SPDX-License-Identifier: MIT
"""Blocks from a source, one after the other."""
from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

from . import _core, _life, _options
from ._core import Block
from ._errors import PoolExhausted
from ._format import Format
from ._options import Duration, Endpoint, Size
from .stats import Route, Stats
from .summary import Summary
from .worker import Worker


def source(endpoint: Endpoint, /, *, sinks: Endpoint | Iterable[Endpoint] = (),
           block_size: Size | None = None, blocks: Size | None = None, samples: Size | None = None,
           bytes: Size | None = None, duration: Duration | None = None,
           timeout: Duration | None = None, on_gap: str = "mark",
           on_full: str = "block", **options: Any) -> Reader:
    """Opens a source of samples; iterate over it for its blocks.

    ``endpoint`` is ``"iio:DEVICE"``, ``"sim:"``, ``"zmq:ADDRESS"`` or the path of a recording; other
    keywords are its options (``channels=["voltage0_i"]``, ``frequency="2.4G"``, ``rate=1e6``). ``sinks``
    get the same blocks. ``block_size`` (bytes) and ``blocks`` say what is in flight; ``samples``,
    ``bytes`` or ``duration`` how much is wanted; ``timeout`` is the longest wait for a block.
    ``on_gap`` is ``"mark"``, ``"stop"`` or ``"zero-fill"``; ``on_full="drop"`` drops and counts blocks
    while the program keeps the memory, where else the device has to wait.

    >>> with source("sim:", rate=0, samples=1000) as rx:
    ...     print(sum(len(block) for block in rx), rx.format.name)
    1000 ci16_le

    Raises Error: UsageError for an option that is not known, DeviceError for a device that is not there.
    """
    words = _options.config(_options.uri(endpoint, **options), _options.uris(sinks),
                            block_size=block_size, blocks=blocks, samples=samples, bytes=bytes,
                            duration=duration, timeout=timeout, on_gap=on_gap)
    return Reader(words, drop=_options.one_of("on_full", on_full, ("block", "drop")) == "drop")


class Reader:
    """A source's blocks, by iteration or by ``next()``; made by ``source()``.

    The stream is prepared when it is made and starts with the first block that is asked for, or with
    ``start()``. A block that the program keeps is not filled again. Several threads may take blocks.
    """

    def __init__(self, words: Any, *, drop: bool = False) -> None:
        self._stats: Stats | None = None
        self._reader = _core.Reader(dict(words), drop)
        self._format = Format._from(self._reader.format)
        self._route = Route._from(self._reader.route)
        _life.add(self)

    def start(self) -> None:
        """Starts the stream now; once more, when it has ended. Raises Error."""
        self._reader.start()

    def next(self, timeout: Duration | None = None) -> Block | None:
        """The next block; None where none came within ``timeout`` (default: for ever), or where the
        stream has ended. Raises the Error that ended it, and PoolExhausted where none can come because
        the program keeps all blocks."""
        return self._reader.next(_options.seconds("timeout", timeout))

    def __iter__(self) -> Iterator[Block]:
        return self

    def __next__(self) -> Block:
        block = self._reader.next(None)
        if block is None:
            raise StopIteration
        return block

    def __aiter__(self) -> AsyncIterator[Block]:
        return self

    async def __anext__(self) -> Block:
        patience = time.monotonic() + 1  # another task may let a block go
        while True:
            try:
                block = self._reader.next(0)
            except PoolExhausted:
                if time.monotonic() > patience:
                    raise
                block = None
            if block is not None:
                return block
            if self._reader.ended:
                raise StopAsyncIteration
            await self._news()

    async def _news(self) -> None:
        """Until there is something to take, or some time has passed: the pool may be exhausted."""
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
        """Calls ``callback`` with each block, on a thread of its own, which ends with the stream."""
        return Worker(self, callback)

    def stop(self) -> None:
        """Ends the stream, from any thread; what came before can still be taken."""
        self._reader.stop()

    def finish(self) -> Summary:
        """Ends the stream, waits until every end of it is closed, and tells all that is known of it."""
        return Summary._from(*self._reader.finish())

    def close(self) -> None:
        """Ends the stream and closes the device. Blocks and views that the program has stay."""
        if _life.has(self):
            self._stats = self.stats
            _life.remove(self)
            self._reader.close()

    @property
    def closed(self) -> bool:
        return not _life.has(self)

    @property
    def ended(self) -> bool:
        """The last block has been taken."""
        return self._reader.ended

    @property
    def held(self) -> int:
        """Blocks that the program keeps, by a Block or by a view of one."""
        return self._reader.held

    @property
    def format(self) -> Format:
        """Of the samples."""
        return self._format

    @property
    def route(self) -> Route:
        """How samples get into the blocks, and out of them."""
        return self._route

    @property
    def stats(self) -> Stats:
        """The counters of this moment, or of the end."""
        return self._stats or Stats._from(self._reader.stats)

    def fileno(self) -> int:
        """Readable, for selectors, while ``next()`` has something to say: once it has returned None."""
        return self._reader.fd

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "ended" if self.ended else "open"
        return f"<iio_stream.Reader of {self._format.name}, {state}>"
