# SPDX-License-Identifier: MIT
"""Reads any number of samples from blocks of any size."""
from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._core import Block, Gap
from ._sigmf import RecordedGap


@dataclass(frozen=True, eq=False)
class Samples:
    """The result of ``Reader.read()``. ``array`` belongs to the program. It has the shape (samples, channels)
    and the dtype of the format, or with ``iq=True`` the shape of Block.iq() and complex64. NumPy also accepts
    this object as an array.

    Offsets of ``gaps`` count samples of the array: the loss is between offset-1 and offset. A loss that may
    be before 0 or after the end of the array belongs to two reads, and both report it. ``sample_index`` is
    the number of samples before the array since the start of the stream, lost ones included; it is a lower
    bound if ``index_exact`` is False.
    """

    array: npt.NDArray[Any]
    sample_index: int
    index_exact: bool
    gaps: tuple[RecordedGap, ...]

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy:
            return np.array(self.array, dtype)
        made = np.asarray(self.array, dtype)
        if copy is False and made is not self.array:
            raise ValueError(f"an array of {self.array.dtype} cannot be {dtype} without a copy")
        return made

    def __repr__(self) -> str:
        return (f"<iio_stream.Samples: {self.array.shape} of {self.array.dtype} from {self.sample_index}, "
                f"{len(self.gaps)} gaps>")


class Rest:
    """The partly read block of a Reader."""

    def __init__(self, following: Callable[[float | None], Block | None]) -> None:
        self._following = following
        self._turn = threading.Lock()
        self._over = False  # end() was called
        self._block: Block | None = None
        self._array: npt.NDArray[Any] = np.empty(0)
        self._iq = False
        self.used = 0  #: samples that were already read from the block; 0 without a block

    @property
    def left(self) -> int:
        return 0 if self._block is None else len(self._block) - self.used

    def read(self, count: int, timeout: _options.Duration | None, iq: bool,
             empty: npt.NDArray[Any]) -> Samples:
        count = _whole(count)
        if count < 1:
            raise _options.usage(f"{count} samples cannot be read", "ask for one or more")
        patience = _options.seconds("timeout", timeout)
        with self._turn:
            try:
                return self._gathered(count, patience, iq, empty)
            finally:
                if self._over:
                    self._forget()

    def _gathered(self, count: int, patience: float | None, iq: bool, empty: npt.NDArray[Any]) -> Samples:
        began, made, done = time.monotonic(), Samples(empty, 0, True, ()), 0
        gaps: dict[Gap, RecordedGap] = {}
        while done < count:
            left = None if patience is None else max(0.0, patience - (time.monotonic() - began))
            try:
                block = self._look(left, iq)
            except OSError:
                if done == 0:
                    raise
                break  # the next read raises the error again
            if block is None:
                break
            part = self._array[self.used:self.used + count - done]
            if done == 0:
                first = block.position + self.used
                lost = sum(gap.lost_min for gap in block.gaps if block.position < gap.offset_max <= first)
                made = Samples(np.empty((count, *part.shape[1:]), part.dtype),
                               block.sample_index + self.used + lost, block.index_exact, ())
            gaps.update(_inside(block, self.used, len(part), done))
            made.array[done:done + len(part)] = part
            done += len(part)
            self._go(len(part))
        return replace(made, array=made.array[:done], gaps=tuple(gaps.values()))

    def _look(self, timeout: float | None, iq: bool) -> Block | None:
        """Returns the current block, after getting the next one if needed, and updates its array."""
        fresh = self._block is None
        if fresh:
            self._block, self.used = self._following(timeout), 0
        if self._block is not None and (fresh or iq != self._iq):
            self._array, self._iq = self._block.iq() if iq else self._block.array, iq
        return self._block

    def _go(self, count: int) -> None:
        self.used += count
        if self.left == 0:
            self._forget()

    def clear(self) -> None:
        """Releases the block, unless a read() is using it: a read() on another thread, or a read() that a
        signal handler has interrupted."""
        if self._turn.acquire(blocking=False):
            self._forget()
            self._turn.release()

    def end(self) -> None:
        """Releases the block for good. If a read() uses it, that read() releases it when it ends."""
        self._over = True
        self.clear()

    def _forget(self) -> None:
        self._block, self._array, self.used = None, np.empty(0), 0


def _whole(count: float) -> int:
    """Returns a number of samples as an int; a float such as 1e6 is accepted if it is whole."""
    if isinstance(count, float) and count.is_integer():
        return int(count)
    return operator.index(count)  # type: ignore[arg-type]


def _inside(block: Block, used: int, count: int, done: int) -> dict[Gap, RecordedGap]:
    """Returns the losses that are, or may be, before the samples [used, used + count) of a block. In the
    array these samples begin at ``done``. If they include the last sample of the block, losses after it are
    included, because zeros in place of lost samples can follow it."""
    begin = block.position + used
    end = begin + count + (used + count == len(block))
    return {gap: RecordedGap(gap.offset_min - begin + done, gap.offset_max - begin + done, gap.lost_min,
                             gap.lost_max, gap.evidence)
            for gap in block.gaps
            if gap.offset_min < end and gap.offset_max >= begin}
