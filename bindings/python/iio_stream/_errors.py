# SPDX-License-Identifier: MIT
"""The library's exceptions.

All are OSErrors, with ``errno``, ``strerror`` and ``filename``. If Python has a specific class for an errno
(FileNotFoundError, PermissionError, TimeoutError …), they are instances of that class as well.
"""
from __future__ import annotations

import copy
import functools
import os
from typing import Any

from ._printable import printable


class Error(OSError):
    """A failed operation on a named object.

    ``operation`` and ``object`` (also ``filename``) identify the failure, ``detail`` gives the cause beyond
    the text of the errno, and ``hint`` suggests a fix. ``fault`` is ``"usage"``, ``"device"``, ``"storage"``,
    ``"samples"`` or ``"other"``.
    """

    fault = "other"
    operation = object = detail = hint = ""
    _words: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return str(self._words[6]) if self._words else super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        return (make, self._words) if self._words else super().__reduce__()  # type: ignore[return-value]


class UsageError(Error, ValueError):
    """The request is invalid, or names something that does not exist. ``errno`` is EINVAL."""

    fault = "usage"


class DeviceError(Error):
    """A device failed."""

    fault = "device"


class StorageError(Error):
    """A file or a disk failed."""

    fault = "storage"


class LostSamplesError(Error):
    """Samples were lost with ``on_gap="stop"``, or a stream violated a threshold of ``check()``."""

    fault = "samples"


class PoolExhausted(Error):
    """No block can arrive because the program holds all of them; ``held`` is their number. Release some,
    ``copy()`` the samples you keep, or request more ``blocks``. ``errno`` is ENOBUFS."""

    fault = "usage"
    held = 0


_BY_FAULT = {c.fault: c for c in (UsageError, DeviceError, StorageError, LostSamplesError, Error)}


@functools.cache
def _class_for(fault: str, errno: int, exhausted: bool) -> type[Error]:
    base = PoolExhausted if exhausted else _BY_FAULT[fault]
    special = type(OSError(errno, ""))
    if special is OSError:
        return base
    return type(base.__name__, (base, special), {"__module__": base.__module__, "__doc__": base.__doc__})


def fresh(error: Error) -> Error:
    """Returns a copy of the error, to be raised instead of it. A raised exception references the frames it
    passed through, so raising the stream's own error would keep the stream and all its memory alive until the
    garbage collector runs."""
    return copy.copy(error)


def make(fault: str, errno: int, operation: str, object: str, detail: str, hint: str, text: str,
         held: int | None) -> Error:
    """Makes the exception for a C++ Error, or for an error that this package detects itself. Its text is
    printable even if the object's name is not."""
    detail, hint, text = printable(detail), printable(hint), printable(text)
    error = _class_for(fault, errno, held is not None)(errno, detail or os.strerror(errno), object or None)
    error.operation, error.object, error.detail, error.hint = operation, object, detail, hint
    error._words = (fault, errno, operation, object, detail, hint, text, held)
    if isinstance(error, PoolExhausted) and held is not None:
        error.held = held
    return error
