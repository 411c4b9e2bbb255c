# SPDX-License-Identifier: MIT
"""Pipelines from a source to sinks whose blocks the program does not see, and several that start together."""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TypeVar

from . import _core, _life, _options, reader, writer
from ._errors import fresh
from ._format import Format
from ._options import Duration, Endpoint, Size
from .stats import Route, Stats
from .summary import Summary

Member = TypeVar("Member", reader.Reader, writer.Writer)
#: Called about five times a second while a stream runs.
Progress = Callable[["Session"], None]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while streams ran, which have now ended cleanly: ``summaries`` of all of them, ``summary`` of
    the first."""

    def __init__(self, summaries: list[Summary]) -> None:
        super().__init__(summaries)
        self.summaries = summaries

    @property
    def summary(self) -> Summary:
        return self.summaries[0]

    def __str__(self) -> str:
        return "; ".join(str(summary) for summary in self.summaries)


class Pipeline(_life.Bound):
    """One source and its sinks; created by ``Session.add()``."""

    def __init__(self, session: _core.Session, index: int) -> None:
        self._session = session
        self._index = index
        self._kept: dict[str, Any] | None = None

    @property
    def format(self) -> Format:
        return Format._from(self._tell("format"))

    @property
    def route(self) -> Route:
        """How samples get from the source to the sinks; valid after ``prepare()``."""
        return Route._from(self._tell("route"))

    @property
    def stats(self) -> Stats:
        """The counters at this moment."""
        return Stats._from(self._tell("stats"))

    @property
    def ended(self) -> bool:
        return bool(self._tell("ended"))

    @property
    def summary(self) -> Summary:
        """Everything known about it, after it has ended."""
        return Summary._from(*self._tell("summary"))

    def _tell(self, what: str) -> Any:
        return getattr(self._session, what)(self._index) if self._kept is None else self._kept[what]

    def _keep(self) -> None:
        """Its results outlive the session."""
        self._kept = {what: self._tell(what) for what in ("format", "route", "stats", "ended", "summary")}

    def stop(self) -> None:
        """Ends this one, from any thread."""
        self._session.request_stop_of(self._index)


class Session(_life.Bound):
    """Streams that are prepared, then start and end together: between endpoints (``add()``), or with the
    program at one end (``add_reader()``, ``add_writer()``).

    >>> with Session() as session:
    ...     first = session.add("sim:?rate=0", "null:", samples=1000)
    ...     second = session.add("sim:?rate=0", ["null:", "verify:ramp"], samples=2000)
    ...     summaries = session.run()
    >>> [summary.stats.samples for summary in summaries]
    [1000, 2000]
    """

    def __init__(self) -> None:
        self._session = _core.Session()
        self._pipelines: list[Pipeline] = []
        self._members: list[reader.Reader | writer.Writer] = []
        _life.add(self)

    def add(self, source: Endpoint, sinks: Endpoint | Iterable[Endpoint], /, *,
            block_size: Size | None = None, blocks: Size | None = None, samples: Size | None = None,
            bytes: Size | None = None, duration: Duration | None = None,
            timeout: Duration | None = None, on_gap: str = "mark") -> Pipeline:
        """Adds a pipeline, before ``prepare()``. Endpoints are those of uri(). Raises UsageError."""
        words = _options.config(_options.uri(source), _options.uris(sinks), block_size=block_size,
                                blocks=blocks, samples=samples, bytes=bytes, duration=duration,
                                timeout=timeout, on_gap=on_gap)
        self._pipelines.append(Pipeline(self._session, self._session.add(words)))
        return self._pipelines[-1]

    def add_reader(self, endpoint: Endpoint, /, **options: Any) -> reader.Reader:
        """A stream whose blocks the program takes: accepts what source() accepts, and returns a Reader. It is
        prepared at once. The first block requested starts the whole session, like ``start()``. Raises Error.

        >>> with Session() as session:
        ...     rx = session.add_reader("sim:", rate=0, samples=1000)
        ...     tx = session.add_writer("null:", format=rx.format)
        ...     session.start()
        ...     for block in rx:
        ...         tx.write(block)
        ...     tx.close().stats.samples
        1000
        1000
        """
        return self._member(reader.Reader(self._session.add_reader(reader._words(endpoint, **options))))

    def add_writer(self, endpoint: Endpoint | Iterable[Endpoint], /, **options: Any) -> writer.Writer:
        """A stream whose blocks the program fills: accepts what sink() accepts, and returns a Writer. It is
        prepared at once; the first write starts the whole session. Raises Error."""
        return self._member(writer.Writer(self._session.add_writer(*writer._words(endpoint, **options))))

    def _member(self, member: Member) -> Member:
        self._members.append(member)
        self._pipelines.append(Pipeline(self._session, len(self._pipelines)))
        return member

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        return tuple(self._pipelines)

    def prepare(self) -> None:
        """Does everything that can fail or take time; otherwise ``start()`` does. Raises Error."""
        self._session.prepare()

    def start(self) -> None:
        """Starts all streams, with nothing but enabling devices between the first and the last. Raises
        Error."""
        self._session.start()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Whether all streams have ended within ``timeout`` (default: no limit). If one fails, the others are
        stopped."""
        return self._session.wait(_options.seconds("timeout", timeout))

    def stop(self, *, abort: bool = False) -> None:
        """Ends all streams; samples in the sinks reach their destination, unless ``abort``."""
        self._session.stop(bool(abort))

    def request_stop(self) -> None:
        """Asks all streams to end, from any thread, without waiting."""
        self._session.request_stop()

    def run(self, progress: Progress | None = None) -> list[Summary]:
        """Prepares, starts and waits for the end; meanwhile calls ``progress``. Raises the Error that ended
        one of the streams. Ctrl-C ends the streams cleanly and raises Interrupted, a KeyboardInterrupt that
        has their summaries."""
        self.prepare()
        self.start()
        try:
            if progress is None:
                self.wait()
            else:
                while not self.wait(0.2):
                    progress(self)
        except KeyboardInterrupt:
            self.stop()
            raise Interrupted([pipeline.summary for pipeline in self._pipelines]) from None
        finally:
            self.stop()
        summaries = [pipeline.summary for pipeline in self._pipelines]
        for summary in summaries:
            if summary.error is not None:
                raise fresh(summary.error)
        return summaries

    def close(self) -> None:
        """Ends streams that still run, and releases devices and memory."""
        if _life.remove(self):
            self.stop()
            for pipeline in self._pipelines:
                pipeline._keep()
            for member in self._members:
                member._drop()
            self._session.close()

    _drop = close

    def __enter__(self) -> Session:
        return self

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, type: type[BaseException] | None, value: BaseException | None,
                        traceback: TracebackType | None) -> None:
        await asyncio.to_thread(self.__exit__, type, value, traceback)

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            for member in self._members if type is None else []:
                if isinstance(member, writer.Writer) and not member.closed:
                    member.close()  # waits for what was written
        finally:
            self.close()
