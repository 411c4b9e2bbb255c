# SPDX-License-Identifier: MIT
"""The common base of Reader and Writer."""
from __future__ import annotations

import warnings
from typing import Generic, TypeVar

from . import _core, _life
from ._format import Format
from .stats import Route, Stats
from .summary import Summary

Core = TypeVar("Core", _core.Reader, _core.Writer)


class Stream(_life.Managed, Generic[Core]):
    """A stream with the program at one end. Creating the object prepares the stream."""

    def __init__(self, core: Core) -> None:
        self._core: Core = core
        self._format = Format._from(core.format)
        self._route = Route._from(core.route)
        for hop in self._route:
            for line in (hop.warning or "").splitlines():
                warnings.warn(line, RuntimeWarning, stacklevel=4)
        self._stats: Stats | None = None
        self._summary: Summary | None = None
        _life.add(self)

    def start(self) -> None:
        """Starts the stream now rather than with the first block, or restarts a stream that has ended. In a
        Session, this starts all streams of the session. Raises Error."""
        self._core.start()

    def stop(self) -> None:
        """Ends the stream. May be called from any thread. A Reader can still take blocks that were read
        before the stop. The last samples that a Writer has written may be lost."""
        self._core.stop()

    def _close(self, drop: bool) -> Summary:
        if self._summary is None or _life.has(self):
            self._summary = Summary._from(*self._core.close(drop))
            self._stats = self._summary.stats
            _life.remove(self)
        return self._summary

    def _drop(self) -> None:
        """Ends the stream without waiting for samples already written."""
        if not self.closed:
            self._close(True)

    @property
    def summary(self) -> Summary | None:
        """Everything known about the stream, after close() or the ``with`` block."""
        return self._summary

    @property
    def closed(self) -> bool:
        return not _life.has(self)

    @property
    def ended(self) -> bool:
        """Whether the stream has ended and a call has reported the end to the program. From then on, a Reader
        returns no more blocks, and a Writer accepts none."""
        return self._core.ended

    @property
    def held(self) -> int:
        """Blocks the program holds, directly or through views."""
        return self._core.held

    @property
    def format(self) -> Format:
        """The format of the samples."""
        return self._format

    @property
    def route(self) -> Route:
        """The hops by which samples get into the blocks and out of them."""
        return self._route

    @property
    def stats(self) -> Stats:
        """The counters at this moment, or the final ones after close()."""
        return self._stats or Stats._from(self._core.stats)

    def fileno(self) -> int:
        """Returns a file descriptor for selectors. It is readable when ``next()`` or ``take()`` has something
        to return. Wait for it only after one of them has returned None."""
        return self._core.fd

    def __repr__(self) -> str:
        state = "closed" if self.closed else "ended" if self.ended else "open"
        return f"<iio_stream.{type(self).__name__} of {self._format.name}, {state}>"
