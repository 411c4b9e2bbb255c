# SPDX-License-Identifier: MIT
"""A thread that calls a function with each block of a stream."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import _life, _options
from ._core import Block
from ._options import Duration

if TYPE_CHECKING:
    from .reader import Reader


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
            if not self._reader.closed:
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
            if not self._reader.closed:
                self._reader.stop()
            if self._thread is not threading.current_thread():
                self._thread.join(5)

    _drop = close
