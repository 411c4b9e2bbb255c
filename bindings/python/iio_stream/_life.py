# SPDX-License-Identifier: MIT
"""Keeps track of the streams that the program has not closed, and ends them before the interpreter exits."""
from __future__ import annotations

import asyncio
import atexit
import os
import weakref
from types import TracebackType
from typing import Any, Protocol, TypeVar


class Bound:
    """Base of objects that are bound to their process, by threads, devices and memory."""

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__}s can be neither copied nor pickled: open one in each process")


Self = TypeVar("Self", bound="Managed")


class Managed(Bound):
    """Base of streams that ``with`` and ``async with`` end."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, type: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        raise NotImplementedError

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, type: type[BaseException] | None, value: BaseException | None,
                        traceback: TracebackType | None) -> None:
        await asyncio.to_thread(self.__exit__, type, value, traceback)


class Stream(Protocol):
    def _drop(self) -> None:
        """Ends the stream at once."""


_open: weakref.WeakSet[Stream] = weakref.WeakSet()


def add(stream: Stream) -> None:
    _open.add(stream)


def has(stream: Stream) -> bool:
    return stream in _open


def remove(stream: Stream) -> bool:
    """Returns whether the stream was open until now."""
    was = stream in _open
    _open.discard(stream)
    return was


@atexit.register
def _close_all() -> None:
    for stream in sorted(_open, key=lambda one: not hasattr(one, "running")):  # callbacks end first
        getattr(stream, "_left_open", stream._drop)()


os.register_at_fork(after_in_child=_open.clear)  # the streams belong to the parent
