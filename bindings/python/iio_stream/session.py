# SPDX-License-Identifier: MIT
"""Pipelines that move samples from a source to sinks by themselves, and sessions of streams that start
together."""
from __future__ import annotations

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
    """Raised after Ctrl-C while streams ran. The streams have ended cleanly. ``summaries`` are the summaries
    of all of them, ``summary`` is the first."""

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
        """The hops of the samples from the source to the sinks; valid after ``prepare()``."""
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
        """The summary of the pipeline, after it has ended."""
        return Summary._from(*self._tell("summary"))

    def _tell(self, what: str) -> Any:
        return getattr(self._session, what)(self._index) if self._kept is None else self._kept[what]

    def _keep(self) -> None:
        """Stores the results, which outlive the session."""
        self._kept = {what: self._tell(what) for what in ("format", "route", "stats", "ended", "summary")}

    def stop(self) -> None:
        """Ends this pipeline. May be called from any thread; does not wait."""
        self._session.request_stop_of(self._index)


class Session(_life.Managed):
    """A set of streams that start and end together. They are streams between endpoints (``add()``), or have
    the program at one end (``add_reader()``, ``add_writer()``). One thread runs a session; any thread may
    call stop() and request_stop().

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
        """Adds a pipeline and returns it. Call it before ``prepare()``. Endpoints are strings, paths or
        results of uri(). Raises UsageError."""
        words = _options.config(_options.uri(source), _options.uris(sinks), block_size=block_size,
                                blocks=blocks, samples=samples, bytes=bytes, duration=duration,
                                timeout=timeout, on_gap=on_gap)
        self._pipelines.append(Pipeline(self._session, self._session.add(words)))
        return self._pipelines[-1]

    def add_reader(self, endpoint: Endpoint, /, **options: Any) -> reader.Reader:
        """Adds a stream whose blocks the program reads, and returns its Reader. Accepts the arguments of
        source(). The stream is prepared at once. The first block requested starts the whole session, like
        ``start()``. Raises Error.

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
        """Adds a stream whose blocks the program fills, and returns its Writer. Accepts the arguments of
        sink(). The stream is prepared at once. The first write starts the whole session. Raises Error."""
        return self._member(writer.Writer(self._session.add_writer(*writer._words(endpoint, **options))))

    def _member(self, member: Member) -> Member:
        self._members.append(member)
        self._pipelines.append(Pipeline(self._session, len(self._pipelines)))
        return member

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        return tuple(self._pipelines)

    def prepare(self) -> None:
        """Does everything that can fail or take time. ``start()`` calls prepare() if the program has not.
        Raises Error."""
        self._session.prepare()

    def start(self) -> None:
        """Starts all streams. Between the first and the last start, only devices are enabled. Raises
        Error."""
        self._session.start()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Waits until all streams have ended. Returns False if that takes longer than ``timeout`` (in seconds
        or as text; default: no limit). If one stream fails, the others are stopped."""
        return self._session.wait(_options.seconds("timeout", timeout))

    def stop(self, *, abort: bool = False) -> None:
        """Ends all streams and waits for their end. Samples in the sinks still reach their destination,
        unless ``abort`` is True."""
        self._session.stop(bool(abort))

    def request_stop(self) -> None:
        """Requests the end of all streams, and does not wait for it. May be called from any thread."""
        self._session.request_stop()

    def run(self, progress: Progress | None = None) -> list[Summary]:
        """Prepares and starts the streams, waits for their end, and returns their summaries. Calls
        ``progress`` about five times a second during the wait, on this thread. Raises the first Error that
        ended a stream. Ctrl-C ends the streams cleanly and raises Interrupted, a KeyboardInterrupt with their
        summaries."""
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
        """Ends the streams that still run, and releases devices and memory. The results of pipelines stay
        available."""
        if _life.remove(self):
            self.stop()
            for pipeline in self._pipelines:
                pipeline._keep()
            for member in self._members:
                member._drop()
            self._session.close()

    _drop = close

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            for member in self._members if type is None else []:
                if isinstance(member, writer.Writer) and not member.closed:
                    member.close()  # waits for the samples that were written
        finally:
            self.close()
