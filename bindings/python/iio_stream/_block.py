# SPDX-License-Identifier: MIT
"""The methods of blocks, gaps and times. The extension implements them. This module gives them Python
signatures, because the extension's own errors for wrong arguments describe C++ types."""
from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import Block, EmptyBlock, Gap, Time
from ._options import text

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def channel(self: Block, which: str | int) -> npt.NDArray[Any]:
    """Returns a read-only strided view of one channel, by name or number: shape (samples,), no copy. Raises
    IndexError if there is no such channel."""
    return self._channel(text("the channel", which) if isinstance(which, str) else which)


def iq(self: Block, out: npt.NDArray[np.complex64] | None = None) -> npt.NDArray[np.complex64]:
    """Returns the samples as complex64, converted by the library, full scale 1.0: shape (samples,), or
    (samples, pairs) if there are several I/Q pairs. The result is a new array that does not keep the block.
    If ``out``, an array of exactly that shape, is given, it is filled and returned instead. Raises UsageError
    if the channels are not I/Q pairs, and TypeError or ValueError if ``out`` has another type or shape."""
    return self._iq(out)


def convert(self: Block, format: str) -> npt.NDArray[Any]:
    """Returns the samples in another format ("rf32_le", "ri16_le", "cf32_le"), each value decoded by its scan
    type: shape (samples, channels). Full scale is 2^(bits-1) for integers and 1.0 for floats. The result is a
    new array that does not keep the block. Raises UsageError for an invalid format."""
    return self._convert(text("format", format))


def copy(self: Block) -> npt.NDArray[Any]:
    """Returns the samples in a new, writable array that does not keep the block."""
    return self.array.copy()


def release(self: Block) -> None:
    """Gives the block's memory back to the stream now. Raises BufferError while views of it are alive."""
    self._release()


def release_empty(self: EmptyBlock) -> None:
    """Gives the block's memory back unused. Raises BufferError while views of it are alive."""
    self._release()


def enter(self: Block) -> Block:
    return self


def exit(self: Block, type: object, *rest: object) -> None:
    if type is None:
        self.release()


def dlpack(self: Block, *, stream: Any = None, max_version: tuple[int, int] | None = None,
           dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
    """Exports the block through DLPack 1.0: read-only, no copy. Raises BufferError for consumers of older
    versions, unless copy=True."""
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError("a block is in the CPU's memory: dl_device is (1, 0)")
    versioned = max_version is not None and max_version[0] >= 1
    if not versioned and not copy:
        raise BufferError("a block is read-only, which DLPack before 1.0 cannot express: copy() it, "
                          "or pass copy=True")
    return self._dlpack(versioned, bool(copy))


def dlpack_device(self: Block) -> tuple[int, int]:
    """Returns the DLPack device, which is the CPU."""
    return 1, 0


def utc(self: Time) -> datetime:
    """The time in UTC, to the microsecond."""
    return _EPOCH + timedelta(microseconds=self.utc_ns // 1000)


def _of_time(time: Time) -> tuple[Any, ...]:
    return time.clock, time.ns, time.uncertainty_ns, time.utc_ns


def _of_gap(gap: Gap) -> tuple[Any, ...]:
    return gap.offset_min, gap.offset_max, gap.lost_min, gap.lost_max, gap.evidence


def _time(*parts: Any) -> Time:  # the extension's functions cannot be pickled
    return _core._time(*parts)


def _gap(*parts: Any) -> Gap:
    return _core._gap(*parts)


def _is_value(cls: type, parts: Callable[[Any], tuple[Any, ...]], make: Callable[..., object]) -> None:
    """Makes objects of a class compare, hash and pickle by their parts."""

    def __eq__(self: object, other: object) -> bool:
        return parts(self) == parts(other) if isinstance(other, cls) else NotImplemented

    _give(cls, __eq__=__eq__, __hash__=lambda self: hash(parts(self)),
          __reduce__=lambda self: (make, parts(self)))


def _give(cls: type, **methods: Any) -> None:
    for name, method in methods.items():
        method.__name__, method.__qualname__ = name, f"{cls.__name__}.{name}"
        setattr(cls, name, method)


def _is_bound(cls: type) -> None:
    """Makes copying and pickling raise TypeError. Without this, the older pickle protocols would make the
    extension abort the process."""

    def __reduce__(self: object) -> Any:
        raise TypeError(f"{cls.__name__}s can be neither copied nor pickled: their arrays can")

    _give(cls, __reduce__=__reduce__)


def _is_made_by(cls: type, whom: str) -> None:
    told: Any = cls.__repr__

    def init(self: object, *words: object, **more: object) -> None:
        raise TypeError(f"a {cls.__name__} is made by {whom}")

    # pprint uses a class's __repr__ as a key of a dict, and the extension's methods are not hashable.
    _give(cls, __init__=init, __repr__=lambda self: str(told(self)))


_give(Block, channel=channel, iq=iq, convert=convert, copy=copy, release=release, __enter__=enter,
      __exit__=exit, __dlpack__=dlpack, __dlpack_device__=dlpack_device)
_give(EmptyBlock, release=release_empty)
Time.utc = property(utc)  # type: ignore[method-assign, assignment]
_is_made_by(Block, "a source: next(ios.source(…))")
_is_made_by(EmptyBlock, "a sink: ios.sink(…).take()")
_is_made_by(Time, "a Block")
_is_made_by(Gap, "a Block")
_is_bound(Block)
_is_bound(EmptyBlock)
_is_value(Time, _of_time, _time)
_is_value(Gap, _of_gap, _gap)
